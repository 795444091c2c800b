import { DEFAULTS, type RunConfig } from './fields.ts';
import { YOUR_ENVIRONMENT } from './environments.ts';
import { type PresetName, presetNamed, type RunPreset } from './presets.ts';

/** Shown before a run of `preset` begins. A person's own environment has no recording, so number hunt's is shown. */
export function recordedPreset(preset: RunPreset): PresetName {
  return preset === YOUR_ENVIRONMENT ? 'number-hunt' : preset;
}

const SEED = 7;
// Held-out tasks of an evaluation. With a checkpoint an evaluation takes minutes, so it plays only as many tasks as the preset sets.
const EVALUATED_TASKS = 128;

export function recordedConfig(preset: PresetName): RunConfig {
  const { set, recording: { updates, checkpointName } = {} } = presetNamed(preset);
  const evalTasks = checkpointName === undefined && { evalTasks: EVALUATED_TASKS };
  return { ...DEFAULTS, ...set, ...(updates && { updates }), backend: 'cpu', seed: SEED, ...evalTasks };
}

/** Relative to the page. It is gzipped JSON; its ending keeps servers from treating the gzip as a transfer encoding. */
export function recordingFile(preset: PresetName): string {
  return `recordings/${preset}.recording`;
}
