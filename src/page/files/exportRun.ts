import { packedRun } from '../../runs/packed.ts';
import type { Run } from '../../runs/run.ts';
import { download, fileName } from '../browser/fileDownload.ts';
import { convert } from '../training/engine.ts';
import { notice } from '../browser/notices.ts';

/** Downloads a zipped Hugging Face folder, from which this page can also continue the run. Shows a notice if that fails. */
export async function exportRun(run: Run): Promise<void> {
  const { checkpoint } = run;
  if (!checkpoint) {
    notice(`Run ${run.id} was saved without weights, so it can’t be exported.`);
    return;
  }
  const packed = packedRun({ ...run, checkpoint });
  const answer = await convert({ kind: 'export', run: packed });
  if (answer.kind === 'exported') {
    const name = fileName(`run ${run.id || ''} update ${packed.update}`, 'zip');
    download(name, 'application/zip', new Blob([answer.zip], { type: 'application/zip' }));
  } else notice(`Run ${run.id} could not be exported: ${answer.kind === 'refused' ? answer.message : answer.kind}`);
}
