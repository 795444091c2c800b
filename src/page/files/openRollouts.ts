import type { KeptBatch } from '../../domain/batch.ts';
import { ROLLOUT_FILE } from '../../rollouts/fileRefusal.ts';
import { ownLines } from '../../rollouts/writeOwn.ts';
import { notice } from '../browser/notices.ts';
import { rolloutLines } from './saveRollouts.ts';
import { chosenFiles, type FileWithPath } from '../browser/filesWithPaths.ts';
import type { RolloutsPlace } from './rolloutsAddress.ts';
import { openFiles, useRollouts } from './rolloutFileStore.ts';
import type { PickedFile } from '../../wire/readerMessages.ts';
import { shippedRecording } from '../view/shippedRecording.ts';

export async function openSample(
  view: Omit<RolloutsPlace, 'sample'> = { row: null, beside: null, look: 'rollout' },
): Promise<void> {
  try {
    openFiles([await sampleFile()]);
    useRollouts.setState({ ...view, sample: true });
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error));
  }
}

export async function openRun(): Promise<void> {
  const { file, lines } = await rolloutLines('all', 'own');
  if (lines.length === 0) notice('The run in the lab has no rollouts yet. Run training first.');
  else openFiles([{ path: file, file: new Blob([...lines]) }]);
}

export function openBatches(name: string, batches: readonly KeptBatch[], vocabulary: readonly string[]): void {
  openFiles([{ path: `${name}.jsonl`, file: new Blob(batches.flatMap((each) => ownLines(each, vocabulary))) }]);
  location.assign('#/rollouts');
}

export function openPicked(list: FileList | readonly File[]): void {
  openPlaced(chosenFiles(list));
}

/** All files that were dropped or picked last, with those that hold no rollouts: a run's settings may be among them. */
export let placedFiles: readonly FileWithPath[] = [];

/** Opens dropped or picked files. If there are several, only those whose extension fits. */
export function openPlaced(files: readonly FileWithPath[]): void {
  placedFiles = files;
  const rolloutFiles = files.filter(({ path }) => ROLLOUT_FILE.test(path));
  // a single file is tried whatever its extension
  openOrNotify(rolloutFiles.length > 0 || files.length > 1 ? rolloutFiles : files);
}

function openOrNotify(files: readonly FileWithPath[]): void {
  if (files.length > 0) openFiles(files);
  else notice('No rollout files found. Drop .jsonl, .ndjson, .json, .jsonl.zst, .jsonl.gz or .parquet files.');
}

/** The rollouts of the shipped recording as a file of this project's own format. */
async function sampleFile(): Promise<PickedFile> {
  const { batches, vocabulary } = await shippedRecording();
  const lines = batches.flatMap((batch) => ownLines(batch, vocabulary));
  return { path: 'sample.jsonl', file: new Blob(lines) };
}
