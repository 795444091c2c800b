import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import { alignUp, slice, type Tensor } from '../../gpu/tensor.ts';
import { type ModelConfig, rotaryFrequency } from '../architecture.ts';
import { qkvWidth, type ActivationGradients, type Activations } from './activations.ts';
import { attentionBackward } from './attention.ts';
import { recordHeads, recordHeadsBackward, unnormedKeysAt, type HeadWeights } from './heads.ts';
import {
  linear,
  linearBackwardInput,
  linearBackwardSwiglu,
  linearBackwardWeight,
  rmsnorm,
  rmsnormBackward,
  sumOverTokens,
} from './layers.ts';
import type { KernelVariants } from './kernelSets.ts';
import { canFuse, normProject } from './normProject.ts';
import { gradientOf, groupTensor, layerStride, startOfGroup, type ParameterLayout } from './networkTensors.ts';
import { gradientRange, type PartialGradients } from './partialGradients.ts';

/** The model, layout and kernels that every recorder of transformer blocks needs. */
export interface NetworkSpec {
  readonly model: ModelConfig;
  readonly layout: ParameterLayout;
  readonly variants: KernelVariants;
  readonly rotaryTable: Tensor; // (T, D/2, 2) of cos and sin
}

/** The tree of tokens that attention goes over. */
export interface AttendedNodes {
  readonly nodes: Tensor; // see MicroBatchTokens
  readonly keys: number; // average keys per query, for estimates of cost
}

/** The (T, D/2, 2) table of cos and sin of each rotary angle, position·theta^(−2i/D), computed in float64. */
export function rotaryTable(m: ModelConfig, T: number): Float32Array {
  const half = m.head_dim / 2;
  const table = new Float32Array(T * half * 2);
  for (let t = 0; t < T; t++) {
    for (let i = 0; i < half; i++) {
      const angle = t * rotaryFrequency(m, i);
      table[(t * half + i) * 2] = Math.cos(angle);
      table[(t * half + i) * 2 + 1] = Math.sin(angle);
    }
  }
  return table;
}

/**
 * Records all blocks over `acts.x`. A layer takes five dispatches, or nine if its sizes don't allow fused kernels (see
 * `canFuse`). `attend` records a layer's attention from its rotated qkv: training attends over the paths of a tree, decoding
 * over a cache. With `endsAtAttention` nothing is recorded after the attention of the last layer.
 */
export function recordBlocks(
  plan: Plan,
  network: NetworkSpec,
  weights: Tensor,
  acts: Activations,
  positions: Tensor,
  attend: (layer: number) => void,
  endsAtAttention = false,
): void {
  const { model: m, layout, variants } = network;
  const N = acts.N;
  const C = m.hidden_size;
  const F = m.intermediate_size;
  const W = qkvWidth(m);
  const Q = m.num_attention_heads * m.head_dim;
  const norm = (index: number, name: string) =>
    rmsnorm(
      plan,
      variants.reductions,
      {
        x: acts.x,
        weight: groupTensor(weights, layout, name, [C]),
        xhat: acts.xhat.at(index),
        y: acts.y.at(index),
        inv: acts.inv.at(index),
      },
      N,
      C,
      m.rms_norm_eps,
    );
  const fused = canFuse(m);
  const project = (layer: number, swiglu: boolean, p: Tensor) => {
    const prefix = `model.layers.${layer}`;
    const index = 2 * layer + (swiglu ? 1 : 0);
    const names = swiglu
      ? { norm: `${prefix}.post_attention_layernorm.weight`, projection: `${prefix}.gate_up.weight`, columns: 2 * F }
      : { norm: `${prefix}.input_layernorm.weight`, projection: `${prefix}.qkv.weight`, columns: W };
    if (fused) {
      const tensors = { weights, x: acts.x, positions, table: network.rotaryTable, p, act: acts.act.at(layer) };
      const saved = { xhat: acts.xhat.at(index), inv: acts.inv.at(index) };
      normProject(
        plan,
        variants.products,
        m,
        layout,
        { ...names, followedBy: swiglu ? 'swiglu' : 'rotary', save: acts.keepsForBackward },
        { ...tensors, ...saved },
        N,
      );
      return;
    }
    norm(index, names.norm);
    const matrix = groupTensor(weights, layout, names.projection, [names.columns, C]);
    linear(plan, variants.products, acts.y.at(index), matrix, p, { N, K: C, M: names.columns });
    if (swiglu) {
      plan.dispatch(kernels.swigluForward, { gate_up: p, act: acts.act.at(layer) }, { N, F });
      return;
    }
    const unnormed = (acts.unnormed ?? acts.lse).at(layer);
    const operands = { qkv: p, unnormed, positions, table: network.rotaryTable };
    recordHeads(plan, m, operands, headWeights(network, weights, layer), N);
  };
  for (let i = 0; i < m.num_hidden_layers; i++) {
    const at = `model.layers.${i}`;
    project(i, false, acts.qkv.at(i));
    attend(i);
    if (endsAtAttention && i === m.num_hidden_layers - 1) return;
    const out = groupTensor(weights, layout, `${at}.self_attn.o_proj.weight`, [C, Q]);
    linear(plan, variants.products, acts.attended.at(i), out, acts.x, { N, K: Q, M: C }, true);
    project(i, true, acts.gateUp.at(i));
    const down = groupTensor(weights, layout, `${at}.mlp.down_proj.weight`, [C, F]);
    linear(plan, variants.products, acts.act.at(i), down, acts.x, { N, K: F, M: C }, true);
  }
}

