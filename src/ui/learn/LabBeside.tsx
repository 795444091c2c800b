import { lazy, Suspense } from 'react';
import type { MetricName } from '../../domain/metrics.ts';
import { say } from '../../page/learn/catalogue.ts';
import { useExerciseRun } from '../../page/learn/exerciseRun.ts';
import { keepExerciseRun, returnLab, useReaderLab } from '../../page/learn/readerLab.ts';
import { EnvPanel } from '../run/EnvPanel.tsx';
import { GroupStrip } from '../run/GroupStrip.tsx';
import { RolloutPanel } from '../run/RolloutPanel.tsx';

// what is read comes before what it is seen in
const Dock = lazy(() => import('../run/Dock.tsx').then((m) => ({ default: m.Dock })));
const Inspector = lazy(() => import('../run/Inspector.tsx').then((m) => ({ default: m.Inspector })));
const RunBanner = lazy(() => import('../run/RunBanner.tsx').then((m) => ({ default: m.RunBanner })));

/** The lab beside a chapter or an answer; `metrics`: those that the answer names. */
export function LabBeside({ metrics }: { readonly metrics?: readonly MetricName[] | undefined }) {
  const exerciseHasLab = useReaderLab((s) => s.lab !== null); // then the saved run returns together with the lab
  return (
    <>
      <section className="stage pane learn-stage" data-pane="watch" aria-label="Lab">
        <Suspense>
          <RunBanner offersSavedRuns={!exerciseHasLab} />
        </Suspense>
        <GroupStrip />
        <div className="stage-row">
          <EnvPanel />
          <RolloutPanel />
        </div>
      </section>
      <Suspense fallback={<section className="inspector small scrolls panel" />}>
        <Inspector />
      </Suspense>
      <Suspense fallback={<section className="dock pane" data-pane="curves" />}>
        <Dock answer={metrics} />
      </Suspense>
    </>
  );
}

/** Shown while an exercise uses the lab: gives it back, or keeps the exercise's run. */
export function LabReturn() {
  const exerciseHasLab = useReaderLab((s) => s.lab !== null);
  const running = useExerciseRun((s) => s.running);
  if (!exerciseHasLab) return null;
  return (
    <div className="stack small quote borrowed" role="status">
      <p>{say('borrowed')}</p>
      <div className="row">
        <button type="button" className="small" disabled={running} onClick={() => void returnLab()}>
          {say('giveBack')}
        </button>
        <button type="button" className="quiet small" disabled={running} onClick={keepExerciseRun}>
          {say('keep')}
        </button>
      </div>
    </div>
  );
}
