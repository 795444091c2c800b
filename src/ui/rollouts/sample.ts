import { ownLines } from '../../rollouts/writeOwn.ts';
import type { PickedFile } from '../../wire/reading.ts';
import { readRecording } from '../../runs/recording.ts';
import type { Run } from '../../runs/run.ts';

/** The shipped recording: what there is to look at, and to save, before a run of one's own. */
export async function recordedRun(): Promise<Run> {
  const response = await fetch(`${import.meta.env.BASE_URL}recording.json`);
  if (!response.ok) throw new Error(`The recording could not be loaded: ${response.status}.`);
  return readRecording(await response.text());
}

/** Its rollouts as a file of this project's own format. */
export async function sampleFile(): Promise<PickedFile> {
  const { batches, vocabulary } = await recordedRun();
  const lines = batches.flatMap((kept) => ownLines(kept, vocabulary));
  return { path: 'sample.jsonl', file: new Blob(lines) };
}
