import { parseConfig } from './config.ts';
import type { RunConfig } from './fields.ts';
import { YOUR_ENVIRONMENT } from './environments.ts';
import { PRESETS, type PresetName, type RunPreset } from './presets.ts';

/** How a preset was recorded. */
export interface RecordingPlan {
  readonly updates?: number; // where they are fewer than the preset's
  readonly facts?: string; // a shipped file, in the place of a person's own
  readonly beside?: string; // the checkpoint that the run learned beside, as a sentence names it
}

const SMOLLM2 = { beside: 'SmolLM2-135M-Instruct' } as const;

/** Of every preset its recording in `public/recordings`, made by `npm run record`, on the CPU and with seed 7. */
export const RECORDINGS: Readonly<Record<PresetName, RecordingPlan>> = {
  'number-hunt': {},
  'multi-hop': {},
  'world-facts': {},
  'your-facts': { facts: 'worlds/sample.csv' },
  'frozen-lake': {},
  sokoban: { updates: 60 },
  bandit: {},
  'bandit-reversed': {},
  calculator: {},
  countdown: {},
  'document-search': { updates: 40 },
  'number-hunt-text': { updates: 30 },
  'calculator-text': { updates: 30 },
  'search-text': { updates: 30 },
  'smollm2-calculator': { ...SMOLLM2, updates: 10 },
  'smollm2-hunt': { ...SMOLLM2, updates: 4 },
  'smollm2-search': SMOLLM2,
  'number-hunt-ppo': {},
  'multi-hop-grpo': {},
  'break-it': {},
  'break-it-ppo': {},
  'starpo-s': {},
  'grpo-s': {},
  rlhf: { updates: 20 },
  'rlhf-hack': { updates: 20 },
  'noisy-hunt': {},
};

/** The preset whose recording is shown where a run of this one is about to begin: of an environment that a person wrote there is none. */
export function recordedPreset(preset: RunPreset): PresetName {
  return preset === YOUR_ENVIRONMENT ? 'number-hunt' : preset;
}

const SEED = 7;
const EVALUATED = 128; // held-out tasks; beside a checkpoint, where they take minutes, as many as the preset has

/** The knobs a preset is recorded with. */
export function recordedConfig(preset: PresetName): RunConfig {
  const { updates, beside } = RECORDINGS[preset];
  const evalTasks = beside === undefined && { evalTasks: EVALUATED };
  return parseConfig({
    ...{ ...PRESETS[preset].set, ...(updates && { updates }) },
    ...{ backend: 'cpu', seed: SEED, ...evalTasks },
  });
}

/** Where a preset's recording lies, seen from the page: gzipped JSON, under a name that no server takes for an encoding. */
export function recordingFile(preset: PresetName): string {
  return `recordings/${preset}.recording`;
}
