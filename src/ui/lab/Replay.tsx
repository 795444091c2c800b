import { useState } from 'react';
import { EVALUATION_WORDS, evaluationSetOf } from '../../domain/evaluationSet.ts';
import { presetNamed, PRESETS } from '../../config/presets.ts';
import { recordedPreset } from '../../config/recordings.ts';
import type { Recording } from '../../runs/recording.ts';
import { presetConfig, useConfig } from '../../page/knobs/configStore.ts';
import { percent } from '../../page/words/numberText.ts';
import { hasWebGpu } from '../../page/browser/webGpu.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { beginTour, isOffered } from '../../page/learn/offer.ts';
import { SuccessCurve } from '../charts/SuccessCurve.tsx';
import { NoGpu } from '../run/NoGpu.tsx';
import { useReplay } from '../../page/view/player.ts';
import './replay.css';

export function Replay() {
  const [isTourOffered] = useState(isOffered);
  return (
    <>
      <ShownRecording />
      {isTourOffered && (
        <p className="replay-tour">
          <button type="button" onClick={beginTour}>
            Take the tour
          </button>{' '}
          <button type="button" onClick={() => useSelection.setState({ choosing: true })}>
            Choose a task
          </button>
        </p>
      )}
      {!hasWebGpu() && <NoGpu reason="This browser has no WebGPU." isBeforeRun />}
    </>
  );
}

function ShownRecording() {
  const { recording, loadFailed, knobsDiffer } = useReplay();
  const preset = useConfig((s) => recordedPreset(s.preset));
  if (loadFailed) {
    return <p className="faint">The recorded run could not be loaded. Press Run training for a real run.</p>;
  }
  if (knobsDiffer) {
    return (
      <p className="stack replay faint" data-testid="replay-away">
        The recording shows {PRESETS[preset].label}; your knobs have changed since.
      </p>
    );
  }
  if (!recording) return <div className="stack replay" aria-busy="true" />;
  return <RecordedRun recording={recording} />;
}

function RecordedRun({ recording }: { readonly recording: Recording }) {
  const { playing, batchIndex } = useReplay();
  const chosenPreset = useConfig((s) => recordedPreset(s.preset));
  const { name, begun, series, backend } = recording;
  const { checkpointName } = presetNamed(chosenPreset).recording ?? {};
  const presetUpdates = presetConfig(chosenPreset).updates;
  const excerptText = begun.updates < presetUpdates ? `, the first ${begun.updates} of ${presetUpdates} updates` : '';
  const updates = recording.batches.map(({ batch }) => batch.update);
  const success = Array.from(series.get('rollout/success')?.points.y ?? []); // by update from 1
  const heldOut = series.get('eval/success');
  const update = updates[batchIndex] ?? 0;
  return (
    <section className="stack replay" aria-label="Recorded run" data-testid="replay" data-playing={playing}>
      <SuccessCurve success={success} updates={updates} shownIndex={batchIndex} />
      <details className="small">
        <summary>
          <b>
            Update {update}: training success {percent(success[update - 1])}
          </b>
        </summary>
        <p className="soft">
          {name}, {checkpointName !== undefined && `beside ${checkpointName}, `}seed {begun.seed}, on the{' '}
          {backend.kind === 'gpu' ? 'GPU' : 'CPU'}
          {excerptText}. Training success is the share of this update’s rollouts that solved their task, with each word
          sampled from the agent’s probabilities. {EVALUATION_WORDS[evaluationSetOf(begun)].success}, when the agent
          always takes its likeliest word: {percent(heldOut?.firstValue)} → {percent(heldOut?.lastValue)}.
        </p>
      </details>
      {checkpointName !== undefined && (
        <p className="small">
          To train one here, open {checkpointName}, or another model that speaks text, under{' '}
          <a href="#/train">Models</a>.
        </p>
      )}
    </section>
  );
}
