import { lazy, Suspense } from 'react';
import { Controls } from '../knobs/Controls.tsx';
import { EnvPanel } from '../rollout/EnvPanel.tsx';
import { GroupStrip } from '../rollout/GroupStrip.tsx';
import { Trajectory } from '../rollout/Trajectory.tsx';
import { Boundary } from '../shell/Boundary.tsx';
import { Header } from '../shell/Header.tsx';
import { useSelection } from '../shell/selectionStore.ts';
import { Banner } from './Banner.tsx';

// not needed to read the page: they come after the first paint
const BranchPanel = lazy(() => import('../rollout/BranchPanel.tsx').then((m) => ({ default: m.BranchPanel })));
const Inspector = lazy(() => import('../rollout/Inspector.tsx').then((m) => ({ default: m.Inspector })));
const StatusLine = lazy(() => import('../shell/StatusLine.tsx').then((m) => ({ default: m.StatusLine })));
const Dock = lazy(() => import('../curves/Dock.tsx').then((m) => ({ default: m.Dock })));

/** The view Rollout: controls, one rollout, inspector, curves, status. */
export function Lab() {
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
          <GroupStrip />
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
      <EnvPanel />
      <Trajectory />
    </div>
  );
}
