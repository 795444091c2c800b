import type { PresetName } from './presets.ts';

/** How a preset was recorded, or why it was not. */
export type RecordingPlan =
  | {
      readonly updates?: number; // where they are fewer than the preset's
      readonly facts?: string; // a shipped file, in the place of a person's own
    }
  | { readonly none: string };

const WITH_A_CHECKPOINT = 'It needs a language model that you open, so there is no recording of it.';

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
  'smollm2-calculator': { none: WITH_A_CHECKPOINT },
  'smollm2-hunt': { none: WITH_A_CHECKPOINT },
  'smollm2-search': { none: WITH_A_CHECKPOINT },
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

/** The seed of all recordings. */
export const RECORDED_SEED = 7;

/** Where a preset's recording lies, seen from the page: gzipped JSON, under a name that no server takes for an encoding. */
export function recordingFile(preset: PresetName): string {
  return `recordings/${preset}.recording`;
}
