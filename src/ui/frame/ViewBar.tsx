import { lazy, Suspense } from 'react';
import { useAddress } from '../../page/view/address.ts';
import { useRoute } from '../../page/address/route.ts';
import { hasHistory, PLACES, SCREENS, siblingViews } from '../../page/address/screens.ts';
import { Icon, type IconName } from '../parts/Icon.tsx';
import { useLive } from '../../page/view/liveStore.ts';
import { fold, useFolds } from '../../page/view/folds.ts';
import { useSelection, type Tab, STEP_SCALES, type StepScale } from '../../page/view/selectionStore.ts';
import './viewBar.css';

const RecordedUpdates = lazy(() => import('./RecordedUpdates.tsx').then((m) => ({ default: m.RecordedUpdates })));

/** The lab's panels on a phone, where one is shown at a time. */
const PANELS: readonly { readonly tab: Tab; readonly label: string; readonly icon: IconName }[] = [
  { tab: 'watch', label: 'Watch', icon: 'watch' },
  { tab: 'curves', label: 'Curves', icon: 'curves' },
  { tab: 'tune', label: 'Tune', icon: 'tune' },
];

/** Also has the updates to step through if the view shows one. Empty if the place has one view. */
export function ViewBar() {
  const route = useRoute();
  const address = useAddress();
  const tab = useSelection((s) => s.tab);
  const { place } = SCREENS[route];
  const views = siblingViews(route);
  if (views.length < 2) return null;
  const open = (next: Tab) => {
    useSelection.setState({ tab: next });
    if (route !== 'lab') location.assign(address('lab'));
  };
  return (
    <div className="view-bar line gap-6">
      {route === 'lab' && <FoldControls />}
      <nav className="segments views rigid" aria-label={`Views of ${PLACES[place].label}`} data-place={place}>
        {place === 'lab' &&
          PANELS.map((entry) => (
            <button
              key={entry.tab}
              type="button"
              className="panel-tab"
              aria-current={route === 'lab' && tab === entry.tab ? 'page' : undefined}
              onClick={() => open(entry.tab)}
            >
              <Icon name={entry.icon} />
              {entry.label}
            </button>
          ))}
        {views.map((view) => (
          <a key={view} href={address(view)} aria-current={view === route ? 'page' : undefined}>
            {SCREENS[view].label}
          </a>
        ))}
      </nav>
      {hasHistory(route) && <History />}
    </div>
  );
}

/** Folds the column of controls away, to give the rollout more space. */
function FoldControls() {
  const folded = useFolds((s) => s.controls);
  const does = folded ? 'Show the controls' : 'Fold the controls away';
  return (
    <button
      type="button"
      className="icon-button small fold-controls"
      aria-label={does}
      aria-expanded={!folded}
      title={does}
      onClick={() => fold('controls', !folded)}
    >
      <Icon name="tune" />
    </button>
  );
}

/** Steps through the stored updates of the run, or of the recording before there is a run. */
function History() {
  const started = useLive((s) => s.session !== 'none');
  if (started) return <Timeline />;
  return (
    <Suspense>
      <RecordedUpdates />
    </Suspense>
  );
}

/** Step buttons and a slider for the stored updates of the run, which goes on meanwhile. */
function Timeline() {
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
          onClick={() => stepOnce(scale, -1)}
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
          onClick={() => stepOnce(scale, 1)}
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

/** Steps at the chosen scale. The code loads with the first step, so that the page has less to load before it shows. */
function stepOnce(scale: StepScale, by: 1 | -1): void {
  void import('../../page/training/stepping.ts').then((m) => m.stepBy(scale, by));
}
