import { ownLines } from '../../rollouts/writeOwn.ts';
import type { PickedFile } from '../../wire/readerMessages.ts';
import { recordedRun } from '../replay/shippedRecording.ts';

/** The rollouts of the shipped recording as a file of this project's own format. */
export async function sampleFile(): Promise<PickedFile> {
  const { batches, vocabulary } = await recordedRun();
  const lines = batches.flatMap((kept) => ownLines(kept, vocabulary));
  return { path: 'sample.jsonl', file: new Blob(lines) };
}
