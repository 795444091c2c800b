import type { PresetName } from '../../config/presets.ts';
import { recordingFile } from '../../config/recordings.ts';
import { readRecording, type Recording } from '../../runs/recording.ts';

const DEFAULT_PRESET: PresetName = 'number-hunt';
const GZIP_MAGIC = [0x1f, 0x8b] as const; // first bytes of a gzip file

// the recording asked for last, kept because two screens may ask for it
let lastRequest: { readonly preset: PresetName; readonly recording: Promise<Recording> } | null = null;

/** Loads a shipped recording, which the page shows before the reader's own run. Rejects if it can't be loaded or read. */
export function shippedRecording(preset: PresetName = DEFAULT_PRESET): Promise<Recording> {
  if (lastRequest?.preset === preset) return lastRequest.recording;
  const recording = load(preset);
  lastRequest = { preset, recording };
  // after a failure, the next call tries again
  recording.catch(() => {
    if (lastRequest?.recording === recording) lastRequest = null;
  });
  return recording;
}

async function load(preset: PresetName): Promise<Recording> {
  const response = await fetch(`${import.meta.env.BASE_URL}${recordingFile(preset)}`);
  if (!response.ok) throw new Error(`The recording could not be loaded: ${response.status}.`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isGzip = GZIP_MAGIC.every((byte, i) => bytes[i] === byte); // a server may have unpacked it on the way
  if (!isGzip) return readRecording(new TextDecoder().decode(bytes));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return readRecording(await new Response(unpacked).text());
}
