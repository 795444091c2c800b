import { useEffect, useMemo } from 'react';
import { plannedRuns, planOf, type PlanChoice } from '../../experiments/experimentPlan.ts';
import { planText } from '../../experiments/sweepFile.ts';
import { resultTable } from '../../experiments/resultTable.ts';
import { routeOf } from '../../page/address/hash.ts';
import { withChoice } from '../../page/experiments/ownExperiment.ts';
import { defaultPlan, planHash, MAX_SEEDS } from '../../page/experiments/planAddress.ts';
import { HeaderEnd, Brand } from '../frame/Header.tsx';
import { useTitleParts } from '../../page/view/pageTitle.ts';
import { ViewBar } from '../frame/ViewBar.tsx';
import { DeletedResults } from './ExportButtons.tsx';
import { Results } from './Results.tsx';
import { resumeStored, cancel, pause, resume, start } from '../../page/experiments/experimentRunner.ts';
import { RunGrid } from './RunGrid.tsx';
import {
  missingRuns,
  openAddress,
  openFile,
  replaceFile,
  useExperiments,
  loadShipped,
} from '../../page/experiments/experimentStore.ts';
import { duration } from '../../page/words/numberText.ts';
import { Icon } from '../parts/Icon.tsx';
import { costOf } from '../../page/experiments/experimentCost.ts';
import type { RunRequest } from '../../page/experiments/requests.ts';
import { FIELDS, type RunConfig } from '../../config/config.ts';
import { isRunArm, type Experiment } from '../../experiments/experimentDefinition.ts';
import { NumberInput } from '../parts/NumberInput.tsx';
import { ListedChoices, OwnChoices } from './ExperimentChoice.tsx';
import { OwnForm } from './OwnForm.tsx';
import './experiments.css';

export function Experiments() {
  const plan = useExperiments((s) => s.plan);
  const own = useExperiments((s) => s.own);
  const results = useExperiments((s) => s.results);
  const shipped = useExperiments((s) => s.shippedResults);
  const table = useMemo(() => resultTable(planOf(plan, own), results, shipped), [plan, own, results, shipped]);
  const { label, question, doc, besides } = table.experiment;
  usePlanAddress();
  useQueueTitle();
  useEffect(resumeStored, []);
  useEffect(() => void loadShipped(table.experiment), [table.experiment]);
  return (
    <>
      <header className="header">
        <Brand />
        <HeaderEnd />
      </header>
      <ViewBar />
      <main className="experiments grid low">
        <PlanForm />
        <section className="experiment" aria-labelledby="experiment-title">
          <div className="row">
            <h2 id="experiment-title">{label}</h2>
            {!own.has(plan.experiment) && (
              <button
                type="button"
                title="Makes an experiment of your own from it"
                onClick={() => openFile(planText(table.plan))}
              >
                Change
              </button>
            )}
          </div>
          <p className="large">{question}</p>
          <p className="faint">{doc}</p>
          {besides && (
            <p>
              <a className="accent" href={planHash(defaultPlan(besides))}>
                The same tasks with SFT, rejection sampling and distillation in RL’s place
              </a>
            </p>
          )}
          <QueueButtons />
          <Notices />
          <DeletedResults />
          <Results table={table} />
          <RunGrid runs={plannedRuns(table.plan)} table={table} />
        </section>
      </main>
    </>
  );
}

const NONE: readonly string[] = [];

function Notices() {
  const corrections = useExperiments((s) => (s.own.has(s.plan.experiment) ? NONE : s.corrections)); // else the form has them
  const saveError = useExperiments((s) => s.saveError);
  const note = useExperiments((s) => s.note);
  return (
    <>
      {[...corrections, ...(saveError === null ? [] : [saveError])].map((text) => (
        <p key={text} className="note" role="alert">
          {text}
        </p>
      ))}
      <p className="faint" role="status">
        {note}
      </p>
    </>
  );
}

/** Writes the form's plan into the address, and reads an address that is typed or gone back to. */
function usePlanAddress(): void {
  useEffect(() => {
    const write = () => {
      if (routeOf(location.hash) !== 'experiments') return;
      const { plan, own } = useExperiments.getState();
      const hash = planHash(plan, own);
      if (hash !== location.hash) history.replaceState(history.state, '', hash);
    };
    const read = () => {
      if (routeOf(location.hash) === 'experiments' && location.hash.includes('?')) openAddress(location.hash);
    };
    read();
    write();
    const stop = useExperiments.subscribe((state, before) => {
      if (state.plan !== before.plan || state.own !== before.own) write();
    });
    addEventListener('popstate', read);
    return () => {
      stop();
      removeEventListener('popstate', read);
    };
  }, []);
}

function useQueueTitle(): void {
  const running = useExperiments((s) => s.mode === 'running');
  const runsLeft = useExperiments((s) => s.waiting.length);
  useTitleParts({ progress: running ? `▶ ${runsLeft} runs left` : '' });
}

