import type { PipelineEntry } from '../../../gpu/pipelines.ts';
import * as kernels from '../../../gpu/kernels/index.ts';
import { Plan, type Recorder } from '../../../gpu/plan.ts';
import type { Tensor } from '../../../gpu/tensor.ts';
import type { ModelConfig } from '../../architecture.ts';
import type { Matrix } from '../matrices.ts';
import { canGate, MAX_FEW_ROWS, recordProduct } from '../products.ts';
import type { LayerWeights } from '../transformer.ts';
import { MAX_CHUNK, MAX_LIKELIEST, type TextTensors } from './textTensors.ts';

/** Threads per workgroup of attention if there are many seats. */
const ATTENTION_THREADS = 64;
/** Threads that share a head if there are few seats; their sums must fit 16 KiB of shared memory. */
const HEAD_LANES = 32;
/** Largest head that is shared by HEAD_LANES threads. Larger heads are shared by half as many. */
const MAX_FULL_LANES_HEAD = 64;

/** The recorded plans of a pass over `seats` seats, with one token each. */
export interface Pass {
  readonly seats: number;
  readonly blocks: Plan; // embedding and layers, up to the last layer's keys and values
  readonly toLogits: Plan | null; // from there to the logits; null if there are too many seats for logits
  readonly sample: Plan;
  readonly likeliest: Plan;
  readonly score: Plan;
}

interface Network {
  readonly model: ModelConfig;
  readonly tensors: TextTensors;
  readonly rows: number; // B
  readonly length: number; // T
}

/** Records a pass for each number of seats in `seatCounts`, ascending. */
export function recordPasses(recorder: Recorder, network: Network): readonly Pass[] {
  const { withLogits, prefill } = network.tensors.seatCounts;
  const passes = withLogits.map((N) => recordPass(recorder, network, N, true));
  return [...passes, recordPass(recorder, network, prefill, false)];
}

/** The smallest pass with at least `count` seats; the largest pass if none has that many. */
export function passFor(passes: readonly Pass[], count: number): Pass {
  return passes.find(({ seats }) => seats >= count) ?? passes.at(-1)!;
}

export function entriesOf(passes: readonly Pass[]): readonly PipelineEntry[] {
  return entriesOfPlans(
    passes.flatMap((pass) => [pass.blocks, pass.toLogits, pass.sample, pass.likeliest, pass.score]),
  );
}

export function entriesOfPlans(plans: readonly (Plan | null)[]): readonly PipelineEntry[] {
  return [...new Set(plans.flatMap((plan) => plan?.dispatches.map(({ entry }) => entry) ?? []))];
}

function recordPass(recorder: Recorder, network: Network, N: number, withLogits: boolean): Pass {
  const { model, tensors } = network;
  const V = model.vocab_size;
  const newPlan = (name: string) => new Plan(recorder, `text ${N} ${name}`);
  const blocks = newPlan('blocks');
  recordEmbedding(blocks, tensors, model, N);
  for (const [i, layer] of tensors.layers.entries()) {
    recordUpToKeys(blocks, network, layer, i, N);
    if (i < tensors.layers.length - 1) recordFromAttention(blocks, network, layer, i, N);
  }
  const [sample, likeliest, score] = [newPlan('sample'), newPlan('likeliest'), newPlan('score')];
  if (!withLogits) return { seats: N, blocks, toLogits: null, sample, likeliest, score };
  const toLogits = newPlan('finish');
  const last = tensors.layers.length - 1;
  recordFromAttention(toLogits, network, tensors.layers[last]!, last, N);
  recordNormProduct(toLogits, network, tensors.norm, tensors.languageHead, tensors.logits, N);
  const { logits, legal, stays, draws, seats, settings, drawn } = tensors;
  const { likeliest: found, targetTokens: targets, targetLogprobs: scored } = tensors;
  sample.dispatch(
    kernels.sampleTokens,
    { logits, legal, stays, draws, seats, drawn, settings },
    { N, V, M: MAX_CHUNK },
  );
  likeliest.dispatch(kernels.likeliestTokens, { logits, found, settings }, { N, V, M: MAX_LIKELIEST });
  score.dispatch(kernels.scoreTokens, { logits, targets, scored }, { N, V });
  return { seats: N, blocks, toLogits, sample, likeliest, score };
}

