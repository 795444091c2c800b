// The arithmetic that an update of adapters asks for, by stage; a multiplication and an addition are two. What is not a product or attention is left out: less
// than one in a hundred.

/**
 * @typedef {import('../../src/model/architecture.ts').ModelConfig} Model
 * @typedef {{ nodes: number, pairs: number, targets: number }} Work tokens run, tokens that they read, tokens scored
 */

/** Sums over the linears of a layer: in·out, and in + out. @param {Model} model */
function linears({
  hidden_size: d,
  intermediate_size: f,
  num_attention_heads: H,
  num_key_value_heads: G,
  head_dim: D,
}) {
  const all = [[d, H * D], [d, G * D], [d, G * D], [H * D, d], [d, f], [d, f], [f, d]].map(([i = 0, o = 0]) => ({ i, o })); // prettier-ignore
  return {
    area: all.reduce((sum, { i, o }) => sum + i * o, 0),
    edges: all.reduce((sum, { i, o }) => sum + i + o, 0),
  };
}

/** FLOPs of a pass forward, of the language head forward and back, of layers back. @param {Model} model @param {number} rank @param {Work} work */
export function flopsOf(model, rank, { nodes, pairs, targets }) {
  const { num_hidden_layers: L, num_attention_heads: H, head_dim: D, vocab_size: V, hidden_size: d } = model;
  const down = model.intermediate_size * d;
  const { area, edges } = linears(model);
  const attention = 4 * H * D * pairs * L;
  return {
    forward: 2 * L * area * nodes + attention,
    anew: 2 * L * (area - down) * nodes + attention, // up to what a layer's last product reads
    head: 2 * V * d * targets,
    headBackward: 2 * V * d * targets, // to the hidden states only: the head does not learn
    backward: 2 * L * area * nodes + 2 * attention + 4 * L * rank * edges * nodes,
    beside: 2 * L * rank * edges * nodes, // x·Aᵀ·Bᵀ, where adapters are not merged
    merge: 2 * L * rank * area,
    adamW: 12 * L * rank * edges,
  };
}

/** Rows that run by themselves. @param {number} rows @param {number} length @param {number} targets @returns {Work} */
export const alone = (rows, length, targets) => ({ nodes: rows * length, pairs: (rows * length * (length + 1)) / 2, targets }); // prettier-ignore
