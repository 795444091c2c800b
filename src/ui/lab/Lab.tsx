import { lazy, Suspense } from 'react';
import { EnvPanel } from '../run/EnvPanel.tsx';
import { GroupStrip } from '../run/GroupStrip.tsx';
import { RolloutPanel } from '../run/RolloutPanel.tsx';
import { Boundary } from '../parts/Boundary.tsx';
import { Header } from '../frame/Header.tsx';
import { useSelection } from '../../page/view/selectionStore.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { isUntouched, useLive } from '../../page/view/liveStore.ts';
import './lab.css';

// not needed to read the page, so loaded after the first paint
const BranchPanel = lazy(() => import('../run/BranchPanel.tsx').then((m) => ({ default: m.BranchPanel })));
const Inspector = lazy(() => import('../run/Inspector.tsx').then((m) => ({ default: m.Inspector })));
const StatusLine = lazy(() => import('../frame/StatusLine.tsx').then((m) => ({ default: m.StatusLine })));
const Dock = lazy(() => import('../run/Dock.tsx').then((m) => ({ default: m.Dock })));

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
          <LabBanner />
        </Boundary>
        <Boundary name="The rollouts">
          <GroupStrip />
          <RolloutArea />
        </Boundary>
      </main>
      <Boundary name="The inspector" area="inspector">
        <Suspense fallback={<section className="inspector small scrolls panel" />}>
          <Inspector />
        </Suspense>
      </Boundary>
      <Boundary name="The curves" area="dock">
        <Suspense fallback={<section className="dock pane" data-pane="curves" />}>
          <Dock />
        </Suspense>
      </Boundary>
      <Boundary name="The status line" area="status">
        <Suspense fallback={<footer className="status line gap-6 one-line soft small" />}>
          <StatusLine />
        </Suspense>
      </Boundary>
    </>
  );
}

/** A rollout and its environment, or a branch beside the rollout that it starts from. */
function RolloutArea() {
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
      <RolloutPanel />
    </div>
  );
}

const FactsSource = lazy(() => import('../knobs/FactsSource.tsx').then((m) => ({ default: m.FactsSource })));
const Replay = lazy(() => import('./Replay.tsx').then((m) => ({ default: m.Replay })));
const RunBanner = lazy(() => import('../run/RunBanner.tsx').then((m) => ({ default: m.RunBanner })));

/** The top of the lab. It shows how the run goes or what went wrong; on a page without a run, a welcome. */
function LabBanner() {
  const needsFacts = useConfig((s) => s.wanted.env === 'your-facts' && s.applied?.env !== 'your-facts');
  const started = useLive((s) => s.session !== 'none');
  const untouched = useLive(isUntouched);
  return (
    <>
      {needsFacts && started && (
        <div className="panel">
          <Suspense>
            <FactsSource />
          </Suspense>
        </div>
      )}
      <Suspense>
        <RunBanner />
      </Suspense>
      {/* not a Suspense fallback: that is replaced once RunBanner has loaded, and a focused button would lose focus */}
      {untouched &&
        (needsFacts ? (
          <div className="welcome panel">
            <Suspense>
              <FactsSource />
              <Replay />
            </Suspense>
          </div>
        ) : (
          <Welcome />
        ))}
    </>
  );
}

function Welcome() {
  return (
    <section className="welcome panel" aria-labelledby="welcome">
      <div>
        <h2 id="welcome" className="headline strong">
          Watch a tiny language agent learn to use a tool
        </h2>
        <details>
          <summary className="small soft">What it does</summary>
          <p>
            A small transformer plays a search game: it <b className="ink-call">calls a tool</b>, reads{' '}
            <b className="ink-observation">what comes back</b>, and is rewarded when it solves the task. It trains here,
            in this tab.
          </p>
        </details>
      </div>
      <Suspense>
        <Replay />
      </Suspense>
    </section>
  );
}

// not needed to read the page, so loaded right after the first paint
const ControlPanels = lazy(() => import('../knobs/ControlPanels.tsx').then((m) => ({ default: m.ControlPanels })));

function Controls() {
  return (
    <section className="controls col low small pane" aria-label="Controls" data-pane="tune">
      <Suspense>
        <ControlPanels />
      </Suspense>
    </section>
  );
}
