import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { PresetName } from '../src/config/presets.ts';
import { recordingFile } from '../src/config/recordings.ts';
import { readRecording, type Recording } from '../src/runs/recording.ts';

/** A recording as it is shipped. */
export function shippedRecording(preset: PresetName = 'number-hunt'): Recording {
  return readRecording(gunzipSync(readFileSync(`public/${recordingFile(preset)}`)).toString());
}
