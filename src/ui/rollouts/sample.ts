import { ownLines } from '../../rollouts/writeOwn.ts';
import type { PickedFile } from '../../wire/reading.ts';
import { readRecording } from '../../runs/recording.ts';

/** The rollouts of the shipped recording as a file of this project's own format: something to look at without a file of one's own. */
export async function sampleFile(): Promise<PickedFile> {
  const response = await fetch(`${import.meta.env.BASE_URL}recording.json`);
  if (!response.ok) throw new Error(`The sample could not be loaded: ${response.status}.`);
  const { batches, vocabulary } = readRecording(await response.text());
  const lines = batches.flatMap((kept) => ownLines(kept, vocabulary));
  return { path: 'sample.jsonl', file: new Blob(lines) };
}
