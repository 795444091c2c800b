import type { RunConfig } from '../config/config.ts';
import { warmStartRecipe } from '../config/imitationRecipe.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { Weights } from '../model/architecture.ts';
import type { Policy } from '../model/policy.ts';
import { readWeightsFile } from '../model/weightsFile.ts';
import { SHIPPED_FILES, warmFile } from '../rl/warmFiles.ts';
import { warmStart } from '../rl/warmStart.ts';
import type { RunEvent } from '../wire/events.ts';
import type { Host } from './host.ts';
import { shippedTextWeights } from './textWeights.ts';

/**
 * Gives the policy of a model of its own the weights to begin with: shipped ones where a file fits, imitated further where it says so; else imitated now, else
 * random. Throws with the file's name where it is damaged.
 */
export async function startWeights(
  policy: Policy,
  env: ToolEnv,
  config: RunConfig,
  host: Host,
  onEvent: (event: RunEvent) => void,
): Promise<void> {
  const { seed, warmStart: from } = config;
  if (from === 'none') return;
  const shipped = from === 'train' ? null : await shippedStart(policy, config, host);
  if (shipped) policy.writeWeights(shipped);
  if (shipped && from === 'shipped') return;
  const recipe = warmStartRecipe(config);
  onEvent({ type: 'phase', phase: 'warm-start', update: 0, done: 0, total: recipe.steps });
  for await (const step of warmStart({ policy, env, seed, recipe, yieldToEvents: host.yieldToEvents })) {
    onEvent({ type: 'phase', phase: 'warm-start', update: 0, done: step, total: recipe.steps });
  }
}

/** The shipped weights that fit a configuration; null where none do. Throws with the file's name where it is damaged. */
async function shippedStart(policy: Policy, config: RunConfig, host: Host): Promise<Weights | null> {
  if (config.language === 'text') return shippedTextWeights(policy.model, config, host);
  const file = warmFile(config);
  const bytes = SHIPPED_FILES.includes(file) ? await host.shippedFile(`warm/${file}`) : null;
  return bytes && shippedWeights(policy, file, bytes);
}

/** Weights of a warm-start file. Throws with the file's name where it is damaged. */
function shippedWeights(policy: Policy, file: string, bytes: ArrayBuffer): Weights {
  try {
    return readWeightsFile(policy.model, bytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`warm/${file}: ${why} Fetch it anew, or set warmStart to train.`, { cause: error });
  }
}
