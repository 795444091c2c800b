import { describe, expect, it } from 'vitest';
import {
  adaptedLinears,
  type AdapterConfig,
  adapterScale,
  initialAdapters,
  LINEAR_NAMES,
} from '../../src/model/loraAdapters.ts';
import { type ModelConfig, parameters, type Weights } from '../../src/model/architecture.ts';
import {
  type AdaptedPolicyOptions,
  openCpuAdaptedPolicy,
  type AdaptedPolicy,
} from '../../src/model/cpu/adapters/cpuAdaptedPolicy.ts';
import { GGML_FORMATS } from '../../src/formats/blocks/blockFormats.ts';
import { adaptedPolicyPlan } from '../../src/model/cpu/adapters/memory.ts';
import { createCpuPolicy, type CpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { BackendError, type PolicySpec } from '../../src/model/policy.ts';
import { readFloat32 } from '../../src/model/weightSource.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import { Role, type TokenRecord } from '../../src/domain/tokens.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { CREDIT, OBJECTIVE, oddGrammar, OPTIMIZER, rollOut, sampling, someCredit } from './policies.ts';
import { KINDS, randomSource, SMALL } from './textModels.ts';
import { NAIVE } from './naiveArithmetic.ts';

const ADAPTERS: AdapterConfig = { rank: 3, alpha: 5, targets: LINEAR_NAMES };
const ROWS = 5;
const LENGTH = 17;

const specOf = (model: ModelConfig, critic: PolicySpec['critic'] = 'none'): PolicySpec => ({
  ...{ model: { ...model, value_head: critic === 'shared' }, critic, rows: ROWS, length: LENGTH, minibatchRows: ROWS },
});

/** Adapters away from their start: B is not zero. */
function roughAdapters(model: ModelConfig, adapters: AdapterConfig): Weights {
  const draw = random(8, Purpose.weights);
  const fresh = initialAdapters(model, adapters, 3);
  return new Map([...fresh].map(([name, tensor]) => [name, tensor.map((x) => x + 0.2 * draw.normal())]));
}

/** In float64, or in float32 by `simd`. */
type Opening = Partial<AdaptedPolicyOptions> & { readonly simd?: boolean };

const open = (spec: PolicySpec, { simd = false, ...options }: Opening = {}, adapters = ADAPTERS) =>
  openCpuAdaptedPolicy(spec, randomSource({ ...spec.model, value_head: false }, 1), adapters, learningMath, {
    ...{ seed: 3, reason: '', ...(!simd && { loops: NAIVE.f64 }), ...options },
  });

async function rough(spec: PolicySpec, options: Opening = {}): Promise<AdaptedPolicy> {
  const policy = await open(spec, options);
  policy.writeWeights(roughAdapters(spec.model, ADAPTERS));
  return policy;
}

/** W + alpha/rank·B·A, and the value head, by plain loops. */
async function mergedWeights(spec: PolicySpec, given: Weights): Promise<Weights> {
  const base = { ...spec.model, value_head: false };
  const whole = new Map<string, Float32Array>();
  for (const [name, tensor] of randomSource(base, 1)) whole.set(name, await readFloat32(tensor));
  for (const { weightName, a, b, out, in: fanIn } of adaptedLinears(base, ADAPTERS)) {
    const w = whole.get(weightName)!;
    for (let o = 0; o < out; o++) {
      for (let i = 0; i < fanIn; i++) {
        let sum = 0;
        for (let r = 0; r < ADAPTERS.rank; r++) {
          sum += given.get(b.name)![o * ADAPTERS.rank + r]! * given.get(a.name)![r * fanIn + i]!;
        }
        w[o * fanIn + i] = w[o * fanIn + i]! + adapterScale(ADAPTERS) * sum;
      }
    }
  }
  for (const name of ['value_head.weight', 'value_head.bias']) {
    const head = given.get(name);
    if (head) whole.set(name, head);
  }
  return whole;
}

/** The network whose weights are the merged ones, learned as a whole: the oracle. */
async function whole(spec: PolicySpec, given: Weights): Promise<CpuPolicy> {
  const policy = createCpuPolicy(spec, learningMath, { loops: NAIVE.f64, seed: 1, reason: '' });
  policy.writeWeights(await mergedWeights(spec, given));
  return policy;
}

/** Rows that begin alike: two with the same twelve tokens, one that is all of another's beginning, one of its own. */
function alike(vocabulary: number): TokenRecord {
  const draw = random(4, Purpose.demonstration);
  const stem = Array.from({ length: LENGTH }, () => draw.int(vocabulary));
  const rows = [
    stem,
    [...stem.slice(0, 12), ...stem.slice(0, 4)],
    stem.slice(0, 9),
    Array.from({ length: 14 }, () => draw.int(vocabulary)),
    [...stem.slice(0, 12), ...stem.slice(2, 5)],
  ];
  const tokens = new Int32Array(ROWS * LENGTH);
  const roles = new Uint8Array(ROWS * LENGTH);
  for (const [b, row] of rows.entries()) {
    tokens.set(row, b * LENGTH);
    for (let t = 0; t < row.length; t++) {
      roles[b * LENGTH + t] = t < 4 ? Role.prompt : t % 5 < 3 ? Role.action : Role.observation;
    }
  }
  return { tokens, roles, states: new Uint8Array(ROWS * LENGTH) };
}

const SETTINGS = { ...OBJECTIVE, klCoef: 0.1, entropyCoef: 0.02 };
const everyRow = Int32Array.from({ length: ROWS }, (_, row) => row);

function load(policy: CpuPolicy | AdaptedPolicy): void {
  const record = alike(policy.model.vocab_size);
  policy.load(record, someCredit(record, [Role.action]));
}

const product = (b: Float32Array | readonly number[], a: Float32Array, n: number, k: number, m: number) =>
  Float64Array.from({ length: n * m }, (_, at) => {
    let sum = 0;
    for (let r = 0; r < k; r++) sum += b[Math.floor(at / m) * k + r]! * a[r * m + (at % m)]!;
    return sum;
  });
const turned = (x: ArrayLike<number>, rows: number, columns: number) =>
  Float32Array.from({ length: rows * columns }, (_, at) => x[(at % rows) * columns + Math.floor(at / rows)]!);

/** The largest difference, in parts of the largest number. */
function apart(got: ArrayLike<number>, want: ArrayLike<number>): number {
  let [most, off] = [0, 0];
  for (let i = 0; i < want.length; i++) {
    most = Math.max(most, Math.abs(want[i]!));
    off = Math.max(off, Math.abs(want[i]! - got[i]!));
  }
  expect(got.length).toBe(want.length);
  expect(most).toBeGreaterThan(0);
  return off / most;
}

describe('gradients of adapters', () => {
  it.each(Object.entries(KINDS))('are those of the merged weights through B·A: %s', async (_, model) => {
    const spec = specOf(model, 'shared');
    const policy = await rough(spec);
    const { weights } = (await policy.readState()).policy;
    const oracle = await whole(spec, weights);
    for (const each of [policy, oracle]) load(each);
    const got = await policy.accumulate(everyRow, SETTINGS, 0.8);
    const want = await oracle.accumulate(everyRow, SETTINGS, 0.8);
    // merged weights are rounded to float32 in the oracle
    for (const part of ['policyLoss', 'entropy', 'kl', 'valueLoss', 'total'] as const) {
      expect(got[part] / want[part]).toBeCloseTo(1, 5);
    }
    expect(got.tokens).toBe(want.tokens);
    const gradients = policy.gradients();
    const whole_ = oracle.gradients();
    const { rank } = ADAPTERS;
    for (const { weightName, a, b, out, in: fanIn } of adaptedLinears(spec.model, ADAPTERS)) {
      const dw = whole_.get(weightName)!.map((x) => x * adapterScale(ADAPTERS));
      const da = product(turned(weights.get(b.name)!, out, rank), dw, rank, out, fanIn);
      const db = product(dw, turned(weights.get(a.name)!, rank, fanIn), out, fanIn, rank);
      expect(apart(gradients.get(a.name)!, da), a.name).toBeLessThan(3e-5);
      expect(apart(gradients.get(b.name)!, db), b.name).toBeLessThan(3e-5);
    }
    for (const name of ['value_head.weight', 'value_head.bias']) {
      expect(apart(gradients.get(name)!, whole_.get(name)!), name).toBeLessThan(3e-5);
    }
  });

  it.each(Object.entries(KINDS))('are the slopes of the objective: %s', async (_, model) => {
    const policy = await rough(specOf(model));
    load(policy);
    await policy.accumulate(everyRow, SETTINGS, 1);
    const gradients = policy.gradients();
    const { weights } = (await policy.readState()).policy;
    const draw = random(6, Purpose.branch);
    for (const { a, b } of adaptedLinears(model, ADAPTERS)) {
      const name = draw.next() < 0.5 ? a.name : b.name;
      const at = draw.int(weights.get(name)!.length);
      const total = async (by: number) => {
        const moved = new Map([...weights].map(([n, t]) => [n, Float32Array.from(t)]));
        moved.get(name)![at] = Math.fround(weights.get(name)![at]! + by);
        policy.writeWeights(moved);
        return (await policy.accumulate(everyRow, SETTINGS, 1)).total;
      };
      const step = 2 ** -12;
      const [up, down] = [await total(step), await total(-step)];
      // weights are float32 where they are handed over: the step is exact to one part in 2^11
      expect(gradients.get(name)![at], name).toBeCloseTo((up - down) / (2 * step), 3);
    }
  });

  it('are the same whether rows that begin alike are run once, each by itself, or in several passes, and layers are kept or not', async () => {
    const spec = specOf(SMALL, 'shared');
    const once = await rough(spec);
    const others = [
      await rough(spec, { share: false }),
      await rough(spec, { maxTokens: 21 }),
      await rough(spec, { keptTokens: 0 }),
      await rough(spec, { maxTokens: 21, keptTokens: 18 }),
    ];
    for (const policy of [once, ...others]) {
      load(policy);
      await policy.accumulate(everyRow, SETTINGS, 1);
    }
    for (const policy of others) {
      const gradients = policy.gradients();
      // float64 sums in another order
      for (const [name, tensor] of once.gradients()) expect(apart(gradients.get(name)!, tensor)).toBeLessThan(1e-6);
    }
  });

  it.each(Object.entries(KINDS))('in float32 WebAssembly SIMD agree with float64: %s', async (_, model) => {
    const [fast, exact] = [await rough(specOf(model), { simd: true }), await rough(specOf(model))];
    for (const policy of [fast, exact]) {
      load(policy);
      await policy.accumulate(everyRow, SETTINGS, 1);
    }
    expect(fast.backend.adapter).toBe('WebAssembly SIMD');
    const gradients = fast.gradients();
    // float32 sums of some hundred terms
    for (const [name, tensor] of exact.gradients())
      expect(apart(gradients.get(name)!, tensor), name).toBeLessThan(2e-4);
  });
});

describe('an adapted policy', () => {
  it.each([{}, { keptTokens: 0 }])('learns from what it scored as from what it runs again: %j', async (options) => {
    const spec = specOf(SMALL, 'shared');
    const record = alike(SMALL.vocab_size);
    const states = await Promise.all(
      ['scored', 'run again'].map(async (how) => {
        const policy = await rough(spec, options);
        policy.load(record);
        await policy.score(0.8, { reference: false, values: true });
        const rewards = new Float32Array(ROWS * LENGTH).map((_, at) => (at % 7 === 0 ? 1 : 0));
        policy.credit({ rewards, groups: new Int32Array(ROWS) }, CREDIT);
        // rows of another number are another batch: what was scored is of no use
        if (how === 'run again') await policy.accumulate(Int32Array.of(0), SETTINGS, 0.8);
        await policy.learn(everyRow, SETTINGS, OPTIMIZER, 0.8);
        const { steps, logprobs } = await policy.report();
        return { step: steps.at(-1)!, logprobs, gradients: policy.gradients() };
      }),
    );
    const [first, second] = states as [(typeof states)[0], (typeof states)[0]];
    expect(first.step.gradNorm).toBeGreaterThan(0);
    expect(first.step.approxKl).toBe(0);
    expect(second.step.gradNorm / first.step.gradNorm).toBeCloseTo(1, 9);
    for (const [name, tensor] of first.gradients) expect(apart(second.gradients.get(name)!, tensor)).toBeLessThan(1e-6);
  });

  it('draws what the merged network draws, and scores what it drew', async () => {
    const spec = specOf(SMALL);
    const policy = await rough(spec);
    const oracle = await whole(spec, (await policy.readState()).policy.weights);
    const grammar = oddGrammar(SMALL.vocab_size);
    const [got, want] = [await rollOut(policy, grammar, 4), await rollOut(oracle, grammar, 3)];
    expect(got.tokens).toEqual(want.tokens);
    await policy.score(sampling().temperature, { reference: false, values: false });
    const { logprobs } = await policy.report();
    let drawn = 0;
    for (const [b, row] of got.sampled.entries()) {
      for (const [t, logprob] of row.entries()) {
        if (got.roles[b]![t] !== Role.action) continue;
        drawn++;
        expect(logprobs[b * LENGTH + t]).toBeCloseTo(logprob, 5);
      }
    }
    expect(drawn).toBeGreaterThan(10);
  });

  it('begins as the checkpoint, which stays its reference when it has learned', async () => {
    const policy = await open(specOf(SMALL));
    policy.freezeReference();
    const record = alike(SMALL.vocab_size);
    policy.load(record);
    await policy.score(1, { reference: true, values: false });
    const before = await policy.report();
    expect(before.refLogprobs).toEqual(before.logprobs);
    load(policy);
    for (let step = 0; step < 3; step++) await policy.learn(everyRow, SETTINGS, OPTIMIZER, 1);
    const { steps } = await policy.report();
    expect(steps.every(({ skipped, gradNorm }) => skipped === '' && gradNorm > 0)).toBe(true);
    policy.load(record);
    await policy.score(1, { reference: true, values: false });
    const after = await policy.report();
    expect(apart(after.refLogprobs, before.logprobs)).toBeLessThan(1e-6);
    expect(apart(after.logprobs, before.logprobs)).toBeGreaterThan(1e-3);
  });

  it('goes on bit for bit from a saved state', async () => {
    const spec = specOf(SMALL, 'shared');
    const [first, second] = [await rough(spec, { simd: true }), await open(spec, { simd: true })];
    load(first);
    await first.learn(everyRow, SETTINGS, OPTIMIZER, 1);
    second.writeState(await first.readState());
    for (const policy of [first, second]) {
      load(policy);
      await policy.learn(everyRow, SETTINGS, OPTIMIZER, 1);
    }
    expect(await second.readState()).toEqual(await first.readState());
  });

  it('learns the value head, where the critic shares the trunk', async () => {
    const policy = await open(specOf(SMALL, 'shared'));
    load(policy);
    for (let step = 0; step < 12; step++) await policy.learn(everyRow, OBJECTIVE, OPTIMIZER, 1);
    const { steps } = await policy.report();
    expect(steps.at(-1)!.valueLoss).toBeLessThan(0.8 * steps[0]!.valueLoss);
  });

  it('takes less memory where there is less: no layer is kept, and rows are drawn from a cache in halves', async () => {
    const spec = { ...specOf(SMALL), length: 512, rows: 64 };
    const plan = (mostBytes?: number) =>
      adaptedPolicyPlan(spec, randomSource(SMALL, 1), ADAPTERS, mostBytes === undefined ? {} : { maxBytes: mostBytes });
    const free = plan();
    const frugal = plan(1); // nothing is as small, so this is the most frugal one
    expect(frugal.bytes).toBeLessThan(free.bytes / 2);
    expect([free.drawing.float16Cache, frugal.drawing.float16Cache]).toEqual([false, true]);
    expect(frugal.passes.keptTokens).toBe(0);
    const policy = await open(spec, { simd: true, maxBytes: frugal.bytes });
    expect(policy.memoryBytes).toBe(frugal.bytes);
    policy.destroy();
    await expect(open(spec, { simd: true, maxBytes: 1000 })).rejects.toThrow('The run needs');
  });

  it('64 rollouts of 512 tokens beside SmolLM2-135M fit 2 GiB', () => {
    const model = { ...SMALL, hidden_size: 576, num_hidden_layers: 30, num_attention_heads: 9, num_key_value_heads: 3, head_dim: 64, intermediate_size: 1536, vocab_size: 49_152, tie_word_embeddings: true }; // prettier-ignore
    const unread = { ...GGML_FORMATS.get(3)! };
    const source = new Map(
      parameters({ ...model, value_head: false }).map(({ name, shape, size }) => [
        name,
        {
          shape,
          format: unread,
          bytes: (size / unread.blockWeights) * unread.blockBytes,
          read: () => Promise.resolve(),
        },
      ]),
    );
    const spec = { ...specOf(model), rows: 64, length: 512 };
    const adapters = { rank: 8, alpha: 16, targets: LINEAR_NAMES };
    expect(adaptedPolicyPlan(spec, source, adapters, { maxBytes: 2 * 2 ** 30 }).bytes).toBeLessThan(2 * 2 ** 30);
  });

  it('takes the scores of a step from the last scoring only if both have the same temperature', async () => {
    const measured = async (scoredAt: number | null) => {
      const policy = await rough(specOf(SMALL));
      load(policy);
      if (scoredAt !== null) await policy.score(scoredAt, { reference: false, values: false });
      return (await policy.accumulate(everyRow, SETTINGS, 1)).entropy;
    };
    const alone = await measured(null);
    expect(await measured(1)).toBe(alone);
    expect(await measured(0.5)).toBe(alone);
  });

  it('says what computes, where nothing could be learned, and what first was not a number', async () => {
    const policy = await open(specOf(SMALL, 'shared'), { reason: 'because' });
    const { adapter, ...backend } = policy.backend;
    expect(backend).toEqual({ kind: 'cpu', software: false, storage: 'f32', reason: 'because' });
    expect(adapter).not.toBe('');
    const record = alike(SMALL.vocab_size);
    policy.load(record, someCredit(record, []));
    const empty = await policy.accumulate(everyRow, SETTINGS, 1);
    expect(empty).toMatchObject({ skipped: 'empty', culprit: '', tokens: 0 });
    load(policy);
    const learned = await policy.accumulate(everyRow, SETTINGS, 1);
    expect(learned).toMatchObject({ skipped: '', culprit: '', criticGradNorm: 0 });
    expect(learned.tokens).toBeGreaterThan(0);
    const endless = someCredit(record, [Role.action]);
    policy.load(record, { ...endless, advantages: endless.advantages.map(() => Infinity) });
    const upset = await policy.accumulate(everyRow, SETTINGS, 1);
    expect(upset).toMatchObject({ skipped: 'non-finite', culprit: expect.stringMatching(/^gradient model\.layers\.0\./) as string }); // prettier-ignore
    const state = await policy.readState();
    expect(() => policy.writeState({ ...state, critic: state.policy })).toThrow(/separate critic/);
    const broken = new Map(initialAdapters(policy.model, ADAPTERS, 3));
    const name = 'model.layers.1.mlp.up_proj.lora_B.weight';
    broken.set(name, broken.get(name)!.with(5, NaN));
    policy.writeWeights(broken);
    const weight = await policy.accumulate(everyRow, SETTINGS, 1);
    expect(weight).toMatchObject({ skipped: 'non-finite', culprit: `weight ${name}`, tokens: 0 });
  });

  it('refuses a critic of its own and a run that cannot fit, before it reads a weight', async () => {
    const unread = new Map(
      [...randomSource(SMALL, 1)].map(([name, tensor]) => [
        name,
        { ...tensor, read: () => Promise.reject(new Error('read')) },
      ]),
    );
    const refused = (spec: PolicySpec) =>
      openCpuAdaptedPolicy(spec, unread, ADAPTERS, learningMath, { seed: 1, reason: '' }).catch((e: unknown) => e);
    const critic = await refused(specOf(SMALL, 'separate'));
    expect(critic).toBeInstanceOf(BackendError);
    expect(critic).toMatchObject({ message: expect.stringMatching(/critic/) as string, demands: ['critic'] });
    expect((critic as BackendError).remedy).toMatch(/critic/);
    const huge = await refused({ ...specOf(SMALL), rows: 4096, length: 60_000 });
    expect(huge).toBeInstanceOf(BackendError);
    expect((huge as BackendError).message).toMatch(/The run needs [\d.]+ GiB\. On the CPU at most 4\.0 GiB fit/);
    expect(huge).toMatchObject({ demands: ['rows', 'length'] });
    expect((huge as BackendError).remedy).toMatch(/Use fewer/);
    expect(parameters(SMALL).length).toBeGreaterThan(0);
  });
});