function recordEmbedding(plan: Plan, { embed, seats, acts }: TextTensors, model: ModelConfig, N: number): void {
  for (const { firstRow: first, rows, weights } of embed.parts) {
    plan.dispatch(embed.format.embedKernel, { seats, b: weights, x: acts.x }, { N, C: model.hidden_size, first, rows });
  }
}

/** Records the product of the normalised residual stream with a matrix. Few rows are normalised by the product itself. */
function recordNormProduct(
  plan: Plan,
  { model, tensors }: Network,
  weight: Tensor,
  matrix: Matrix,
  c: Tensor,
  N: number,
  gated = false,
): void {
  const { x, xhat, y, inv } = tensors.acts;
  const eps = model.rms_norm_eps;
  if (N <= MAX_FEW_ROWS) {
    recordProduct(plan, x, matrix, c, N, { norm: { weight, eps }, gated });
    return;
  }
  plan.dispatch(kernels.rmsnormForward, { x, weight, xhat, y, inv }, { N, C: model.hidden_size }, { EPS: eps });
  recordProduct(plan, y, matrix, c, N);
}

/** Records a layer up to its queries, keys and values. */
function recordUpToKeys(plan: Plan, network: Network, layer: LayerWeights, index: number, N: number): void {
  const { model, tensors, length: T } = network;
  const { acts, seats, placeTable: places, rotary: table, cache } = tensors;
  const { num_attention_heads: H, num_key_value_heads: G, head_dim: D } = model;
  recordNormProduct(plan, network, layer.inputNorm, layer.qkv, acts.qkv, N);
  plan.dispatch(
    kernels.pagedHeads,
    {
      ...{ qkv: acts.qkv, seats, places, table, queries: acts.queries, cache: cache[index]! },
      bias: layer.qkvBias ?? table,
      norms: layer.headNorms ?? table,
    },
    { N, T, H, G, D },
    {
      EPS: model.rms_norm_eps,
      HALVES: tensors.float16Cache ? 1 : 0,
      BIAS: layer.qkvBias ? 1 : 0,
      NORM: layer.headNorms ? 1 : 0,
    },
  );
}

/** Records the rest of a layer, from its attention on. */
function recordFromAttention(plan: Plan, network: Network, layer: LayerWeights, index: number, N: number): void {
  const { model, tensors, length: T } = network;
  const { acts, seats, placeTable: places, cache, float16Cache } = tensors;
  const { num_attention_heads: H, num_key_value_heads: G, head_dim: D, intermediate_size: F } = model;
  const lanes = N > MAX_FEW_ROWS ? 1 : D <= MAX_FULL_LANES_HEAD ? HEAD_LANES : HEAD_LANES / 2;
  const threads = lanes > 1 ? lanes : ATTENTION_THREADS;
  plan.dispatch(
    kernels.pagedAttention,
    { queries: acts.queries, seats, places, cache: cache[index]!, out: acts.attended },
    { N, T, H, G, D, keys: T / 2, items: threads / lanes },
    {
      HEAD: D,
      HALVES: float16Cache ? 1 : 0,
      LANES: lanes,
      THREADS: threads,
      SHARED: lanes > 1 ? (threads * D) / 4 : 1,
    },
  );
  recordProduct(plan, acts.attended, layer.output, acts.x, N, { add: true });
  const gated = canGate(layer.gateUp, N);
  recordNormProduct(plan, network, layer.postNorm, layer.gateUp, gated ? acts.act : acts.gateUp, N, gated);
  if (!gated) plan.dispatch(kernels.swigluForward, { gate_up: acts.gateUp, act: acts.act }, { N, F });
  recordProduct(plan, acts.act, layer.down, acts.x, N, { add: true });
}
