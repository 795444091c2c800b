import { Icon } from '../parts/Icon.tsx';
import { chooseBatch, pause, play, stepReplay, useReplay } from '../../page/view/player.ts';

/** Buttons to choose an update of the recording and to play it. Renders nothing if no recording is shown. */
export function RecordedUpdates() {
  const recording = useReplay((s) => s.recording);
  const away = useReplay((s) => s.knobsDiffer);
  const at = useReplay((s) => s.batchIndex);
  if (!recording || away) return null;
  return (
    <div className="row recorded-updates">
      <span className="chip example" title="A recorded run: choose one of its updates">
        recording
      </span>
      <span className="segments" role="group" aria-label="Recorded update">
        {recording.batches.map(({ batch: { update } }, i) => (
          <button
            key={update}
            type="button"
            aria-label={`Update ${update} of the recording`}
            aria-pressed={i === at}
            onClick={() => chooseBatch(i)}
          >
            {update}
          </button>
        ))}
      </span>
      <PlayControls />
    </div>
  );
}

function PlayControls() {
  const playing = useReplay((s) => s.playing);
  return (
    <span className="row end">
      <button
        type="button"
        className="quiet icon-button small"
        aria-label={playing ? 'Pause the recording' : 'Play the recording'}
        onClick={playing ? pause : play}
      >
        <Icon name={playing ? 'pause' : 'play'} />
      </button>
      <button
        type="button"
        className="quiet icon-button small"
        aria-label="Step the recording by a turn"
        title="Next turn of the recording"
        onClick={stepReplay}
      >
        <Icon name="step" />
      </button>
    </span>
  );
}
