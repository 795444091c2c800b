import { parseConfig } from './config.ts';
import type { RunConfig } from './fields.ts';
import { YOUR_ENVIRONMENT } from './environments.ts';
import { type PresetName, presetNamed, type RunPreset } from './presets.ts';

/** The preset whose recording is shown where a run of this one is about to begin: of an environment that a person wrote there is none. */
export function recordedPreset(preset: RunPreset): PresetName {
  return preset === YOUR_ENVIRONMENT ? 'number-hunt' : preset;
}

const SEED = 7;
const EVALUATED = 128; // held-out tasks; beside a checkpoint, where they take minutes, as many as the preset has

/** The knobs a preset is recorded with. */
export function recordedConfig(preset: PresetName): RunConfig {
  const { set, recording: { updates, beside } = {} } = presetNamed(preset);
  const evalTasks = beside === undefined && { evalTasks: EVALUATED };
  return parseConfig({
    ...{ ...set, ...(updates && { updates }) },
    ...{ backend: 'cpu', seed: SEED, ...evalTasks },
  });
}

/** Where a preset's recording lies, seen from the page: gzipped JSON, under a name that no server takes for an encoding. */
export function recordingFile(preset: PresetName): string {
  return `recordings/${preset}.recording`;
}
