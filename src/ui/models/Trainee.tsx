import { useEffect, useState } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import { Trained } from '../knobs/ChangedKnobs.tsx';
import { useConfig } from '../knobs/configStore.ts';
import { nextModel, weigh } from '../run/engine.ts';
import { live, useLive } from '../run/liveStore.ts';
import { useModels } from './modelStore.ts';
import { type Known, traineeInWords } from './trainee.ts';

const ASK_MS = 250; // a dragged slider asks this often

/** Names the model that trains, its size and which of its weights learn. Describes the current run, or without one the run that _Run training_ would begin. */
export function Trainee() {
  const { wanted, applied } = useConfig();
  const ready = useLive((s) => s.session === 'ready');
  const running = useLive((s) => s.running);
  const config = ready ? (applied ?? wanted) : wanted;
  const known = useKnown(config, ready);
  const { model, learns } = traineeInWords(config, known);
  return (
    <p className="trainee" data-testid="trainee">
      <b>{!ready ? 'To be trained' : running ? 'Training now' : 'Training (paused)'}:</b> {model}. {learns}
    </p>
  );
}

/** The same with the task, as a panel. */
export function TraineePanel() {
  const ready = useLive((s) => s.session === 'ready');
  const update = useLive((s) => s.update);
  const beside = useConfig((s) => (s.applied ?? s.wanted).model === 'checkpoint');
  return (
    <section className="panel stack" aria-labelledby="trainee">
      <h3 id="trainee">What is trained</h3>
      <Trainee />
      <p className="small soft">
        Preset: <Trained />
        {ready && `, update ${update}`}.{' '}
        {ready && beside ? (
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

/** What is known of the model under these knobs: the run says it; before there is one the worker works it out from the knobs alone. */
function useKnown(config: RunConfig, ready: boolean): Known {
  const parameters = useLive((s) => s.parameters);
  const card = useModels((s) => s.card);
  const name = nextModel()?.name ?? '';
  const [told, setTold] = useState<{ readonly of: RunConfig; readonly known: Known } | null>(null);
  const asks = !ready && config.model === 'sizes';
  useEffect(() => {
    if (!asks) return;
    let here = true;
    const timer = setTimeout(() => {
      void weigh(config).then((answer) => {
        if (here && answer.kind === 'weighed') setTold({ of: config, known: { ...answer, card: null, name: '' } });
      });
    }, ASK_MS);
    return () => {
      here = false;
      clearTimeout(timer);
    };
  }, [asks, config]);
  if (ready) return { parameters, vocabulary: live.vocabulary.length, card, name };
  return asks && told?.of === config ? told.known : { parameters: null, vocabulary: null, card, name };
}
