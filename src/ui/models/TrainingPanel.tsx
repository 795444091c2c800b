import { useEffect, useMemo, useState } from 'react';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import { DEFAULTS, type RunConfig, FIELDS } from '../../config/fields.ts';
import { linkedKnobs } from '../../config/knobChange.ts';
import { presetDoc } from '../../config/presetCards.ts';
import { adapterKnobsFor, PRESETS, type PresetName, type RunPreset } from '../../config/presets.ts';
import { visible } from '../../base/visible.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { serverNamed } from '../../domain/serverAddress.ts';
import { useEnvironment } from '../../page/environment/environmentStore.ts';
import { nextEnvironment } from '../../page/training/engine.ts';
import { traineeInWords } from '../../page/models/traineeText.ts';
import { type ModelCard, isTooLarge, type FittingKnob, type TrainingPlan } from '../../domain/modelCard.ts';
import { knobDifferences, presetConfig } from '../../page/knobs/configStore.ts';
import { runProgressText } from '../../runs/progressText.ts';
import { shortNumber, bytes } from '../../page/words/numberText.ts';
import type { PickedModel } from '../../wire/readerMessages.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { planTraining, useModels } from '../../page/models/modelStore.ts';
import {
  continueAdapterRun,
  savedAdapterRun,
  type SavedAdapterRun,
  trainOn,
  trainOnOwn,
} from '../../page/models/trainModel.ts';
import { type FieldName, parseField } from '../../config/config.ts';
import { ConfigError } from '../../config/configProblem.ts';
import { reportedMemoryBytes, reportedMemoryInWords } from '../../page/models/reportedMemory.ts';
import { MemoryParts } from './Memory.tsx';

const CHECKPOINT_PRESETS = (Object.keys(PRESETS) as PresetName[]).filter(
  (name) => presetConfig(name).model === 'checkpoint',
);
/** The knobs that memory and training time depend on most. The others are set in the lab. */
const TRAIN_KNOBS = [
  'prompts',
  'groupSize',
  'adapterRank',
  'adapterAlpha',
  'imitationSteps',
  'updates',
  'evalTasks',
] as const;

export function TrainingPanel({ card }: { readonly card: ModelCard }) {
  const pickedModel = useModels((s) => s.pickedModel);
  if (!pickedModel) return null;
  if (card.template === 'none') return <NoTemplate />;
  return <TrainingForm key={card.title} pickedModel={pickedModel} />;
}

export function NoTemplate() {
  return (
    <p className="panel small soft">
      This model has no chat template, so it can’t be given a tool and can’t be trained.
    </p>
  );
}

function TrainingForm({ pickedModel }: { readonly pickedModel: PickedModel }) {
  const [task, setTask] = useState<RunPreset>(CHECKPOINT_PRESETS[0] ?? 'smollm2-calculator');
  const [changes, setChanges] = useState<Partial<RunConfig>>({});
  const ownFile = useOwnEnvironment();
  const server = serverNamed(ownFile);
  const isOwn = task === YOUR_ENVIRONMENT;
  const base = useMemo(
    () =>
      task === YOUR_ENVIRONMENT
        ? { ...DEFAULTS, ...adapterKnobsFor(server === null ? 'class' : 'server') }
        : presetConfig(task),
    [task, server],
  );
  const config = useMemo(() => ({ ...base, ...changes }), [base, changes]);
  const card = useModels((s) => s.card);
  // the memory of one's own environment is known once it runs, which needs the press of the button
  useEffect(() => {
    if (!isOwn) planTraining(config);
  }, [isOwn, config, card]);
  const training = useModels((s) => (isOwn ? null : s.training));
  const setKnobs = (knobs: Partial<RunConfig>) =>
    setChanges((before) => ({ ...before, ...knobs, ...linkedKnobs({ ...base, ...before }, knobs) }));
  const plan = training?.plan ?? null;
  // a plan for earlier knob values doesn't count
  const isOutdated = training !== null && knobDifferences(training.config, config).length > 0;
  const fits = isOwn || (plan !== null && !isOutdated && !isTooLarge(plan));
  const { model, learns } = traineeInWords(config, { parameters: null, vocabulary: null, card, checkpointName: '' });
  return (
    <section className="panel stack" aria-labelledby="train-it">
      <h3 id="train-it">Train it</h3>
      <SavedRun pickedModel={pickedModel} />
      <label className="row between">
        <span>On</span>
        <select value={task} onChange={({ target }) => setTask(target.value as RunPreset)}>
          {CHECKPOINT_PRESETS.map((name) => (
            <option key={name} value={name}>
              {PRESETS[name].label.replace(/^.*· /, '')}
            </option>
          ))}
          <option value={YOUR_ENVIRONMENT}>your environment: {server ?? visible(ownFile.name)}</option>
        </select>
      </label>
      <p className="small soft">
        {isOwn ? (
          <>
            Your own environment. Write it, open a file or name a server in the <a href="#/environment">editor</a>. The
            run measures the memory that it needs when it starts.
          </>
        ) : (
          presetDoc(task)
        )}
      </p>
      <p className="small" data-testid="to-be-trained">
        <b>To be trained:</b> {model}. {learns}
      </p>
      <div className="train-knobs">
        {TRAIN_KNOBS.map((name) => (
          <TrainKnob key={name} name={name} value={config[name]} setKnob={(value) => setKnobs({ [name]: value })} />
        ))}
      </div>
      <p className="small faint" data-testid="adapter-scale">
        Adapters are scaled by alpha/rank = {shortNumber(config.adapterAlpha / config.adapterRank)}.
      </p>
      {plan && <TrainingMemory plan={plan} setKnob={({ field, value }) => setKnobs({ [field]: value })} />}
      {training && training.problem !== '' && (
        <p className="note bad small" role="alert">
          {training.problem}
        </p>
      )}
      <p className="small faint">
        {plan?.engine === 'cpu' &&
          'On the CPU with 135 M parameters, an imitation step takes 5 to 10 seconds, an update of 16 rollouts about a minute. '}
        The lab shows the time left. You can pause at any moment, leave, and go on later.
      </p>
      <button
        type="button"
        className="primary"
        disabled={!fits}
        onClick={() => (isOwn ? trainOnOwn(pickedModel, ownFile, config) : trainOn(pickedModel, task, changes))}
      >
        {isOwn ? `${server === null ? 'Run' : 'Connect to'} ${server ?? visible(ownFile.name)} and train` : 'Train it'}
      </button>
    </section>
  );
}

