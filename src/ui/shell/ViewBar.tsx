import { lazy, Suspense } from 'react';
import { useAddress } from '../address/address.ts';
import { useRoute } from '../address/route.ts';
import { hasHistory, PLACES, SCREENS, siblingViews } from '../address/screens.ts';
import { Icon, type IconName } from '../parts/Icon.tsx';
import { useLive } from '../run/liveStore.ts';
import { fold, useFolds } from './folds.ts';
import { useSelection, type Tab } from './selectionStore.ts';
import { Timeline } from './Timeline.tsx';
import '../styles/views.css';

const RecordedUpdates = lazy(() =>
  import('../replay/RecordedUpdates.tsx').then((m) => ({ default: m.RecordedUpdates })),
);

/** Where the rollout is one of three panels, as on a phone. */
const PANELS: readonly { readonly tab: Tab; readonly label: string; readonly icon: IconName }[] = [
  { tab: 'watch', label: 'Watch', icon: 'watch' },
  { tab: 'curves', label: 'Curves', icon: 'curves' },
  { tab: 'tune', label: 'Tune', icon: 'tune' },
];

/** The views of the place on view, and the way through the updates where the view shows one. Nothing where a place is one screen. */
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
    <div className="view-bar">
      {route === 'lab' && <FoldControls />}
      <nav className="segments views" aria-label={`Views of ${PLACES[place].label}`} data-place={place}>
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

/** Folds the column of controls away, so that the rollout has its room. */
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

/** Any kept update of the run; of the recording before there is a run. */
function History() {
  const started = useLive((s) => s.session !== 'none');
  if (started) return <Timeline />;
  return (
    <Suspense>
      <RecordedUpdates />
    </Suspense>
  );
}
