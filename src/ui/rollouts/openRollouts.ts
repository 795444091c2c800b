import type { KeptBatch } from '../../domain/batch.ts';
import { ownLines } from '../../rollouts/writeOwn.ts';
import { notice } from '../shell/notices.ts';
import { rolloutLines } from './saveRollouts.ts';
import { chosenFiles, type PlacedFile } from '../parts/placedFiles.ts';
import { type Look, openFiles, useRollouts } from './rolloutFileStore.ts';
import type { PickedFile } from '../../wire/readerMessages.ts';
import { recordedRun } from '../replay/shippedRecording.ts';

/** Opens the rollouts of the shipped recording, and looks at what was asked for. */
export async function openSample(
  asked: { readonly row: number | null; readonly look: Look } = { row: null, look: 'rollout' },
): Promise<void> {
  try {
    openFiles([await sampleFile()]);
    useRollouts.setState({ ...asked, sample: true });
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error));
  }
}

/** Opens the rollouts that the run in the lab keeps. */
export async function openRun(): Promise<void> {
  const { file, lines } = await rolloutLines('all', 'own');
  if (lines.length === 0) notice('The run in the lab has no rollouts yet. Run training first.');
  else openFiles([{ path: file, file: new Blob([...lines]) }]);
}

/** Opens rollouts that the page holds, and shows their screen. */
export function openBatches(name: string, kept: readonly KeptBatch[], vocabulary: readonly string[]): void {
  openFiles([{ path: `${name}.jsonl`, file: new Blob(kept.flatMap((each) => ownLines(each, vocabulary))) }]);
  location.assign('#/rollouts');
}

/** Opens files that were picked. */
export function openPicked(list: FileList | readonly File[]): void {
  openPlaced(chosenFiles(list));
}

const READ = /\.(jsonl|ndjson|json|parquet)$/i;

/** Opens what was dropped or picked; of a folder the files that may hold rollouts. */
export function openPlaced(files: readonly PlacedFile[]): void {
  const fit = files.filter(({ path }) => READ.test(path));
  // one file by itself is tried whatever it is called
  openOrSay(fit.length > 0 || files.length > 1 ? fit : files);
}

function openOrSay(files: readonly PlacedFile[]): void {
  if (files.length > 0) openFiles(files);
  else notice('No rollout files found. Drop .jsonl, .ndjson, .json or .parquet files.');
}

/** The rollouts of the shipped recording as a file of this project's own format. */
async function sampleFile(): Promise<PickedFile> {
  const { batches, vocabulary } = await recordedRun();
  const lines = batches.flatMap((kept) => ownLines(kept, vocabulary));
  return { path: 'sample.jsonl', file: new Blob(lines) };
}