/** The server that runs train on now, otherwise the file in the editor. */
function useOwnEnvironment(): EnvironmentFile {
  const edited = useEnvironment((s) => s.file);
  const next = nextEnvironment();
  return next && serverNamed(next) !== null ? next : edited;
}

function SavedRun({ pickedModel }: { readonly pickedModel: PickedModel }) {
  const [saved, setSaved] = useState<SavedAdapterRun | null>(null);
  const noRun = useLive((s) => s.session === 'none');
  useEffect(() => {
    let mounted = true;
    void savedAdapterRun(pickedModel).then((found) => mounted && setSaved(found));
    return () => {
      mounted = false;
    };
  }, [pickedModel]);
  if (!saved || !noRun) return null;
  return (
    <div className="note small stack">
      <p>
        The run <b>{saved.run.name}</b> trained an adapter for this model. It was saved at {runProgressText(saved.run)}.
      </p>
      <button type="button" onClick={() => continueAdapterRun(pickedModel, saved)}>
        Continue this run
      </button>
    </div>
  );
}

interface TrainKnobProps {
  readonly name: FieldName;
  readonly value: number;
  readonly setKnob: (value: number) => void;
}

/** Input for a knob of a run that hasn't begun. A text that isn't a valid value stays in the box, with the reason. */
function TrainKnob({ name, value, setKnob }: TrainKnobProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const type = (text: string) => {
    setDraft(text);
    try {
      setKnob(Number(parseField(name, text.trim())));
      setProblem(null);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      setProblem(error.message);
    }
  };
  return (
    <label>
      <span className="small">{FIELDS[name].label}</span>
      <input
        inputMode="numeric"
        autoComplete="off"
        value={draft ?? String(value)}
        aria-invalid={problem !== null}
        onChange={({ target }) => type(target.value)}
        onBlur={() => problem === null && setDraft(null)}
      />
      {problem !== null && (
        <span className="knob-problem small" role="alert">
          {problem}
        </span>
      )}
    </label>
  );
}

interface TrainingMemoryProps {
  readonly plan: TrainingPlan;
  readonly setKnob: (knob: FittingKnob) => void; // sets a knob to a value that makes the run fit
}

/** Memory that a run would reserve, by part, and the limit. If it is too much, offers knob changes that make it fit. */
function TrainingMemory({ plan, setKnob }: TrainingMemoryProps) {
  const reportedBytes = reportedMemoryBytes();
  return (
    <div className="stack" aria-live="polite">
      <MemoryParts parts={plan.parts} />
      <p className="small faint">
        {plan.maxBytes === null
          ? 'On the GPU. Browsers don’t say how much memory it has.'
          : `A run on the CPU can have ${bytes(plan.maxBytes)}.`}{' '}
        {reportedMemoryInWords()}
      </p>
      {plan.engine === 'cpu' && !isTooLarge(plan) && reportedBytes !== null && plan.bytes > reportedBytes && (
        <p className="note small">
          That is more memory than this machine has. The run will be slow, or the browser will end it.
        </p>
      )}
      {plan.maxBytes !== null && isTooLarge(plan) && (
        <div className="note bad small stack" role="alert">
          <p>
            The run needs {bytes(plan.bytes)}, at most {bytes(plan.maxBytes)} are possible.{' '}
            {plan.fitting.length > 0 ? 'Any of these makes it fit:' : 'Lower several knobs, or choose a smaller model.'}
          </p>
          <div className="row">
            {plan.fitting.map((knob) => (
              <button key={knob.field} type="button" className="small" onClick={() => setKnob(knob)}>
                {FIELDS[knob.field].label} {knob.value}: {bytes(knob.bytes)}
              </button>
            ))}
          </div>
        </div>
      )}
    </div>
  );
}
