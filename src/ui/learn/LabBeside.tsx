import { lazy, Suspense } from 'react';
import { say } from '../../page/learn/catalogue.ts';
import { useExerciseRun } from '../../page/learn/exerciseRun.ts';
import { keepExerciseRun, returnLab, useReaderLab } from '../../page/learn/readerLab.ts';
import { Dock } from '../run/Dock.tsx';
import { EnvPanel } from '../run/EnvPanel.tsx';
import { GroupStrip } from '../run/GroupStrip.tsx';
import { Inspector } from '../run/Inspector.tsx';
import { RolloutPanel } from '../run/RolloutPanel.tsx';

const RunBanner = lazy(() => import('../run/RunBanner.tsx').then((m) => ({ default: m.RunBanner })));

/** The lab beside a chapter or an answer. */
export function LabBeside() {
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
      <Inspector />
      <Dock />
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
