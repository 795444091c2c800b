import * as kernels from '../../gpu/kernels/index.ts';
import type { Plan } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import { type ModelConfig, rotaryFrequency } from '../architecture.ts';
import type { ActivationGradients, Activations } from './activations.ts';
import { attention, attentionBackward } from './attention.ts';
import { recordHeads, recordHeadsBackward, type HeadWeights } from './heads.ts';
import { rmsnorm, rmsnormBackward } from './layers.ts';
import type { KernelVariants } from './kernelSets.ts';
import type { Matrix } from './matrices.ts';
import { normProject } from './normProject.ts';
import { recordProductBackward, recordTiledProduct } from './products.ts';

/** Names of a layer's matrices. */
type MatrixName = 'qkv' | 'output' | 'gateUp' | 'down';

export interface LayerWeights extends HeadWeights, Readonly<Record<MatrixName, Matrix>> {
  readonly inputNorm: Tensor;
  readonly postNorm: Tensor;
}

/** What passes through the layers read, besides activations. */
export interface Network {
  readonly model: ModelConfig;
  readonly variants: KernelVariants;
  readonly rotaryTable: Tensor; // (T, D/2, 2) of cos and sin
  readonly layers: readonly LayerWeights[];
  readonly norm: Tensor; // of the last norm
  readonly fused: Tensor | null; // all weights, from which each norm is computed with the product after it; null: on its own
}

/** Which weights of layers have gradients. */
export interface TrainedLayers {
  /** Adds the gradient of a layer's matrix, from the gradient dy of its product and from the product's input x. */
  readonly addGradient: (plan: Plan, name: MatrixName, layer: number, dy: Tensor, x: Tensor, N: number) => void;
  readonly trainsInput: boolean; // whether something before the first layer is trained
}

