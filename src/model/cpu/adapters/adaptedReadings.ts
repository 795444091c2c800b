import type { AttentionView } from '../../../domain/readings.ts';
import type { ModelConfig } from '../../architecture.ts';
import { ofLast } from '../attentionMaps.ts';
import { rowPrefix } from '../rowPrefix.ts';
import type { Real } from '../real.ts';
import { type AdaptedLearner, steps } from './adaptedLearner.ts';
import type { TokenTree } from './tokenTree.ts';
import type { CpuTreeNetwork } from './treeNetwork.ts';

/** (V) untempered logits after the first `count` tokens of a row, by the weights that are merged. Throws RangeError where the row does not have as many. */
export async function adaptedNextLogits(
  network: CpuTreeNetwork,
  learner: AdaptedLearner,
  row: number,
  count: number,
): Promise<Real> {
  await network.forward(beginning(learner, row, count), steps(learner, learner.layers));
  return network.logits(count - 1);
}

/** What every head looked at when a row had its first `count` tokens and the next was to be chosen; throws as `adaptedNextLogits` does. */
export async function adaptedAttention(
  network: CpuTreeNetwork,
  learner: AdaptedLearner,
  { num_attention_heads: heads }: ModelConfig,
  row: number,
  count: number,
): Promise<AttentionView> {
  const { layers } = learner;
  const weights = new Float32Array(layers * heads * count);
  await network.forward(beginning(learner, row, count), steps(learner, layers), (layer, { probabilities }) => {
    weights.set(ofLast(probabilities, heads, count), layer * heads * count);
  });
  return { layers, heads, count, weights };
}

/** The beginning of a row as a tree in which nothing is scored; what the room held of a scoring is gone. */
function beginning({ batch, scored }: AdaptedLearner, row: number, count: number): TokenTree {
  const packed = rowPrefix(batch, row, count);
  scored.tree = null;
  const none = new Int32Array();
  return {
    ...packed,
    first: new Int32Array(count),
    table: Int32Array.from({ length: batch.length }, (_, t) => t),
    targets: { count: 0, positions: none, tokens: none, states: none, placesOf: [] },
    values: { count: 0, positions: none, places: none },
  };
}
