// The side of this project in a benchmark of in-browser training engines: setup(config, ctx) → {params, step, sync,
// generate, dispose}. config {V, C, L, H, T, B, F, lr} asks for a decoder-only transformer of V tokens, width C, L layers,
// H heads, contexts of T, batches of B, MLPs of F; ctx {x, y, generation?} gives inputs and targets, (B·T) each, one batch
// to learn by heart. The engine is the page's own, through the same interface as every run of it.
import { kernelSetNamed } from '../src/config/kernelChoice.ts';
import { initialWeights, parameters } from '../src/model/architecture.ts';
import { createCpuPolicy } from '../src/model/cpu/cpuPolicy.ts';
import { openGpuPolicy } from '../src/model/gpu/gpuPolicy.ts';
import { learningMath } from '../src/rl/plainLearningMath.ts';
import { Purpose, streamKey } from '../src/base/rng.ts';
import { Role } from '../src/domain/tokens.ts';

export const name = 'rollout-playground';

const SEED = 1;
const STEPS = 64; // tokens a row may advance in one chunk of decoding

/**
 * @typedef {{ V: number, C: number, L: number, H: number, T: number, B: number, F: number, lr: number }} Workload
 * @typedef {{ sequences: number, prompt: number, newTokens: number, prompts: Uint32Array }} Generation
 * @typedef {{ variant?: string | undefined, storage?: 'f32' | 'f16', slabs?: number }} Options
 * @typedef {{ x: Uint32Array, y: Uint32Array, want: 'train' | 'generate', generation?: Generation, gpu?: GPU,
 *   options?: Options & { backend?: 'gpu' | 'cpu' }, threads?: import('../src/model/cpu/team/threads.ts').Threads }} Context
 *   threads: of the CPU backend; one without it
 */

/**
 * The model of a workload. A gated MLP has three matrices where F counts two: two thirds of F, up to the next multiple of
 * eight, keep the number of parameters.
 * @param {Workload} c @returns {import('../src/model/architecture.ts').ModelConfig}
 */
export function modelOf(c) {
  return {
    vocab_size: c.V,
    hidden_size: c.C,
    intermediate_size: Math.ceil((2 * c.F) / 3 / 8) * 8,
    num_hidden_layers: c.L,
    num_attention_heads: c.H,
    num_key_value_heads: c.H,
    head_dim: c.C / c.H,
    rms_norm_eps: 1e-5,
    rope_theta: 10000,
    attention_bias: false,
    tie_word_embeddings: true,
    value_head: false,
  };
}

/** Initial weights with embeddings of deviation 0.02, as peers have them: the first loss is close to ln V. @param {ReturnType<typeof modelOf>} model */
function nearUniform(model) {
  const name = 'model.embed_tokens.weight';
  const weights = new Map(initialWeights(model, SEED));
  const scale = 0.02 * Math.sqrt(model.hidden_size);
  weights.set(
    name,
    (weights.get(name) ?? new Float32Array(0)).map((x) => x * scale),
  );
  return weights;
}

/** The plain mean of −log p over all targets, and AdamW without clipping. @param {Workload} c */
function settings(c) {
  return /** @type {const} */ ({
    objective: {
      surrogate: 'plain',
      clipLow: 0.2,
      clipHigh: 0.2,
      dualClip: 0,
      klEstimator: 'k1',
      klTimesRatio: 'off',
      observationLoss: 0,
      teacherCoef: 0,
      klCoef: 0,
      entropyCoef: 0,
      valueCoef: 0,
      valueClip: 1,
      aggregation: 'token-mean',
    },
    optimizer: {
      learningRate: c.lr,
      criticLearningRate: c.lr,
      beta1: 0.9,
      beta2: 0.95,
      eps: 1e-8,
      weightDecay: 0.1,
      maxGradNorm: 1e9,
      criticOnly: false,
    },
  });
}

/** Rows of T + 1 tokens: the inputs, and after them the last target. @param {Workload} c @param {Context} ctx */
function batchOf(c, { x, y }) {
  const T = c.T + 1;
  const tokens = new Int32Array(c.B * T);
  for (let b = 0; b < c.B; b++) {
    tokens.set(x.subarray(b * c.T, (b + 1) * c.T), b * T);
    tokens[b * T + c.T] = y[(b + 1) * c.T - 1] ?? 0;
  }
  const zero = new Float32Array(c.B * T);
  const one = zero.map((_, i) => (i % T === 0 ? 0 : 1)); // the first token has nothing before it
  return {
    record: { tokens, roles: new Uint8Array(c.B * T).fill(Role.action), states: new Uint8Array(c.B * T) },
    given: {
      oldLogprobs: zero,
      refLogprobs: zero,
      advantages: one,
      lossMask: one,
      valueMask: zero,
      oldValues: zero,
      returns: zero,
    },
  };
}

