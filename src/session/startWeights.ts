import { DEFAULTS, pickKnobs, type RunConfig } from '../config/fields.ts';
import { TEXT_AGENT, TEXT_AGENT_SIZES } from '../config/textAgent.ts';
import type { ModelConfig, Weights } from '../model/architecture.ts';
import type { Policy } from '../model/policy.ts';
import { readWeightsFile } from '../model/weightsFile.ts';
import { SHIPPED_FILES, warmFile } from '../rl/warmFiles.ts';
import type { Host } from './host.ts';

/**
 * Gives a new policy of a run without a base checkpoint the weights it opens with, as `warmStart` says, and returns
 * whether the run then has to imitate demonstrations. `shipped`: the shipped weights, if a file fits. `continued`: the
 * same weights, to be trained further by imitation. `train`, and also `shipped` and `continued` if no file fits: its
 * random weights stay, to be trained by imitation. `none`: they stay. Throws an error with the file's name if a file is
 * damaged.
 */
export async function startWeights(
  policy: Policy,
  config: RunConfig,
  host: Pick<Host, 'shippedFile'>,
): Promise<{ readonly mustImitate: boolean }> {
  const { warmStart } = config;
  if (warmStart === 'none') return { mustImitate: false };
  const shipped = warmStart === 'train' ? null : await shippedStart(policy, config, host);
  if (shipped) policy.writeWeights(shipped);
  return { mustImitate: !shipped || warmStart !== 'shipped' };
}

// the knobs that define the shape of the network
const SHAPE_KNOBS = ['layers', 'width', 'heads', 'kvHeads', 'ffn', 'tieEmbeddings', 'attentionBias'] as const;

/** The shipped weights that fit a configuration; null if none do. The text model's value head is 0. */
async function shippedStart(
  { model }: Policy,
  config: RunConfig,
  { shippedFile }: Pick<Host, 'shippedFile'>,
): Promise<Weights | null> {
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
