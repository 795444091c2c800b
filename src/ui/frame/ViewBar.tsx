import { lazy, Suspense } from 'react';
import { useAddress } from '../../page/view/address.ts';
import { useRoute } from '../../page/address/route.ts';
import { hasHistory, PLACES, SCREENS, siblingViews } from '../../page/address/screens.ts';
import { Icon, type IconName } from '../parts/Icon.tsx';
import { useLive } from '../../page/view/liveStore.ts';
import { fold, useFolds } from '../../page/view/folds.ts';
import { useSelection, type Tab } from '../../page/view/selectionStore.ts';
import './viewBar.css';

const Timeline = lazy(() => import('./Timeline.tsx').then((m) => ({ default: m.Timeline })));
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
  return <Suspense>{started ? <Timeline /> : <RecordedUpdates />}</Suspense>;
}
