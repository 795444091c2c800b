import type { RunConfig } from '../config/config.ts';
import { contradictions } from '../config/contradictions.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { BackendError } from '../model/policy.ts';

/** The fewest prompts of a batch that the size is lowered to. With fewer, the run should say what to shorten. */
const MIN_PROMPTS = 4;

/**
 * Opens a run with `open`. If a person's environment has episodes that are too long for the memory, tries again with
 * half as many prompts in a batch. Returns the knobs that fit. Throws what `open` throws if nothing fits.
 */
export async function withFittingBatch<T>(
  config: RunConfig,
  open: (config: RunConfig) => Promise<T>,
): Promise<{ readonly config: RunConfig; readonly opened: T }> {
  for (let fitting = config; ;) {
    try {
      return { config: fitting, opened: await open(fitting) };
    } catch (error) {
      const smaller = { ...fitting, prompts: fitting.prompts / 2 };
      const canShrink = smaller.prompts >= MIN_PROMPTS && contradictions(smaller).length === 0;
      if (fitting.env !== YOUR_ENVIRONMENT || !isMemoryError(error) || !canShrink) throw error;
      fitting = smaller;
    }
  }
}

/** Whether a smaller batch may help: a backend's own limit, or an array that can't be allocated. */
function isMemoryError(error: unknown): boolean {
  return error instanceof BackendError ? error.fields.includes('prompts') : error instanceof RangeError;
}
