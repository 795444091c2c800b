import { stepBy } from '../../page/training/stepping.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { useSelection, STEP_SCALES, type StepScale } from '../../page/view/selectionStore.ts';
import { Icon } from '../parts/Icon.tsx';

/** Step buttons and a slider for the stored updates of the run, which goes on meanwhile. */
export function Timeline() {
  const scale = useSelection((s) => s.scale);
  const { label } = STEP_SCALES[scale];
  return (
    <section className="row timeline" aria-label="History" data-testid="timeline">
      <span className="row gap-1 stepper" role="group" aria-label="Step">
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

/** A slider over the stored updates. Its value is an index into the list of these updates. */
function Scrubber() {
  const batch = useLive((s) => s.batch);
  const shownUpdate = useSelection((s) => s.shownUpdate);
  useLive((s) => s.metricsVersion); // drawn with the metrics, not with every batch
  const { updates } = useLive.getState().batchesInWorker;
  const [first] = updates;
  if (first === undefined) return <span className="line small faint scrubber fill thin">No batch is kept yet.</span>;
  const shown = shownUpdate !== null && updates.includes(shownUpdate) ? shownUpdate : batch.update;
  const index = Math.max(0, updates.indexOf(shown));
  return (
    <span className="line small scrubber fill thin">
      <span className="faint">{first}</span>
      <input
        type="range"
        aria-label="Update shown"
        aria-valuetext={`update ${shown} of ${first} to ${updates.at(-1)}`}
        min={0}
        max={Math.max(1, updates.length - 1)}
        value={index}
        onChange={(event) =>
          useSelection.setState({ shownUpdate: updates[Number(event.target.value)] ?? null, revealed: null })
        }
      />
      <span className="faint">{updates.at(-1)}</span>
    </span>
  );
}

function Live() {
  const shownUpdate = useSelection((s) => s.shownUpdate);
  const running = useLive((s) => s.running);
  const batch = useLive((s) => s.batch);
  // a link may ask for an update that isn't trained yet; until then the newest is shown
  const waiting = shownUpdate !== null && shownUpdate !== batch.update;
  return (
    <button
      type="button"
      className="quiet small follow"
      aria-pressed={shownUpdate === null}
      title={shownUpdate === null ? 'Hold this batch' : 'Back to the newest batch'}
      onClick={() =>
        useSelection.setState({
          shownUpdate: shownUpdate === null && !useLive.getState().isExample ? useLive.getState().batch.update : null,
          revealed: null,
        })
      }
    >
      {shownUpdate === null ? (
        `● ${running ? 'live' : 'newest'}`
      ) : (
        <>
          ❚❚ {waiting ? 'waiting' : 'held'}
          <span className="follow-words"> {waiting ? 'for' : 'at'} update</span> {shownUpdate}
        </>
      )}
    </button>
  );
}
