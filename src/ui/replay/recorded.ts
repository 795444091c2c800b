import { readRecording } from '../../runs/recording.ts';
import type { Run } from '../../runs/run.ts';

/** The shipped recording: what there is to look at, and to save, before a run of one's own. Throws where it cannot be loaded or read. */
export async function recordedRun(): Promise<Run> {
  const response = await fetch(`${import.meta.env.BASE_URL}recording.json`);
  if (!response.ok) throw new Error(`The recording could not be loaded: ${response.status}.`);
  return readRecording(await response.text());
}