/** The tree of tokens that attention goes over; see MicroBatchTokens. */
export interface AttendedNodes {
  readonly nodes: Tensor;
  readonly positions: Tensor;
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

/** The attention of a pass: the tokens' positions, and what records a layer's attention from its rotated qkv. */
export interface Attention {
  readonly positions: Tensor;
  readonly attend: (plan: Plan, layer: number) => void;
}

/** Records a layer over `acts.x`, in place: five dispatches, or nine without fused norms. */
export function recordLayer(
  plan: Plan,
  network: Network,
  acts: Activations,
  attention: Attention,
  index: number,
): void {
  recordUpToAct(plan, network, acts, attention, index);
  recordTiledProduct(plan, network.variants.products, acts.act.at(index), network.layers[index]!.down, acts.x, acts.N, true); // prettier-ignore
}

/** Attention over the paths of a tree. */
export function pathAttention(
  { model, variants }: Network,
  acts: Activations,
  { nodes, positions, keys }: AttendedNodes,
): Attention {
  const attend = (plan: Plan, layer: number): void => {
    const tensors = { qkv: acts.qkv.at(layer), nodes, out: acts.attended.at(layer), lse: acts.lse.at(layer) };
    attention(plan, variants.attention, model, tensors, acts.N, keys);
  };
  return { positions, attend };
}

/** Records a layer up to the input of its last product, `act`. `acts.x` then holds the residual stream after attention. */
export function recordUpToAct(
  plan: Plan,
  network: Network,
  acts: Activations,
  { positions, attend }: Attention,
  index: number,
): void {
  const { model: m, variants, rotaryTable: table, fused } = network;
  const { N, x } = acts;
  const layer = network.layers[index]!;
  const [qkv, gateUp, act] = [acts.qkv.at(index), acts.gateUp.at(index), acts.act.at(index)];
  const project = (norm: number, weight: Tensor, matrix: Matrix, p: Tensor, after: () => void) => {
    const saved = { xhat: acts.xhat.at(norm), inv: acts.inv.at(norm) };
    if (fused) {
      const bias = norm % 2 === 0 ? layer.qkvBias : null;
      const projection = { norm: weight, matrix, bias, followedBy: norm % 2 === 0 ? 'rotary' : 'swiglu' } as const;
      const tensors = { weights: fused, x, positions, table, p, act, ...saved };
      normProject(plan, variants.products, m, projection, acts.kept !== 'nothing', tensors, N);
      return;
    }
    const y = acts.y.at(norm);
    rmsnorm(plan, variants.reductions, { x, weight, y, ...saved }, N, m.hidden_size, m.rms_norm_eps);
    recordTiledProduct(plan, variants.products, y, matrix, p, N);
    after();
  };
  project(2 * index, layer.inputNorm, layer.qkv, qkv, () => {
    const unnormed = (acts.unnormed ?? acts.lse).at(index);
    recordHeads(plan, m, { qkv, unnormed, positions, table }, layer, N);
  });
  attend(plan, index);
  recordTiledProduct(plan, variants.products, acts.attended.at(index), layer.output, x, N, true);
  project(2 * index + 1, layer.postNorm, layer.gateUp, gateUp, () =>
    plan.dispatch(kernels.swigluForward, { gate_up: gateUp, act }, { N, F: m.intermediate_size }),
  );
}

/**
 * Records the backward pass of a layer. It turns `grads.dx` from the gradient of the layer's output into that of its
 * input, and has the gradients of its matrices added. In the first layer it ends there if nothing before is trained.
 * Without the gradients of matrices it takes eight dispatches, nine without fused norms, ten with norms of q and k.
 */
export function recordLayerBackward(
  plan: Plan,
  network: Network,
  acts: Activations,
  grads: ActivationGradients,
  { nodes, keys }: AttendedNodes,
  index: number,
  { addGradient, trainsInput }: TrainedLayers,
): void {
  const { model: m, variants, rotaryTable: table } = network;
  const { N } = acts;
  const { dx, dact, dattended } = grads;
  const layer = network.layers[index]!;
  const [gateUp, act, qkv, out] = [acts.gateUp.at(index), acts.act.at(index), acts.qkv.at(index), acts.attended.at(index)]; // prettier-ignore
  const [dgateUp, dqkv] = [grads.dgateUp.at(index), grads.dqkv.at(index)];
  const backThrough = (dy: Tensor, matrix: Matrix, to: Tensor) =>
    recordProductBackward(plan, variants.products, dy, matrix, to, N);
  const normBackward = (norm: number, weight: Tensor, matrix: Matrix, dp: Tensor) => {
    backThrough(dp, matrix, grads.dy.at(norm));
    recordNormBackward(plan, network, acts, grads, norm, weight);
  };
  if (dact) {
    backThrough(dx, layer.down, dact);
    plan.dispatch(kernels.swigluBackward, { gate_up: gateUp, dact, dgate_up: dgateUp }, { N, F: m.intermediate_size });
  } else {
    recordProductBackward(plan, variants.products, dx, layer.down, dgateUp, N, gateUp);
  }
  addGradient(plan, 'down', index, dx, act, N);
  normBackward(2 * index + 1, layer.postNorm, layer.gateUp, dgateUp);
  addGradient(plan, 'gateUp', index, dgateUp, acts.y.at(2 * index + 1), N);
  backThrough(dx, layer.output, dattended);
  addGradient(plan, 'output', index, dx, out, N);
  const attended = { qkv, nodes, out, dout: dattended, lse: acts.lse.at(index), table, delta: grads.delta, dqkv };
  attentionBackward(plan, variants.attention, m, attended, N, keys);
  recordHeadsBackward(plan, m, { dqkv, unnormed: (acts.unnormed ?? acts.lse).at(index) }, layer, N);
  if (index > 0 || trainsInput) normBackward(2 * index, layer.inputNorm, layer.qkv, dqkv);
  addGradient(plan, 'qkv', index, dqkv, acts.y.at(2 * index), N);
}

/** Records the last norm, from `acts.x` to `acts.y.at(2L)`. */
export function recordFinalNorm(plan: Plan, { model: m, variants, norm: weight }: Network, acts: Activations): void {
  const last = 2 * m.num_hidden_layers;
  const tensors = { x: acts.x, weight, xhat: acts.xhat.at(last), y: acts.y.at(last), inv: acts.inv.at(last) };
  rmsnorm(plan, variants.reductions, tensors, acts.N, m.hidden_size, m.rms_norm_eps);
}

/**
 * Records the backward pass of norm `index` of 2L + 1, from the gradient `grads.dy` of its output. The last norm's
 * becomes `grads.dx`, those of the others are added to it. Writes `acts.y`, too, where a fused norm didn't.
 */
export function recordNormBackward(
  plan: Plan,
  { model: m, variants, fused }: Network,
  acts: Activations,
  { dx, dy }: ActivationGradients,
  index: number,
  weight: Tensor,
): void {
  const isLast = index === 2 * m.num_hidden_layers;
  const saved = { xhat: acts.xhat.at(index), inv: acts.inv.at(index), y: acts.y.at(index) };
  const options = { add: !isLast, output: !isLast && fused !== null };
  rmsnormBackward(
    plan,
    variants.reductions,
    { dy: dy.at(index), weight, dx, ...saved },
    acts.N,
    m.hidden_size,
    options,
  );
}
