import { notice } from '../shell/notices.ts';
import { rolloutLines } from './saved.ts';
import { sampleFile } from './sample.ts';
import { droppedFiles, pickedFiles } from './picked.ts';
import { type Look, openFiles, useRollouts } from './store.ts';

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
  const lines = await rolloutLines('all', 'own');
  if (lines.length === 0) notice('The run in the lab keeps no rollouts yet: run training first.');
  else openFiles([{ path: 'this run.jsonl', file: new Blob(lines) }]);
}

/** Opens files that were picked. */
export function openPicked(list: FileList | readonly File[]): void {
  openOrSay(pickedFiles(list));
}

/** Opens what was dropped, folders walked through; `entries` are taken from the event while it lasts. */
export async function openDropped(entries: readonly FileSystemEntry[], files: readonly File[]): Promise<void> {
  openOrSay(entries.length > 0 ? await droppedFiles(entries) : pickedFiles(files));
}

function openOrSay(files: ReturnType<typeof pickedFiles>): void {
  if (files.length > 0) openFiles(files);
  else notice('No file of rollouts is in there: want .jsonl, .ndjson, .json or .parquet.');
}