function QueueButtons() {
  const mode = useExperiments((s) => s.mode);
  const plan = useExperiments((s) => s.plan);
  const waiting = useExperiments((s) => s.waiting);
  const results = useExperiments((s) => s.results);
  const own = useExperiments((s) => s.own);
  const missingRequests = useMemo(() => missingRuns(plan, waiting, results, own), [plan, waiting, results, own]);
  const missingCount = missingRequests.length;
  const otherRunCount = waiting.filter((run) => run.experiment !== plan.experiment).length;
  const busy = mode !== 'idle';
  return (
    <div className="stack">
      <div className="row" role="group" aria-label="Queue">
        {(missingCount > 0 || !busy) && (
          <button type="button" className="primary" disabled={missingCount === 0} onClick={start}>
            <Icon name="play" />
            {busy ? 'Add to the queue' : 'Start'}
          </button>
        )}
        {(mode === 'running' || mode === 'elsewhere') && (
          <button type="button" disabled={mode === 'elsewhere'} onClick={pause}>
            <Icon name="pause" />
            Pause
          </button>
        )}
        {mode === 'paused' && (
          <button type="button" className="primary" onClick={resume}>
            <Icon name="play" />
            Resume
          </button>
        )}
        {busy && (
          <button type="button" onClick={cancel}>
            <Icon name="cross" />
            Cancel
          </button>
        )}
        <CostText of={missingRequests} />
      </div>
      {mode === 'elsewhere' && (
        <p className="note">
          Another tab of this page is running the queue. This tab takes over when the other is done.
        </p>
      )}
      {otherRunCount > 0 && <p className="faint">Also waiting: {otherRunCount} runs of other experiments.</p>}
      {busy && <p className="faint">The queue and finished runs survive a reload. The current run then starts over.</p>}
    </div>
  );
}

function CostText({ of: runs }: { readonly of: readonly RunRequest[] }) {
  const results = useExperiments((s) => s.results);
  const shipped = useExperiments((s) => s.shippedResults);
  const own = useExperiments((s) => s.own);
  const { seconds, updates, isMeasured } = useMemo(
    () => costOf(runs, results, shipped, own),
    [runs, results, shipped, own],
  );
  if (runs.length === 0) return null;
  return (
    <span className="cost">
      {runs.length} {runs.length === 1 ? 'run' : 'runs'}, {updates} updates in all, about {duration(seconds)}{' '}
      <span className="faint">
        {isMeasured ? 'measured here' : 'on one CPU core (a rough estimate, better after the first run)'}
      </span>
    </span>
  );
}

const BACKENDS: Readonly<Record<RunConfig['backend'], string>> = {
  auto: 'WebGPU, else CPU',
  gpu: 'WebGPU',
  cpu: 'CPU',
};

function PlanForm() {
  const plan = useExperiments((s) => s.plan);
  const own = useExperiments((s) => s.own);
  const mine = own.get(plan.experiment);
  const { experiment, seeds } = planOf(plan, own);
  const changePlan = (changes: Partial<PlanChoice>) =>
    mine
      ? replaceFile(plan.experiment, withChoice(mine, changes))
      : useExperiments.setState({ plan: { ...plan, ...changes }, corrections: [], note: '' });
  const updates = experiment.arms.some((arm) => 'set' in arm && arm.set.updates !== undefined)
    ? undefined
    : experiment.shared.updates;
  const fields = (
    <>
      <NumberInput
        label="Seeds"
        value={seeds.length}
        max={MAX_SEEDS}
        onChange={(count) => changePlan({ seeds: count })}
      />
      {updates === undefined ? (
        <p className="faint">Its variants have their own number of updates.</p>
      ) : (
        <NumberInput
          label="Updates in a run"
          value={plan.updates ?? updates}
          max={FIELDS.updates.max}
          onChange={(count) => changePlan({ updates: count === updates ? null : count })}
        />
      )}
      <label className="line between field">
        Backend
        <select value={plan.backend} onChange={(e) => changePlan({ backend: e.target.value as RunConfig['backend'] })}>
          {FIELDS.backend.choices.map((choice) => (
            <option key={choice} value={choice}>
              {BACKENDS[choice]}
            </option>
          ))}
        </select>
      </label>
    </>
  );
  return (
    <form className="setup" aria-label="Experiment" onSubmit={(event) => event.preventDefault()}>
      <OwnChoices />
      {mine && <OwnForm key={plan.experiment} name={plan.experiment} mine={mine} fields={fields} />}
      <ListedChoices />
      {!mine && fields}
      {!mine && <ArmChoice experiment={experiment} plan={plan} changePlan={changePlan} />}
    </form>
  );
}

function ArmChoice(props: {
  readonly experiment: Experiment;
  readonly plan: PlanChoice;
  readonly changePlan: (changes: Partial<PlanChoice>) => void;
}) {
  const { experiment, plan, changePlan } = props;
  const runKeys = experiment.arms.filter(isRunArm).map(({ key }) => key);
  const chosen = plan.arms.length === 0 ? runKeys : runKeys.filter((key) => plan.arms.includes(key));
  const toggle = (key: string) => {
    const next = chosen.includes(key) ? chosen.filter((other) => other !== key) : [...chosen, key];
    // at least one variant stays chosen
    if (next.length > 0)
      changePlan({ arms: next.length === runKeys.length ? [] : runKeys.filter((k) => next.includes(k)) });
  };
  return (
    <details className="arms" open={plan.arms.length > 0}>
      <summary>
        Variants{' '}
        <span className="faint">{plan.arms.length === 0 ? 'all' : `${chosen.length} of ${runKeys.length}`}</span>
      </summary>
      {experiment.arms.filter(isRunArm).map(({ key, label, group }) => (
        <label key={key} className="choice">
          <input type="checkbox" checked={chosen.includes(key)} onChange={() => toggle(key)} />
          <span>{group === undefined ? label : `${group}: ${label}`}</span>
        </label>
      ))}
    </details>
  );
}
