import { lazy, Suspense } from 'react';
import { useSelection } from '../../page/view/selectionStore.ts';
import { StagePanel } from '../stage/Stage.tsx';

const PlayDialog = lazy(() => import('../play/PlayDialog.tsx').then((m) => ({ default: m.PlayDialog })));

/** An agent before and after training at one task, with its curve. The reader can train it and play against it. */
export function EmbeddedStage() {
  const playing = useSelection((s) => s.playing);
  return (
    <div className="duel">
      <StagePanel />
      <Suspense>{playing && <PlayDialog />}</Suspense>
    </div>
  );
}
