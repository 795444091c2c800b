import { DEFAULTS, picked, type RunConfig } from '../config/fields.ts';
import { TEXT_AGENT, TEXT_AGENT_SIZES } from '../config/textAgent.ts';
import type { ModelConfig, Weights } from '../model/architecture.ts';
import { readWeightsFile } from '../model/weightsFile.ts';
import type { Host } from './host.ts';

// what a network is made of
const SHAPE = ['layers', 'width', 'heads', 'kvHeads', 'ffn', 'tieEmbeddings', 'attentionBias'] as const;

/** The weights of the shipped text model, its value head 0; null where the configuration is of another size. Throws with the file's name where it is damaged. */
export async function shippedTextWeights(
  model: ModelConfig,
  config: RunConfig,
  { shippedFile }: Pick<Host, 'shippedFile'>,
): Promise<Weights | null> {
  const shape = { ...picked(DEFAULTS, SHAPE), ...TEXT_AGENT_SIZES };
  if (SHAPE.some((name) => config[name] !== shape[name])) return null;
  const file = `${TEXT_AGENT}/model.safetensors`;
  const bytes = await shippedFile(file);
  if (!bytes) return null;
  try {
    return readWeightsFile(model, bytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${file}: ${why} Fetch it anew, or set warmStart to train.`, { cause: error });
  }
}
