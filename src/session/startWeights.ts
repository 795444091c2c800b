import { DEFAULTS, pickKnobs, type RunConfig } from '../config/fields.ts';
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
 * Gives the policy of a run without a base checkpoint its starting weights, as `warmStart` says. `shipped`: the shipped
 * weights, if a file fits. `continued`: the same weights, trained further by imitation. `train`, and also `shipped` and
 * `continued` if no file fits: random weights, trained by imitation. `none`: random weights. Throws an error with the
 * file's name if a file is damaged.
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

// the knobs that define the shape of the network
const SHAPE_KNOBS = ['layers', 'width', 'heads', 'kvHeads', 'ffn', 'tieEmbeddings', 'attentionBias'] as const;

/** The shipped weights that fit a configuration; null if none do. The text model's value head is 0. */
async function shippedStart({ model }: Policy, config: RunConfig, { shippedFile }: Host): Promise<Weights | null> {
  if (config.language === 'text') {
    const shape = { ...pickKnobs(DEFAULTS, SHAPE_KNOBS), ...TEXT_AGENT_SIZES };
    if (SHAPE_KNOBS.some((name) => config[name] !== shape[name])) return null;
    return shippedWeights(model, `${TEXT_AGENT}/model.safetensors`, shippedFile);
  }
  const file = warmFile(config);
  return SHIPPED_FILES.includes(file) ? shippedWeights(model, `warm/${file}`, shippedFile) : null;
}

/** The weights of a file; null if there is no such file. Throws an error with the file's name if it is damaged. */
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
    throw new Error(`${file}: ${why} Fetch it again, or set warmStart to train.`, { cause: error });
  }
}