/** Draws all new tokens of all sequences at temperature 1. @param {import('../src/model/policy.ts').Policy} policy @param {Generation} g */
async function generate(policy, g) {
  const B = g.sequences;
  const sampling = { temperature: 1, greedy: false, topK: 0, topP: 1 };
  policy.begin({ key: streamKey(SEED, Purpose.trainSample), update: 1, ...sampling });
  let drawn = 0;
  for (let at = 0; at < g.prompt + g.newTokens; at += STEPS) {
    const steps = Math.min(STEPS, g.prompt + g.newTokens - at);
    const forced = Math.max(0, Math.min(steps, g.prompt - at));
    const ids = new Int32Array(B * steps);
    for (let b = 0; b < B; b++) {
      const row = g.prompts.subarray(b * g.prompt + at, b * g.prompt + at + forced);
      ids.set(row, b * steps);
    }
    const { counts } = await policy.decode({
      maxTokens: steps,
      forced: ids,
      forcedCounts: new Int32Array(B).fill(forced),
      forcedRoles: new Int32Array(B).fill(Role.prompt),
      states: new Int32Array(B).fill(forced < steps ? 0 : -1),
      budgets: new Int32Array(B).fill(steps - forced),
    });
    drawn += counts.reduce((a, b) => a + b, 0);
  }
  return drawn;
}

/**
 * Kernels by name (see src/config/kernelChoice.ts), those of the adapter without; storage, f32 without; slabs of gradients.
 * @param {Options} [options]
 */
export function chosen({ variant, storage, slabs } = {}) {
  return {
    ...(variant ? { kernels: kernelSetNamed(variant) } : {}),
    ...(storage && { storage }),
    ...(slabs && { partials: slabs }),
  };
}

/** @param {Workload} config @param {Context} ctx */
export async function setup(config, ctx) {
  const model = modelOf(config);
  const g = ctx.want === 'generate' ? ctx.generation : undefined;
  const rows = g ? g.sequences : config.B;
  const length = g ? g.prompt + g.newTokens : config.T + 1;
  const spec = /** @type {const} */ ({ model, critic: 'none', rows, length, minibatchRows: rows });
  const onCpu = ctx.options?.backend === 'cpu';
  const weights = () => nearUniform(model);
  const policy = onCpu
    ? createCpuPolicy(spec, learningMath, { seed: SEED, reason: '', threads: ctx.threads })
    : await openGpuPolicy(ctx.gpu ?? navigator.gpu, spec, {
        seed: SEED,
        weights,
        work: [g ? 'drawing' : 'learning'],
        ...chosen(ctx.options),
      });
  if (onCpu) policy.writeWeights(weights());
  const all = Int32Array.from({ length: rows }, (_, b) => b);
  const { objective, optimizer } = settings(config);
  if (!g) {
    const { record, given } = batchOf(config, ctx);
    policy.load(record, given);
  }
  return {
    params: parameters(model).reduce((sum, p) => sum + p.size, 0),
    notes:
      `Llama shape: RMSNorm, RoPE, SwiGLU MLP of ${model.intermediate_size} (two thirds of F, three matrices), tied head, no ` +
      'biases; rows of T + 1 tokens, so that the last target is in the row; AdamW b2=0.95 wd 0.1, no clipping',
    generateNotes:
      'all sequences in parallel, key-value cache, drawn on the device, one read-back a chunk of 64 tokens',
    policy,
    /** @param {{ read: boolean }} how */
    async step({ read }) {
      await policy.learn(all, objective, optimizer, 1);
      if (!read) return NaN;
      const { steps } = await policy.report();
      return steps.at(-1)?.policyLoss ?? NaN;
    },
    async sync() {
      await policy.report();
    },
    ...(g ? { generate: () => generate(policy, g) } : {}),
    dispose() {
      policy.destroy();
      return Promise.resolve();
    },
  };
}
