import { lazy, Suspense, useEffect } from 'react';
import { EnvPanel } from '../rollout/EnvPanel.tsx';
import { Trajectory } from '../rollout/Trajectory.tsx';
import { RecordedUpdates } from '../replay/RecordedUpdates.tsx';
import { useLive } from '../run/liveStore.ts';
import { AddressNotes } from '../shell/AddressNotes.tsx';
import { Boundary } from '../shell/Boundary.tsx';
import { EmbedBar } from './EmbedBar.tsx';
import { type Panel, PANELS } from './panels.ts';
import '../styles/embed.css';

const EmbeddedStage = lazy(() => import('./EmbeddedStage.tsx').then((m) => ({ default: m.EmbeddedStage })));
const EmbeddedCurve = lazy(() => import('./EmbeddedCurve.tsx').then((m) => ({ default: m.EmbeddedCurve })));
const EmbeddedExercise = lazy(() => import('./EmbeddedExercise.tsx').then((m) => ({ default: m.EmbeddedExercise })));

/** One panel, as large as the frame it stands in, with a way to the whole page. */
export function Embed({ panel }: { readonly panel: Panel }) {
  useEffect(() => {
    document.documentElement.dataset['embed'] = panel;
  }, [panel]);
  return (
    <div className="embed" data-panel={panel}>
      <EmbedBar panel={panel} />
      <main className="embed-panel" aria-label={PANELS[panel].label}>
        <Boundary name={`The panel “${PANELS[panel].label}”`}>
          <Suspense fallback={<div aria-busy="true" />}>
            <Shown panel={panel} />
          </Suspense>
        </Boundary>
      </main>
      <AddressNotes />
    </div>
  );
}

function Shown({ panel }: { readonly panel: Panel }) {
  switch (panel) {
    case 'stage':
      return <EmbeddedStage />;
    case 'rollout':
      return <EmbeddedRollout />;
    case 'curve':
      return <EmbeddedCurve />;
    case 'exercise':
      return <EmbeddedExercise />;
    default:
      return panel satisfies never;
  }
}

/** The rollout in view with its board; a recording's updates to choose from. */
function EmbeddedRollout() {
  const untouched = useLive((s) => s.session === 'none');
  return (
    <>
      {untouched && <RecordedUpdates />}
      <div className="stage-row">
        <EnvPanel />
        <Trajectory />
      </div>
    </>
  );
}
