import { csvOfCurves } from '../export/csv.ts';
import { download, fileName } from '../export/download.ts';
import { columnsOf, jsonOf } from '../export/wholeRun.ts';
import type { Run } from '../../runs/run.ts';

/** A run as a file. */
export function RunFiles({ run }: { readonly run: Run }) {
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
    </>
  );
}
