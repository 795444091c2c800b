import { useState } from 'react';
import { EVALUATION_WORDS, evaluationSetOf } from '../../domain/evaluationSet.ts';
import { presetNamed, PRESETS } from '../../config/presets.ts';
import { recordedPreset } from '../../config/recordings.ts';
import type { Recording } from '../../runs/recording.ts';
import { presetConfig, useConfig } from '../knobs/configStore.ts';
import { percent } from '../parts/numberText.ts';
import { hasWebGpu } from '../parts/webGpu.ts';
import { useSelection } from '../shell/selectionStore.ts';
import '../styles/replay.css';
import { beginTour, isOffered } from '../tour/offer.ts';
import { Curve } from './Curve.tsx';
import { NoGpu } from './NoGpu.tsx';
import { useReplay } from './player.ts';

/** The recorded run beside the welcome text, and the tour for first-time visitors. */
export function Replay() {
  const [offered] = useState(isOffered);
  return (
    <>
      <ShownRecording />
      {offered && (
        <p className="replay-tour">
          <button type="button" onClick={beginTour}>
            Take the tour
          </button>{' '}
          <button type="button" onClick={() => useSelection.setState({ choosing: true })}>
            Choose a task
          </button>
        </p>
      )}
      {!hasWebGpu() && <NoGpu reason="This browser has no WebGPU." before />}
    </>
  );
}

/** The recording of the chosen preset, or why it isn't shown. */
function ShownRecording() {
  const { recording, missing, away } = useReplay();
  const preset = useConfig((s) => recordedPreset(s.preset));
  if (missing) {
    return <p className="faint">The recorded run could not be loaded. Press Run training for a real run.</p>;
  }
  if (away) {
    return (
      <p className="stack replay faint" data-testid="replay-away">
        The recording shows {PRESETS[preset].label}; your knobs have changed since.
      </p>
    );
  }
  if (!recording) return <div className="stack replay" aria-busy="true" />;
  return <RecordedRun recording={recording} />;
}

/** The curve of the recorded run, and the update shown. */
function RecordedRun({ recording }: { readonly recording: Recording }) {
  const { playing, at } = useReplay();
  const chosen = useConfig((s) => recordedPreset(s.preset));
  const { name, begun, series, backend } = recording;
  const { beside } = presetNamed(chosen).recording ?? {};
  const presetUpdates = presetConfig(chosen).updates;
  const part = begun.updates < presetUpdates ? `, the first ${begun.updates} of ${presetUpdates} updates` : '';
  const updates = recording.batches.map(({ batch }) => batch.update);
  const success = Array.from(series.get('rollout/success')?.points.y ?? []); // by update from 1
  const heldOut = series.get('eval/success');
  const update = updates[at] ?? 0;
  return (
    <section className="stack replay" aria-label="Recorded run" data-testid="replay" data-playing={playing}>
      <Curve success={success} updates={updates} at={at} />
      <details className="small">
        <summary>
          <b>
            Update {update}: training success {percent(success[update - 1])}
          </b>
        </summary>
        <p className="soft">
          {name}, {beside !== undefined && `beside ${beside}, `}seed {begun.seed}, on the{' '}
          {backend.kind === 'gpu' ? 'GPU' : 'CPU'}
          {part}. Training success is the share of this update’s rollouts that solved their task, with each word sampled
          from the agent’s probabilities. {EVALUATION_WORDS[evaluationSetOf(begun)].success}, when the agent always
          takes its likeliest word: {percent(heldOut?.first)} → {percent(heldOut?.latest)}.
        </p>
      </details>
      {beside !== undefined && (
        <p className="small">
          To train one here, open {beside}, or another model that speaks text, under <a href="#/train">Models</a>.
        </p>
      )}
    </section>
  );
}
