import { lazy, Suspense, useState } from 'react';
import { csvOfCurves } from '../export/curvesCsv.ts';
import { download, fileName } from '../export/fileDownload.ts';
import { columnsOf, jsonOf } from '../export/wholeRun.ts';
import { type PackedRun, packedRun } from '../../runs/packed.ts';
import type { Run } from '../../runs/run.ts';
import { ExportRun } from '../checkpoints/ExportRun.tsx';
import { currentRun } from '../run/liveRun.ts';
import { useLive } from '../run/liveStore.ts';
import { latestCheckpoint } from './saving.ts';

const HandoverDialog = lazy(() => import('../export/HandoverDialog.tsx').then((m) => ({ default: m.HandoverDialog })));

/** A run as a file; the one under way with its weights and as a folder for a cluster, too. */
export function RunFiles({ run }: { readonly run: Run }) {
  const live = useLive((s) => s.session === 'ready' && s.update > 0);
  const withWeights = live && currentRun()?.id === run.id && latestCheckpoint() !== null;
  const [handed, setHanded] = useState<PackedRun | null>(null);
  const name = (ending: string) => fileName(`run ${run.id}`, ending);
  return (
    <>
      <button
        type="button"
        className="quiet small"
        aria-label={`Run ${run.id} as CSV`}
        onClick={() => download(name('csv'), 'text/csv', csvOfCurves(columnsOf(run)))}
      >
        CSV
      </button>
      <button
        type="button"
        className="quiet small"
        aria-label={`Run ${run.id} as JSON`}
        onClick={() => download(name('json'), 'application/json', jsonOf(run))}
      >
        JSON
      </button>
      {withWeights && (
        <ExportRun run={latestCheckpoint} label={`Run ${run.id} as a checkpoint`} small>
          Checkpoint
        </ExportRun>
      )}
      {currentRun()?.id === run.id && (
        <button
          type="button"
          className="quiet small"
          aria-label={`Rollouts of run ${run.id}`}
          onClick={() => void showRollouts()}
        >
          Rollouts
        </button>
      )}
      {withWeights && (
        <button
          type="button"
          className="quiet small"
          aria-label={`Export run ${run.id} for a cluster`}
          onClick={() => setHanded(packedNow())}
        >
          Cluster …
        </button>
      )}
      <Suspense>{handed && <HandoverDialog run={handed} close={() => setHanded(null)} />}</Suspense>
    </>
  );
}

/** The run under way after its last whole update. */
function packedNow(): PackedRun | null {
  const latest = latestCheckpoint();
  return latest?.checkpoint ? packedRun({ ...latest, checkpoint: latest.checkpoint }) : null;
}

/** Opens the rollouts that the run under way keeps on their own screen, where they can be saved too. */
async function showRollouts(): Promise<void> {
  const { openRun } = await import('../rollouts/openRollouts.ts');
  await openRun();
  location.assign('#/rollouts');
}
