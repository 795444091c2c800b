import { lazy, Suspense, useEffect } from 'react';
import { Announcer } from './Announcer.tsx';
import { Banner } from './panels/Banner.tsx';
import { Controls } from './panels/Controls.tsx';
import { EnvPanel } from './panels/EnvPanel.tsx';
import { GroupStrip } from './panels/GroupStrip.tsx';
import { Header } from './panels/Header.tsx';
import { Icon, type IconName } from './panels/Icon.tsx';
import { Inspector } from './panels/Inspector.tsx';
import { StatusLine } from './panels/StatusLine.tsx';
import { Trajectory } from './panels/Trajectory.tsx';
import { useSelection, type Tab } from './selection-store.ts';

// neither is needed to read the page: they come after the first paint
const Dock = lazy(() => import('./panels/Dock.tsx').then((m) => ({ default: m.Dock })));
const HelpSheet = lazy(() => import('./panels/HelpSheet.tsx').then((m) => ({ default: m.HelpSheet })));

/** The lab: controls, stage, inspector, curves, status. */
export function App() {
  const theme = useSelection((s) => s.theme);
  const tab = useSelection((s) => s.tab);
  const help = useSelection((s) => s.help);
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  return (
    <div className="lab" data-tab={tab}>
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
      <StatusLine />
      <Tabs />
      {help && (
        <Suspense>
          <HelpSheet />
        </Suspense>
      )}
      <Announcer />
    </div>
  );
}

const TABS: readonly { readonly tab: Tab; readonly label: string; readonly icon: IconName }[] = [
  { tab: 'watch', label: 'Watch', icon: 'watch' },
  { tab: 'curves', label: 'Curves', icon: 'curves' },
  { tab: 'tune', label: 'Tune', icon: 'tune' },
];

function Tabs() {
  const tab = useSelection((s) => s.tab);
  return (
    <nav className="tabs" aria-label="Panels">
      {TABS.map((entry) => (
        <button
          key={entry.tab}
          type="button"
          aria-current={tab === entry.tab ? 'page' : undefined}
          onClick={() => useSelection.setState({ tab: entry.tab })}
        >
          <Icon name={entry.icon} />
          {entry.label}
        </button>
      ))}
    </nav>
  );
}
