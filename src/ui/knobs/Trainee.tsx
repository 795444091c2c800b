import { useEffect, useState } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import { TrainedTitle } from './ChangedKnobs.tsx';
import { useConfig } from '../../page/knobs/configStore.ts';
import { nextModel, weigh } from '../../page/training/engine.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { useModels } from '../../page/models/modelStore.ts';
import { type ModelFacts, traineeInWords } from '../../page/models/traineeText.ts';

const ASK_DELAY_MS = 250; // a dragged slider asks only after it has rested this long

/** Describes the current run, or without one the run that _Run training_ would begin. */
export function Trainee() {
  const { wanted, applied } = useConfig();
  const hasRun = useLive((s) => s.session === 'ready');
  const running = useLive((s) => s.running);
  const config = hasRun ? (applied ?? wanted) : wanted;
  const facts = useModelFacts(config, hasRun);
  const { model, learns } = traineeInWords(config, facts);
  return (
    <p className="trainee" data-testid="trainee">
      <b>{!hasRun ? 'To be trained' : running ? 'Training now' : 'Training (paused)'}:</b> {model}. {learns}
    </p>
  );
}

export function TraineePanel() {
  const hasRun = useLive((s) => s.session === 'ready');
  const update = useLive((s) => s.update);
  const trainsCheckpoint = useConfig((s) => (s.applied ?? s.wanted).model === 'checkpoint');
  return (
    <section className="panel stack" aria-labelledby="trainee">
      <h3 id="trainee">What is trained</h3>
      <Trainee />
      <p className="small soft">
        Preset: <TrainedTitle />
        {hasRun && `, update ${update}`}.{' '}
        {hasRun && trainsCheckpoint ? (
          <>
            To export its adapters, or model and adapters merged, press <i>Checkpoint</i> under{' '}
            <a href="#/runs">Runs</a>.
          </>
        ) : (
          'Set the model’s size in the lab, under Model. To train a larger, ready-made language model instead, open one below.'
        )}
      </p>
    </section>
  );
}

/** The facts come from the run; before it begins, the worker computes them from the knobs. */
function useModelFacts(config: RunConfig, hasRun: boolean): ModelFacts {
  const parameters = useLive((s) => s.parameters);
  const card = useModels((s) => s.card);
  const checkpointName = nextModel()?.name ?? '';
  const [computed, setComputed] = useState<{ readonly of: RunConfig; readonly facts: ModelFacts } | null>(null);
  const mustAsk = !hasRun && config.model === 'sizes';
  useEffect(() => {
    if (!mustAsk) return;
    let mounted = true;
    const timer = setTimeout(() => {
      void weigh(config).then((answer) => {
        if (mounted && answer.kind === 'weighed')
          setComputed({ of: config, facts: { ...answer, card: null, checkpointName: '' } });
      });
    }, ASK_DELAY_MS);
    return () => {
      mounted = false;
      clearTimeout(timer);
    };
  }, [mustAsk, config]);
  if (hasRun) return { parameters, vocabulary: useLive.getState().vocabulary.length, card, checkpointName };
  return mustAsk && computed?.of === config
    ? computed.facts
    : { parameters: null, vocabulary: null, card, checkpointName };
}
