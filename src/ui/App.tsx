import { lazy, Suspense, useEffect } from 'react';
import { useConfig } from './config-store.ts';
import { hashOf } from './hash.ts';
import { Nav } from './Nav.tsx';
import { Banner } from './panels/Banner.tsx';
import { Controls } from './panels/Controls.tsx';
import { EnvPanel } from './panels/EnvPanel.tsx';
import { GroupStrip } from './panels/GroupStrip.tsx';
import { Header } from './panels/Header.tsx';
import { Icon, type IconName } from './panels/Icon.tsx';
import { Inspector } from './panels/Inspector.tsx';
import { Trajectory } from './panels/Trajectory.tsx';
import { useRoute } from './route.ts';
import { useSelection, type Tab } from './selection-store.ts';

// none of these is needed to read the page: they come after the first paint
const Announcer = lazy(() => import('./Announcer.tsx').then((m) => ({ default: m.Announcer })));
const Dock = lazy(() => import('./panels/Dock.tsx').then((m) => ({ default: m.Dock })));
const Experiments = lazy(() => import('./experiments/Experiments.tsx').then((m) => ({ default: m.Experiments })));
const HelpSheet = lazy(() => import('./panels/HelpSheet.tsx').then((m) => ({ default: m.HelpSheet })));
const StatusLine = lazy(() => import('./panels/StatusLine.tsx').then((m) => ({ default: m.StatusLine })));

/** The page: one screen at a time, and the way to the other. */
export function App() {
  const theme = useSelection((s) => s.theme);
  const tab = useSelection((s) => s.tab);
  const help = useSelection((s) => s.help);
  const route = useRoute();
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  return (
    <div className="lab" data-tab={tab} data-screen={route}>
      {route === 'lab' ? (
        <Lab />
      ) : (
        <Suspense fallback={<main className="experiments" aria-busy="true" />}>
          <Experiments />
        </Suspense>
      )}
      <Nav />
      <Tabs />
      {help && (
        <Suspense>
          <HelpSheet />
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
        <GroupStrip />
        <div className="stage-row">
          <EnvPanel />
          <Trajectory />
        </div>
      </main>
      <Inspector />
      <Suspense fallback={<section className="dock pane" data-pane="curves" />}>
        <Dock />
      </Suspense>
      <Suspense fallback={<footer className="status" />}>
        <StatusLine />
      </Suspense>
    </>
  );
}

const TABS: readonly { readonly tab: Tab; readonly label: string; readonly icon: IconName }[] = [
  { tab: 'watch', label: 'Watch', icon: 'watch' },
  { tab: 'curves', label: 'Curves', icon: 'curves' },
  { tab: 'tune', label: 'Tune', icon: 'tune' },
];

/** The lab's panels and the other screen, on a phone. */
function Tabs() {
  const tab = useSelection((s) => s.tab);
  const route = useRoute();
  const open = (next: Tab) => {
    useSelection.setState({ tab: next });
    if (route !== 'lab') location.assign(hashOf(useConfig.getState().wanted));
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
      <a href="#/ablate" aria-current={route === 'ablate' ? 'page' : undefined}>
        <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">
          <path d="M9 3h6M10 3v6L5 19a1.5 1.5 0 0 0 1.4 2h11.2a1.5 1.5 0 0 0 1.4-2L14 9V3" />
        </svg>
        Experiments
      </a>
    </nav>
  );
}
