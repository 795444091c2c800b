import type { PresetName } from '../../config/presets.ts';
import { recordingFile } from '../../config/recordings.ts';
import { readRecording, type Recording } from '../../runs/recording.ts';

const FIRST: PresetName = 'number-hunt';
const GZIP = [0x1f, 0x8b] as const; // first bytes of a gzip file

// the last one asked for, because two screens may ask for it
let newest: { readonly preset: PresetName; readonly recording: Promise<Recording> } | null = null;

/**
 * Loads a shipped recording, which the page shows before the reader's own run. Rejects if it can't be loaded or read.
 */
export function recordedRun(preset: PresetName = FIRST): Promise<Recording> {
  if (newest?.preset === preset) return newest.recording;
  const recording = load(preset);
  newest = { preset, recording };
  // after a failure, the next call tries again
  recording.catch(() => {
    if (newest?.recording === recording) newest = null;
  });
  return recording;
}

async function load(preset: PresetName): Promise<Recording> {
  const response = await fetch(`${import.meta.env.BASE_URL}${recordingFile(preset)}`);
  if (!response.ok) throw new Error(`The recording could not be loaded: ${response.status}.`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const packed = GZIP.every((byte, i) => bytes[i] === byte); // a server may have unpacked it on the way
  if (!packed) return readRecording(new TextDecoder().decode(bytes));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return readRecording(await new Response(unpacked).text());
}
