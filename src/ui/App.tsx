import { type ComponentType, lazy, Suspense, useEffect } from 'react';
import { useAddress } from './address.ts';
import type { Route } from './hash.ts';
import { useLive } from './live-store.ts';
import { Nav } from './Nav.tsx';
import { Banner } from './panels/Banner.tsx';
import { Controls } from './panels/Controls.tsx';
import { GroupStrip } from './panels/GroupStrip.tsx';
import { Header } from './panels/Header.tsx';
import { Icon, type IconName } from './panels/Icon.tsx';
import { Trajectory } from './panels/Trajectory.tsx';
import { useRoute } from './route.ts';
import { useSelection, type Tab } from './selection-store.ts';

// none of these is needed to read the page: they come after the first paint
const Announcer = lazy(() => import('./Announcer.tsx').then((m) => ({ default: m.Announcer })));
const BranchPanel = lazy(() => import('./panels/BranchPanel.tsx').then((m) => ({ default: m.BranchPanel })));
const Dock = lazy(() => import('./panels/Dock.tsx').then((m) => ({ default: m.Dock })));
const EnvPanel = lazy(() => import('./panels/EnvPanel.tsx').then((m) => ({ default: m.EnvPanel })));
const Experiments = lazy(() => import('./experiments/Experiments.tsx').then((m) => ({ default: m.Experiments })));
const HelpSheet = lazy(() => import('./panels/HelpSheet.tsx').then((m) => ({ default: m.HelpSheet })));
const Group = lazy(() => import('./group/Group.tsx').then((m) => ({ default: m.Group })));
const Inspector = lazy(() => import('./panels/Inspector.tsx').then((m) => ({ default: m.Inspector })));
const Runs = lazy(() => import('./runs/Runs.tsx').then((m) => ({ default: m.Runs })));
const Learn = lazy(() => import('./learn/Learn.tsx').then((m) => ({ default: m.Learn })));
const PlayDialog = lazy(() => import('./play/PlayDialog.tsx').then((m) => ({ default: m.PlayDialog })));
const StatusLine = lazy(() => import('./panels/StatusLine.tsx').then((m) => ({ default: m.StatusLine })));
const Tour = lazy(() => import('./tour/Tour.tsx').then((m) => ({ default: m.Tour })));
const Update = lazy(() => import('./update/Update.tsx').then((m) => ({ default: m.Update })));
const Timeline = lazy(() => import('./panels/Timeline.tsx').then((m) => ({ default: m.Timeline })));

const SCREENS: Readonly<Record<Exclude<Route, 'lab'>, ComponentType>> = {
  group: Group,
  update: Update,
  runs: Runs,
  ablate: Experiments,
  learn: Learn,
};

/** The page: one screen at a time, and the way to the other. */
export function App() {
  const theme = useSelection((s) => s.theme);
  const tab = useSelection((s) => s.tab);
  const help = useSelection((s) => s.help);
  const hide = useSelection((s) => s.hide);
  const playing = useSelection((s) => s.playing);
  const touring = useSelection((s) => s.touring);
  const route = useRoute();
  const Screen = route === 'lab' ? null : SCREENS[route];
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  return (
    <div className="lab" data-tab={tab} data-screen={route} data-hide={hide.replaceAll(',', ' ')}>
      {Screen ? (
        <Suspense fallback={<main aria-busy="true" />}>
          <Screen />
        </Suspense>
      ) : (
        <Lab />
      )}
      <Nav />
      <Tabs />
      {help && (
        <Suspense>
          <HelpSheet />
        </Suspense>
      )}
      {playing && (
        <Suspense>
          <PlayDialog />
        </Suspense>
      )}
      {touring && (
        <Suspense>
          <Tour />
        </Suspense>
      )}
      <Suspense>
        <Announcer />
      </Suspense>
    </div>
  );
}

/** Controls, stage, inspector, curves, status. */
function Lab() {
  return (
    <>
      <Header />
      <Controls />
      <main className="stage pane" data-pane="watch">
        <Banner />
        <History />
        <GroupStrip />
        <Stage />
      </main>
      <Suspense fallback={<section className="inspector panel" />}>
        <Inspector />
      </Suspense>
      <Suspense fallback={<section className="dock pane" data-pane="curves" />}>
        <Dock />
      </Suspense>
      <Suspense fallback={<footer className="status" />}>
        <StatusLine />
      </Suspense>
    </>
  );
}

/** A rollout and its environment, or a branch beside the rollout it leaves. */
function Stage() {
  const branch = useSelection((s) => s.branch);
  if (branch !== null) {
    return (
      <Suspense>
        <BranchPanel id={branch} />
      </Suspense>
    );
  }
  return (
    <div className="stage-row">
      <Suspense fallback={<section className="env panel" />}>
        <EnvPanel />
      </Suspense>
      <Trajectory />
    </div>
  );
}

/** Nothing before there is a run to go back in. */
function History() {
  const started = useLive((s) => s.session !== 'none');
  return <Suspense fallback={<div className="timeline" />}>{started && <Timeline />}</Suspense>;
}

const TABS: readonly { readonly tab: Tab; readonly label: string; readonly icon: IconName }[] = [
  { tab: 'watch', label: 'Watch', icon: 'watch' },
  { tab: 'curves', label: 'Curves', icon: 'curves' },
  { tab: 'tune', label: 'Tune', icon: 'tune' },
];

const PHONE_SCREENS: readonly { readonly route: Route; readonly label: string; readonly icon: string }[] = [
  { route: 'group', label: 'Group', icon: 'M4 5h4v14H4zM10 5h4v14h-4zM16 5h4v14h-4z' },
  { route: 'update', label: 'Update', icon: 'M7 20V5M3 9l4-4 4 4M17 4v15m-4-4 4 4 4-4' },
  { route: 'runs', label: 'Runs', icon: 'M4 18c5 0 5-11 10-11h6M4 18c6 0 8-5 16-5' },
  { route: 'ablate', label: 'Tests', icon: 'M9 3h6M10 3v6L5 19a1.5 1.5 0 0 0 1.4 2h11.2a1.5 1.5 0 0 0 1.4-2L14 9V3' },
  { route: 'learn', label: 'Learn', icon: 'M4 5c4-1 6 0 8 2 2-2 4-3 8-2v13c-4-1-6 0-8 2-2-2-4-3-8-2zM12 7v13' },
];

/** The lab's panels and the other screens, on a phone. */
function Tabs() {
  const tab = useSelection((s) => s.tab);
  const route = useRoute();
  const address = useAddress();
  const open = (next: Tab) => {
    useSelection.setState({ tab: next });
    if (route !== 'lab') location.assign(address('lab'));
  };
  return (
    <nav className="tabs" aria-label="Panels">
      {TABS.map((entry) => (
        <button
          key={entry.tab}
          type="button"
          aria-current={route === 'lab' && tab === entry.tab ? 'page' : undefined}
          onClick={() => open(entry.tab)}
        >
          <Icon name={entry.icon} />
          {entry.label}
        </button>
      ))}
      {PHONE_SCREENS.map((screen) => (
        <a key={screen.route} href={address(screen.route)} aria-current={route === screen.route ? 'page' : undefined}>
          <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
            <path d={screen.icon} />
          </svg>
          {screen.label}
        </a>
      ))}
    </nav>
  );
}