/** Biases and norms of a layer's heads. */
function headWeights({ model: m, layout }: NetworkSpec, weights: Tensor, layer: number): HeadWeights {
  const prefix = `model.layers.${layer}`;
  const [q, k] = [`${prefix}.self_attn.q_norm.weight`, `${prefix}.self_attn.k_norm.weight`];
  const kNorm = m.qk_norm ? startOfGroup(layout, k) - startOfGroup(layout, q) : 0;
  return {
    bias: m.attention_bias ? groupTensor(weights, layout, `${prefix}.qkv.bias`, [qkvWidth(m)]) : null,
    norms: m.qk_norm ? groupTensor(weights, layout, q, [kNorm + m.head_dim]) : null,
    kNorm,
  };
}

/**
 * Records the backward pass of all blocks. It turns `grads.dx` from the gradient of their output into that of the
 * embedding, and adds the gradients of their weights and of all norms, the final one included, to the partial
 * gradients. A layer takes ten dispatches, eleven if its sizes don't allow fused kernels, twelve with norms of q and k.
 * A few more serve the whole model: one each for the weights of qkv, of gate_up, of all norms and, if there are any,
 * for the biases and the norms of q and of k.
 */
export function recordBlocksBackward(
  plan: Plan,
  network: NetworkSpec,
  weights: Tensor,
  partials: PartialGradients,
  acts: Activations,
  grads: ActivationGradients,
  { nodes, keys }: AttendedNodes,
): void {
  const { model: m, layout, variants } = network;
  const N = acts.N;
  const C = m.hidden_size;
  const F = m.intermediate_size;
  const W = qkvWidth(m);
  const L = m.num_hidden_layers;
  const Q = m.num_attention_heads * m.head_dim;
  const weight = (name: string, shape: readonly number[]) => groupTensor(weights, layout, name, shape);
  const dweight = (name: string, size: number) => gradientOf(partials, layout, name, size);
  const fused = canFuse(m);
  const norm = (index: number, name: string) =>
    rmsnormBackward(
      plan,
      variants.reductions,
      {
        dy: grads.dy.at(index),
        xhat: acts.xhat.at(index),
        weight: weight(name, [C]),
        inv: acts.inv.at(index),
        dx: grads.dx,
        y: acts.y.at(index),
      },
      N,
      C,
      { add: true, output: fused },
    );
  for (let i = L - 1; i >= 0; i--) {
    const prefix = `model.layers.${i}`;
    const down = `${prefix}.mlp.down_proj.weight`;
    const out = `${prefix}.self_attn.o_proj.weight`;
    const [gateUp, dgateUp] = [acts.gateUp.at(i), grads.dgateUp.at(i)];
    if (grads.dact) {
      linearBackwardInput(plan, variants.products, grads.dx, weight(down, [C, F]), grads.dact, { N, K: F, M: C });
      plan.dispatch(kernels.swigluBackward, { gate_up: gateUp, dact: grads.dact, dgate_up: dgateUp }, { N, F });
    } else {
      const tensors = { dy: grads.dx, weight: weight(down, [C, F]), gateUp, dgateUp };
      linearBackwardSwiglu(plan, variants.products, tensors, { N, K: F, M: C });
    }
    linearBackwardWeight(plan, variants.products, grads.dx, acts.act.at(i), dweight(down, C * F), { N, K: F, M: C });
    const dnormed = grads.dy.at(2 * i + 1);
    const gateUpMatrix = weight(`${prefix}.gate_up.weight`, [2 * F, C]);
    linearBackwardInput(plan, variants.products, dgateUp, gateUpMatrix, dnormed, { N, K: C, M: 2 * F });
    norm(2 * i + 1, `${prefix}.post_attention_layernorm.weight`);
    linearBackwardInput(plan, variants.products, grads.dx, weight(out, [C, Q]), grads.dattended, { N, K: Q, M: C });
    linearBackwardWeight(plan, variants.products, grads.dx, acts.attended.at(i), dweight(out, C * Q), {
      N,
      K: Q,
      M: C,
    });
    attentionBackward(
      plan,
      variants.attention,
      m,
      {
        qkv: acts.qkv.at(i),
        nodes,
        out: acts.attended.at(i),
        dout: grads.dattended,
        lse: acts.lse.at(i),
        table: network.rotaryTable,
        delta: grads.delta,
        dqkv: grads.dqkv.at(i),
      },
      N,
      keys,
    );
    const unnormed = (acts.unnormed ?? acts.lse).at(i);
    recordHeadsBackward(plan, m, { dqkv: grads.dqkv.at(i), unnormed }, headWeights(network, weights, i), N);
    const qkv = weight(`${prefix}.qkv.weight`, [W, C]);
    linearBackwardInput(plan, variants.products, grads.dqkv.at(i), qkv, grads.dy.at(2 * i), { N, K: C, M: W });
    norm(2 * i, `${prefix}.input_layernorm.weight`);
  }
  const allLayers = (name: string) =>
    gradientRange(partials, `${name} of all layers`, startOfGroup(layout, `model.layers.0.${name}`));
  linearBackwardWeight(
    plan,
    variants.products,
    grads.dqkv.whole,
    acts.y.whole,
    allLayers('qkv.weight'),
    { N, K: C, M: W },
    {
      layers: L,
      dy: grads.dqkv.stride,
      x: 2 * acts.y.stride,
      dweight: layerStride(layout, 'qkv.weight'),
    },
  );
  const secondNorm = slice(acts.y.whole, 'y of the second norms', acts.y.stride, [2 * L * acts.y.stride]);
  linearBackwardWeight(
    plan,
    variants.products,
    grads.dgateUp.whole,
    secondNorm,
    allLayers('gate_up.weight'),
    { N, K: C, M: 2 * F },
    {
      layers: L,
      dy: grads.dgateUp.stride,
      x: 2 * acts.y.stride,
      dweight: layerStride(layout, 'gate_up.weight'),
    },
  );
  sumOverTokens(
    plan,
    kernels.rmsnormWeightBackward,
    { dy: grads.dy.whole, xhat: acts.xhat.whole, dweight: allLayers('input_layernorm.weight').tensor },
    { I: 2 * L + 1, N, C, slot: grads.dy.stride, pitch: alignUp(C) },
    partials,
  );
  if (acts.unnormed) {
    const { whole, stride: slot } = acts.unnormed;
    const [H, G, D] = [m.num_attention_heads, m.num_key_value_heads, m.head_dim];
    const ofKeys = slice(whole, 'summands of k_norm', unnormedKeysAt(m, N), [whole.shape[0]! - unnormedKeysAt(m, N)]);
    for (const [name, x, heads] of [
      ['self_attn.q_norm.weight', whole, H],
      ['self_attn.k_norm.weight', ofKeys, G],
    ] as const) {
      const sizes = { I: L, N: N * heads, C: D, slot, pitch: layerStride(layout, name) };
      sumOverTokens(plan, kernels.columnSum, { x, out: allLayers(name).tensor }, sizes, partials);
    }
  }
  if (m.attention_bias) {
    sumOverTokens(
      plan,
      kernels.columnSum,
      { x: grads.dqkv.whole, out: allLayers('qkv.bias').tensor },
      { I: L, N, C: W, slot: grads.dqkv.stride, pitch: alignUp(W) },
      partials,
    );
  }
}
