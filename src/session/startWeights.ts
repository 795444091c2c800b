import { DEFAULTS, picked, type RunConfig } from '../config/fields.ts';
import { warmStartRecipe } from '../config/imitationRecipe.ts';
import { TEXT_AGENT, TEXT_AGENT_SIZES } from '../config/textAgent.ts';
import type { ToolEnv } from '../envs/env.ts';
import type { ModelConfig, Weights } from '../model/architecture.ts';
import type { Policy } from '../model/policy.ts';
import { readWeightsFile } from '../model/weightsFile.ts';
import { SHIPPED_FILES, warmFile } from '../rl/warmFiles.ts';
import { warmStart } from '../rl/warmStart.ts';
import type { RunEvent } from '../wire/events.ts';
import type { Host } from './host.ts';

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

// what a network is made of
const SHAPE = ['layers', 'width', 'heads', 'kvHeads', 'ffn', 'tieEmbeddings', 'attentionBias'] as const;

/** The shipped weights that fit a configuration; null where none do. The value head of the text model’s is 0. */
async function shippedStart({ model }: Policy, config: RunConfig, { shippedFile }: Host): Promise<Weights | null> {
  if (config.language === 'text') {
    const shape = { ...picked(DEFAULTS, SHAPE), ...TEXT_AGENT_SIZES };
    if (SHAPE.some((name) => config[name] !== shape[name])) return null;
    return shippedWeights(model, `${TEXT_AGENT}/model.safetensors`, shippedFile);
  }
  const file = warmFile(config);
  return SHIPPED_FILES.includes(file) ? shippedWeights(model, `warm/${file}`, shippedFile) : null;
}

/** The weights of a file; null where there is none. Throws with the file's name where it is damaged. */
async function shippedWeights(
  model: ModelConfig,
  file: string,
  shippedFile: Host['shippedFile'],
): Promise<Weights | null> {
  const bytes = await shippedFile(file);
  if (!bytes) return null;
  try {
    return readWeightsFile(model, bytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${file}: ${why} Fetch it anew, or set warmStart to train.`, { cause: error });
  }
}
