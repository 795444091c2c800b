import { type ComponentType, lazy, Suspense, useEffect } from 'react';
import { Boundary } from './Boundary.tsx';
import type { Route } from './hash.ts';
import { useLive } from './live-store.ts';
import { Nav } from './Nav.tsx';
import { Notices } from './Notices.tsx';
import { Banner } from './panels/Banner.tsx';
import { Controls } from './panels/Controls.tsx';
import { Header } from './panels/Header.tsx';
import { Trajectory } from './panels/Trajectory.tsx';
import { useRoute } from './route.ts';
import { useSelection } from './selection-store.ts';

// none of these is needed to read the page: they come after the first paint
const AddressNotes = lazy(() => import('./panels/AddressNotes.tsx').then((m) => ({ default: m.AddressNotes })));
const Announcer = lazy(() => import('./Announcer.tsx').then((m) => ({ default: m.Announcer })));
const BranchPanel = lazy(() => import('./panels/BranchPanel.tsx').then((m) => ({ default: m.BranchPanel })));
const Dock = lazy(() => import('./panels/Dock.tsx').then((m) => ({ default: m.Dock })));
const EnvPanel = lazy(() => import('./panels/EnvPanel.tsx').then((m) => ({ default: m.EnvPanel })));
const Experiments = lazy(() => import('./experiments/Experiments.tsx').then((m) => ({ default: m.Experiments })));
const GroupStrip = lazy(() => import('./panels/GroupStrip.tsx').then((m) => ({ default: m.GroupStrip })));
const HelpSheet = lazy(() => import('./panels/HelpSheet.tsx').then((m) => ({ default: m.HelpSheet })));
const Group = lazy(() => import('./group/Group.tsx').then((m) => ({ default: m.Group })));
const Inspector = lazy(() => import('./panels/Inspector.tsx').then((m) => ({ default: m.Inspector })));
const Runs = lazy(() => import('./runs/Runs.tsx').then((m) => ({ default: m.Runs })));
const Learn = lazy(() => import('./learn/Learn.tsx').then((m) => ({ default: m.Learn })));
const PlayDialog = lazy(() => import('./play/PlayDialog.tsx').then((m) => ({ default: m.PlayDialog })));
const Profile = lazy(() => import('./profile/Profile.tsx').then((m) => ({ default: m.Profile })));
const StatusLine = lazy(() => import('./panels/StatusLine.tsx').then((m) => ({ default: m.StatusLine })));
const Tabs = lazy(() => import('./Tabs.tsx').then((m) => ({ default: m.Tabs })));
const Tour = lazy(() => import('./tour/Tour.tsx').then((m) => ({ default: m.Tour })));
const Update = lazy(() => import('./update/Update.tsx').then((m) => ({ default: m.Update })));
const Timeline = lazy(() => import('./panels/Timeline.tsx').then((m) => ({ default: m.Timeline })));

const SCREENS: Readonly<Record<Exclude<Route, 'lab'>, readonly [ComponentType, name: string]>> = {
  group: [Group, 'The group'],
  update: [Update, 'The update'],
  runs: [Runs, 'The runs'],
  ablate: [Experiments, 'The experiments'],
  learn: [Learn, 'The chapter'],
  profile: [Profile, 'The profile'],
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
  const [Screen, name] = route === 'lab' ? [Lab, 'The lab'] : SCREENS[route];
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  return (
    <div className="lab" data-tab={tab} data-screen={route} data-hide={hide.replaceAll(',', ' ')}>
      <Boundary key={route} name={name} area="1 / 1 / -1 / -1">
        <Suspense fallback={<main aria-busy="true" />}>
          <Screen />
        </Suspense>
      </Boundary>
      <Nav />
      <Notices />
      <Boundary name="Something beside this screen">
        <Suspense fallback={<nav className="tabs" aria-label="Panels" />}>
          <Tabs />
        </Suspense>
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
          <AddressNotes />
          <Announcer />
        </Suspense>
      </Boundary>
    </div>
  );
}

/** Controls, stage, inspector, curves, status. */
function Lab() {
  return (
    <>
      <Boundary name="The bar above" area="header">
        <Header />
      </Boundary>
      <Boundary name="The controls" area="controls">
        <Controls />
      </Boundary>
      <main className="stage pane" data-pane="watch">
        <Boundary name="What stands above the rollouts">
          <Banner />
        </Boundary>
        <Boundary name="The rollouts">
          <History />
          <Suspense fallback={null}>
            <GroupStrip />
          </Suspense>
          <Stage />
        </Boundary>
      </main>
      <Boundary name="The inspector" area="inspector">
        <Suspense fallback={<section className="inspector panel" />}>
          <Inspector />
        </Suspense>
      </Boundary>
      <Boundary name="The curves" area="dock">
        <Suspense fallback={<section className="dock pane" data-pane="curves" />}>
          <Dock />
        </Suspense>
      </Boundary>
      <Boundary name="The status line" area="status">
        <Suspense fallback={<footer className="status" />}>
          <StatusLine />
        </Suspense>
      </Boundary>
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
