import { live, useLive } from '../run/liveStore.ts';
import { useSelection } from './selectionStore.ts';
import { STEP_SCALES, type StepScale } from '../run/stepScales.ts';
import { stepBy } from '../run/stepping.ts';
import '../styles/timeline.css';
import { Icon } from '../parts/Icon.tsx';

/** Steps and a slider through what is kept of the run, while it goes on. */
export function Timeline() {
  const scale = useSelection((s) => s.scale);
  const { label } = STEP_SCALES[scale];
  return (
    <section className="row timeline" aria-label="History" data-testid="timeline">
      <span className="row stepper" role="group" aria-label="Step">
        <button
          type="button"
          className="icon-button small"
          aria-label={`Step back one ${label}`}
          title={`Back one ${label} (,)`}
          onClick={() => stepBy(scale, -1)}
        >
          <Icon name="left" />
        </button>
        <select
          className="small"
          aria-label="Step scale"
          title={STEP_SCALES[scale].doc}
          value={scale}
          onChange={(event) => useSelection.setState({ scale: event.target.value as StepScale })}
        >
          {Object.entries(STEP_SCALES).map(([name, { label: each, doc }]) => (
            <option key={name} value={name} title={doc}>
              {each}
            </option>
          ))}
        </select>
        <button
          type="button"
          className="icon-button small"
          aria-label={`Step forward one ${label}`}
          title={`Forward one ${label} (.)`}
          onClick={() => stepBy(scale, 1)}
        >
          <Icon name="right" />
        </button>
      </span>
      <Scrubber />
      <Live />
    </section>
  );
}

/** Any kept update. The slider's place is that of the update among those kept. */
function Scrubber() {
  useLive((s) => s.metricsVersion);
  useLive((s) => s.batchVersion);
  const held = useSelection((s) => s.held);
  const { updates } = live.kept;
  const [first] = updates;
  if (first === undefined) return <span className="line small faint scrubber">No batch is kept yet.</span>;
  const shown = held !== null && updates.includes(held) ? held : live.batch.update;
  const at = Math.max(0, updates.indexOf(shown));
  return (
    <span className="line small scrubber">
      <span className="faint">{first}</span>
      <input
        type="range"
        aria-label="Update shown"
        aria-valuetext={`update ${shown} of ${first} to ${updates.at(-1)}`}
        min={0}
        max={Math.max(1, updates.length - 1)}
        value={at}
        onChange={(event) =>
          useSelection.setState({ held: updates[Number(event.target.value)] ?? null, revealed: null })
        }
      />
      <span className="faint">{updates.at(-1)}</span>
    </span>
  );
}

function Live() {
  const held = useSelection((s) => s.held);
  const running = useLive((s) => s.running);
  useLive((s) => s.batchVersion);
  // an update an address asks for may not have been trained yet: until then the newest is shown
  const waiting = held !== null && held !== live.batch.update;
  const text =
    held === null ? (running ? 'live' : 'newest') : waiting ? `waiting for update ${held}` : `held at update ${held}`;
  return (
    <button
      type="button"
      className="quiet small follow"
      aria-pressed={held === null}
      title={held === null ? 'Hold this batch' : 'Back to the newest batch'}
      onClick={() =>
        useSelection.setState({ held: held === null && !live.isExample ? live.batch.update : null, revealed: null })
      }
    >
      {held === null ? '● ' : '❚❚ '}
      {text}
    </button>
  );
}
