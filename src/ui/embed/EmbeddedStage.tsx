import { lazy, Suspense } from 'react';
import { useSelection } from '../../page/view/selectionStore.ts';
import { StagePanel } from '../stage/Stage.tsx';

const PlayDialog = lazy(() => import('../play/PlayDialog.tsx').then((m) => ({ default: m.PlayDialog })));

export function EmbeddedStage() {
  const playing = useSelection((s) => s.playing);
  return (
    <div className="duel">
      <StagePanel />
      <Suspense>{playing && <PlayDialog />}</Suspense>
    </div>
  );
}
