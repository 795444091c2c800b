import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import { aligned, slice, type Tensor } from '../../gpu/tensor.ts';
import { type ModelConfig, rotaryFrequency } from '../architecture.ts';
import { qkvWidth, type ActivationGradients, type Activations } from './activations.ts';
import { attentionBackward } from './attention.ts';
import {
  linear,
  linearBackwardInput,
  linearBackwardSwiglu,
  linearBackwardWeight,
  rmsnorm,
  rmsnormBackward,
  sumOverTokens,
} from './layers.ts';
import type { SetParts } from './kernelSets.ts';
import { fuses, normProject } from './normProject.ts';
import { gradientOf, group, layerStride, startOfGroup, type PoolLayout } from './pools.ts';
import { inAllSlabs, type Slabs } from './slabs.ts';

/** The model, layout and kernels that every recorder of transformer blocks needs. */
export interface Trunk {
  readonly model: ModelConfig;
  readonly layout: PoolLayout;
  readonly choice: SetParts;
  readonly rotaryTable: Tensor; // (T, D/2, 2) of cos and sin
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
 * `fuses`). `attend` records a layer's attention from its rotated qkv: training attends over whole rows, decoding over
 * a cache. With `endsAtAttention` nothing is recorded after the attention of the last layer.
 */
export function recordBlocks(
  plan: Plan,
  trunk: Trunk,
  weights: Tensor,
  acts: Activations,
  positions: Tensor,
  attend: (layer: number) => void,
  endsAtAttention = false,
): void {
  const { model: m, layout, choice } = trunk;
  const N = acts.N;
  const C = m.hidden_size;
  const F = m.intermediate_size;
  const W = qkvWidth(m);
  const H = m.num_attention_heads;
  const Q = H * m.head_dim;
  const norm = (index: number, name: string) =>
    rmsnorm(
      plan,
      choice.reductions,
      {
        x: acts.x,
        weight: group(weights, layout, name, [C]),
        xhat: acts.xhat.at(index),
        y: acts.y.at(index),
        inv: acts.inv.at(index),
      },
      N,
      C,
      m.rms_norm_eps,
    );
  const fused = fuses(m);
  const project = (layer: number, swiglu: boolean, p: Tensor) => {
    const at = `model.layers.${layer}`;
    const index = 2 * layer + (swiglu ? 1 : 0);
    const which = swiglu
      ? { norm: `${at}.post_attention_layernorm.weight`, projection: `${at}.gate_up.weight`, columns: 2 * F }
      : { norm: `${at}.input_layernorm.weight`, projection: `${at}.qkv.weight`, columns: W };
    if (fused) {
      const tensors = { weights, x: acts.x, positions, table: trunk.rotaryTable, p, act: acts.act.at(layer) };
      const saved = { xhat: acts.xhat.at(index), inv: acts.inv.at(index) };
      normProject(
        plan,
        choice.products,
        m,
        layout,
        { ...which, then: swiglu ? 'swiglu' : 'rotary', save: acts.keeps },
        { ...tensors, ...saved },
        N,
      );
      return;
    }
    norm(index, which.norm);
    const matrix = group(weights, layout, which.projection, [which.columns, C]);
    linear(plan, choice.products, acts.y.at(index), matrix, p, { N, K: C, M: which.columns });
    if (swiglu) {
      plan.dispatch(kernels.swigluForward, { gate_up: p, act: acts.act.at(layer) }, { N, F });
      return;
    }
    // Without biases another tensor must stand in for them, from a buffer that is not written: the table.
    const bias = m.attention_bias ? group(weights, layout, `${at}.qkv.bias`, [W]) : trunk.rotaryTable;
    plan.dispatch(
      kernels.rotary,
      { qkv: p, positions, table: trunk.rotaryTable, bias },
      { N, W, H, G: m.num_key_value_heads, D: m.head_dim },
      { BIAS: m.attention_bias ? 1 : 0 },
    );
  };
  for (let i = 0; i < m.num_hidden_layers; i++) {
    const at = `model.layers.${i}`;
    project(i, false, acts.qkv.at(i));
    attend(i);
    if (endsAtAttention && i === m.num_hidden_layers - 1) return;
    const out = group(weights, layout, `${at}.self_attn.o_proj.weight`, [C, Q]);
    linear(plan, choice.products, acts.attended.at(i), out, acts.x, { N, K: Q, M: C }, true);
    project(i, true, acts.gateUp.at(i));
    const down = group(weights, layout, `${at}.mlp.down_proj.weight`, [C, F]);
    linear(plan, choice.products, acts.act.at(i), down, acts.x, { N, K: F, M: C }, true);
  }
}

/**
 * Records the backward pass of all blocks. It turns `grads.dx` from the gradient of their output into that of the
 * embedding, and adds the gradients of their weights and of all norms, the final one included, to the gradient pool. A
 * layer takes ten dispatches, or eleven if its sizes don't allow fused kernels. Three or four more serve the whole
 * model: one each for the weights of qkv, of gate_up, of all norms and, if there are any, for the biases.
 */
export function recordBlocksBackward(
  plan: Plan,
  trunk: Trunk,
  weights: Tensor,
  gradPool: Slabs,
  acts: Activations,
  grads: ActivationGradients,
  T: number,
): void {
  const { model: m, layout, choice } = trunk;
  const N = acts.N;
  const C = m.hidden_size;
  const F = m.intermediate_size;
  const W = qkvWidth(m);
  const L = m.num_hidden_layers;
  const Q = m.num_attention_heads * m.head_dim;
  const weight = (name: string, shape: readonly number[]) => group(weights, layout, name, shape);
  const dweight = (name: string, size: number) => gradientOf(gradPool, layout, name, size);
  const fused = fuses(m);
  const norm = (index: number, name: string) =>
    rmsnormBackward(
      plan,
      choice.reductions,
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
    const at = `model.layers.${i}`;
    const down = `${at}.mlp.down_proj.weight`;
    const out = `${at}.self_attn.o_proj.weight`;
    const [gateUp, dgateUp] = [acts.gateUp.at(i), grads.dgateUp.at(i)];
    if (grads.dact) {
      linearBackwardInput(plan, choice.products, grads.dx, weight(down, [C, F]), grads.dact, { N, K: F, M: C });
      plan.dispatch(kernels.swigluBackward, { gate_up: gateUp, dact: grads.dact, dgate_up: dgateUp }, { N, F });
    } else {
      const tensors = { dy: grads.dx, weight: weight(down, [C, F]), gateUp, dgateUp };
      linearBackwardSwiglu(plan, choice.products, tensors, { N, K: F, M: C });
    }
    linearBackwardWeight(plan, choice.products, grads.dx, acts.act.at(i), dweight(down, C * F), { N, K: F, M: C });
    const dnormed = grads.dy.at(2 * i + 1);
    const gateUpMatrix = weight(`${at}.gate_up.weight`, [2 * F, C]);
    linearBackwardInput(plan, choice.products, dgateUp, gateUpMatrix, dnormed, { N, K: C, M: 2 * F });
    norm(2 * i + 1, `${at}.post_attention_layernorm.weight`);
    linearBackwardInput(plan, choice.products, grads.dx, weight(out, [C, Q]), grads.dattended, { N, K: Q, M: C });
    linearBackwardWeight(plan, choice.products, grads.dx, acts.attended.at(i), dweight(out, C * Q), { N, K: Q, M: C });
    attentionBackward(
      plan,
      choice.attention,
      m,
      {
        qkv: acts.qkv.at(i),
        out: acts.attended.at(i),
        dout: grads.dattended,
        lse: acts.lse.at(i),
        table: trunk.rotaryTable,
        delta: grads.delta,
        dqkv: grads.dqkv.at(i),
      },
      N,
      T,
    );
    const qkv = weight(`${at}.qkv.weight`, [W, C]);
    linearBackwardInput(plan, choice.products, grads.dqkv.at(i), qkv, grads.dy.at(2 * i), { N, K: C, M: W });
    norm(2 * i, `${at}.input_layernorm.weight`);
  }
  const allLayers = (name: string) =>
    inAllSlabs(gradPool, `${name} of all layers`, startOfGroup(layout, `model.layers.0.${name}`));
  linearBackwardWeight(
    plan,
    choice.products,
    grads.dqkv.whole,
    acts.y.whole,
    allLayers('qkv.weight'),
    { N, K: C, M: W },
    {
      layers: L,
      dy: grads.dqkv.slot,
      x: 2 * acts.y.slot,
      dweight: layerStride(layout, 'qkv.weight'),
    },
  );
  const secondNorm = slice(acts.y.whole, 'y of the second norms', acts.y.slot, [2 * L * acts.y.slot]);
  linearBackwardWeight(
    plan,
    choice.products,
    grads.dgateUp.whole,
    secondNorm,
    allLayers('gate_up.weight'),
    { N, K: C, M: 2 * F },
    {
      layers: L,
      dy: grads.dgateUp.slot,
      x: 2 * acts.y.slot,
      dweight: layerStride(layout, 'gate_up.weight'),
    },
  );
  sumOverTokens(
    plan,
    kernels.rmsnormWeightBackward,
    { dy: grads.dy.whole, xhat: acts.xhat.whole, dweight: allLayers('input_layernorm.weight').tensor },
    { I: 2 * L + 1, N, C, slot: grads.dy.slot, pitch: aligned(C) },
    gradPool,
  );
  if (m.attention_bias) {
    sumOverTokens(
      plan,
      kernels.columnSum,
      { x: grads.dqkv.whole, out: allLayers('qkv.bias').tensor },
      { I: L, N, C: W, slot: grads.dqkv.slot, pitch: aligned(W) },
      gradPool,
    );
  }
}
