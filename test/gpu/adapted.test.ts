import { describe, expect, test } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { Role, type TokenRecord } from '../../src/domain/tokens.ts';
import { compile } from '../../src/gpu/compile.ts';
import { submit } from '../../src/gpu/device.ts';
import { Pipelines } from '../../src/gpu/pipelines.ts';
import { Plan, ShapeUniforms } from '../../src/gpu/plan.ts';
import { readOnce } from '../../src/gpu/readback.ts';
import { shareGpu } from '../../src/gpu/sharedDevice.ts';
import { Arena, write } from '../../src/gpu/tensor.ts';
import {
  adaptedLinears,
  type AdapterConfig,
  adapterScale,
  initialAdapters,
  LINEAR_NAMES,
} from '../../src/model/loraAdapters.ts';
import type { ModelConfig, Weights } from '../../src/model/architecture.ts';
import { type AdaptedPolicy, openCpuAdaptedPolicy } from '../../src/model/cpu/adapters/cpuAdaptedPolicy.ts';
import { type GpuAdaptedPolicy, openGpuAdaptedPolicy } from '../../src/model/gpu/adapters/openGpuAdaptedPolicy.ts';
import { recordMerge, withFloats } from '../../src/model/gpu/adapters/adaptedLinears.ts';
import { declareMatrix, loadMatrix } from '../../src/model/gpu/matrices.ts';
import { BackendError, type Policy, type PolicySpec } from '../../src/model/policy.ts';
import { readFloat32, type WeightSource } from '../../src/model/weightSource.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { CREDIT, OBJECTIVE, oddGrammar, OPTIMIZER, rollOut, sampling, someCredit } from '../model/policies.ts';
import { firstRows } from '../weekly.ts';
import * as models from './textModels.ts';
import { packedSource } from './textSources.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';

// a vocabulary that four divides, as real ones are
const LLAMA = { ...models.LLAMA, vocab_size: 44 };
const QWEN2 = { ...models.QWEN2, vocab_size: 44 };
const QWEN3 = { ...models.QWEN3, vocab_size: 44 };
const ADAPTERS: AdapterConfig = { rank: 3, alpha: 5, targets: LINEAR_NAMES };
const [ROWS, LENGTH] = [5, 17];
const SETTINGS = { ...OBJECTIVE, klCoef: 0.1, entropyCoef: 0.02 };
const everyRow = Int32Array.from({ length: ROWS }, (_, row) => row);

const specOf = (model: ModelConfig, critic: PolicySpec['critic'] = 'none'): PolicySpec => ({
  ...{ model: { ...model, value_head: critic === 'shared' }, critic, rows: ROWS, length: LENGTH, minibatchRows: ROWS },
});

/** Adapters away from their start: B is not zero. */
function roughAdapters(model: ModelConfig, adapters: AdapterConfig): Weights {
  const draw = random(8, Purpose.weights);
  const fresh = initialAdapters(model, adapters, 3);
  return new Map([...fresh].map(([name, tensor]) => [name, tensor.map((x) => x + 0.2 * draw.normal())]));
}

/** The same adapters on the device, and on the CPU in float64. */
async function both(
  model: ModelConfig,
  source: WeightSource,
  options: { readonly maxTokens?: number; readonly bufferBytes?: number } = {},
  adapters = ADAPTERS,
  critic: PolicySpec['critic'] = 'none',
): Promise<readonly [GpuAdaptedPolicy, AdaptedPolicy]> {
  const spec = specOf(model, critic);
  const settings = { seed: 3, reason: '' };
  const there = await openGpuAdaptedPolicy(navigator.gpu, spec, source, adapters, learningMath, {
    ...{ ...settings, ...options },
  });
  const here = await openCpuAdaptedPolicy(spec, source, adapters, learningMath, { ...settings, loops: NAIVE.f64 });
  for (const policy of [there, here]) policy.writeWeights(roughAdapters(spec.model, adapters));
  return [there, here];
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
  const record = {
    tokens: new Int32Array(ROWS * LENGTH),
    roles: new Uint8Array(ROWS * LENGTH),
    states: new Uint8Array(ROWS * LENGTH),
  };
  for (const [b, row] of rows.entries()) {
    record.tokens.set(row, b * LENGTH);
    for (let t = 0; t < row.length; t++) {
      record.roles[b * LENGTH + t] = t < 4 ? Role.prompt : t % 5 < 3 ? Role.action : Role.observation;
    }
  }
  return record;
}

/** How long the difference is, in parts of how long `want` is. */
function apart(got: ArrayLike<number>, want: ArrayLike<number>): number {
  let [length, off] = [0, 0];
  for (let i = 0; i < want.length; i++) {
    length += want[i]! ** 2;
    off += (want[i]! - got[i]!) ** 2;
  }
  expect(got.length).toBe(want.length);
  expect(length).toBeGreaterThan(0);
  return Math.sqrt(off / length);
}

/** Float32 sums of up to some hundred terms through two layers and back, against float64. */
const ROUNDING = 1e-4;
/** What three steps of Adam make of that: where a gradient is small, its sign decides. */
const MANY_STEPS = 2e-3;

const FAMILIES = [
  ['Qwen2, with a critic on its trunk', QWEN2, 'shared'],
  ['Llama', LLAMA, 'none'],
  ['Qwen3', QWEN3, 'none'],
] as const;

describe.each(firstRows(FAMILIES, 1))('%s', (_, model, critic) => {
  test('scores, and learns in three steps, on the device as on the CPU', async () => {
    const source = packedSource(model, 7, () => 'Q4_1');
    const policies = await both(model, source, {}, ADAPTERS, critic);
    const record = alike(model.vocab_size);
    const learned = await Promise.all(policies.map((policy) => threeSteps(policy, record)));
    const [got, want] = learned as [Learned, Learned];
    expect(apart(got.scored.logprobs, want.scored.logprobs)).toBeLessThan(ROUNDING);
    expect(apart(got.scored.refLogprobs, want.scored.refLogprobs)).toBeLessThan(ROUNDING);
    expect(apart(got.scored.entropies, want.scored.entropies)).toBeLessThan(ROUNDING);
    expect(got.steps.map(({ tokens }) => tokens)).toEqual(want.steps.map(({ tokens }) => tokens));
    if (critic === 'shared') expect(apart(got.scored.values, want.scored.values)).toBeLessThan(ROUNDING);
    for (const part of ['policyLoss', 'entropy', 'kl', 'valueLoss', 'total', 'gradNorm'] as const) {
      if (part === 'valueLoss' && critic === 'none') continue;
      const of = (steps: Learned['steps']) => steps.map((step) => step[part]);
      expect(apart(of(got.steps), of(want.steps)), part).toBeLessThan(MANY_STEPS);
    }
    for (const [name, tensor] of want.gradients) {
      expect(apart(got.gradients.get(name)!, tensor), name).toBeLessThan(MANY_STEPS);
    }
    for (const [name, tensor] of want.change) {
      expect(apart(got.change.get(name)!, tensor), name).toBeLessThan(MANY_STEPS);
    }
    policies[0].destroy();
  });

  test('draws on the device what is drawn on the CPU, and scores what it drew', async () => {
    const [there, here] = await both(
      model,
      packedSource(model, 7, () => 'Q4_1'),
    );
    const grammar = oddGrammar(model.vocab_size);
    const [got, want] = [await rollOut(there, grammar, 4), await rollOut(here, grammar, 4)];
    expect(got.tokens).toEqual(want.tokens);
    const greedy = { ...sampling(), greedy: true };
    expect((await rollOut(there, grammar, 3, greedy)).tokens).toEqual((await rollOut(here, grammar, 3, greedy)).tokens);
    const drawn = await rollOut(there, grammar, 4);
    await there.score(sampling().temperature, { reference: false, values: false });
    const { logprobs } = await there.report();
    const pairs = drawn.sampled.flatMap((row, b) =>
      row.flatMap((logprob, t) =>
        drawn.roles[b]![t] === Role.action ? [[logprob, logprobs[b * LENGTH + t]!] as const] : [],
      ),
    );
    expect(pairs.length).toBeGreaterThan(10);
    for (const [logprob, scored] of pairs) expect(scored).toBeCloseTo(logprob, 5);
    there.destroy();
  });
});

type Learned = Awaited<ReturnType<typeof threeSteps>>;

/** Scores under a reference that is not the policy, credit, and three steps of learning. */
async function threeSteps(policy: GpuAdaptedPolicy | AdaptedPolicy, record: TokenRecord) {
  const before = (await policy.readState()).policy.weights;
  policy.writeWeights(initialAdapters(policy.model, ADAPTERS, 3));
  policy.freezeReference();
  policy.writeWeights(before);
  policy.load(record);
  const values = policy.model.value_head;
  await policy.score(0.8, { reference: true, values });
  const rewards = new Float32Array(ROWS * LENGTH).map((_, at) => (at % 7 === 0 ? 1 : 0));
  policy.credit({ rewards, groups: new Int32Array(ROWS) }, { ...CREDIT, estimator: values ? 'gae' : 'reinforce++' });
  const scored = await policy.report();
  for (let step = 0; step < 3; step++) await policy.learn(everyRow, SETTINGS, OPTIMIZER, 0.8);
  const { steps } = await policy.report();
  const change = new Map(
    [...(await policy.readState()).policy.weights].map(([name, after]) => [
      name,
      after.map((w, i) => w - before.get(name)![i]!),
    ]),
  );
  return { scored, steps, gradients: policy.gradients(), change };
}

test.each(firstRows(['F16', 'Q4_1', 'F32', 'BF16', 'Q8_0', 'Q4_0'], 2))(
  'adapters are merged into weights in %s',
  async (format) => {
    const source = packedSource(LLAMA, 7, () => format);
    const gpu = await shareGpu(navigator.gpu);
    const arena = new Arena(gpu);
    const [adapter] = adaptedLinears(LLAMA, { ...ADAPTERS, targets: ['k_proj'] });
    const { weightName, a, b, out, in: fanIn } = adapter!;
    const base = declareMatrix(arena, source, [weightName], 2 ** 20);
    const whole = ['q_proj', 'k_proj'].map((name) => `model.layers.0.self_attn.${name}.weight`);
    const floats = withFloats(source, LLAMA, { ...ADAPTERS, targets: ['q_proj', 'k_proj'] });
    const merged = declareMatrix(arena, floats, whole, 2 ** 20);
    const column = merged.rows - out;
    const weights = roughAdapters(LLAMA, ADAPTERS);
    const [A, B] = [weights.get(a.name)!, weights.get(b.name)!];
    const pool = arena.declare('pool', [A.length + B.length]);
    await arena.allocate();
    const recorder = { gpu, pipelines: Pipelines.forDevice(gpu), shapes: new ShapeUniforms(gpu) };
    const plan = new Plan(recorder, 'merge');
    recordMerge(
      plan,
      [{ ...adapter!, baseMatrix: base, mergedMatrix: merged, firstColumn: column, aStart: 0, bStart: A.length }],
      pool,
      ADAPTERS,
    );
    await compile(recorder, undefined, plan.dispatches.map(({ entry }) => entry)); // prettier-ignore
    await loadMatrix(gpu, source, base);
    write(gpu, pool, Float32Array.from([...A, ...B]));
    submit(gpu, (encoder) => plan.encode(encoder));
    const [words] = await readOnce(gpu, [merged.parts[0]!.weights]);
    const got = new Float32Array(words!.buffer);
    const wide = await readFloat32(source.get(weightName)!);
    const { rank } = ADAPTERS;
    const want = wide.map((w, at) => {
      const [o, i] = [Math.floor(at / fanIn), at % fanIn];
      let sum = 0;
      for (let r = 0; r < rank; r++) sum += B[o * rank + r]! * A[r * fanIn + i]!;
      return w + adapterScale(ADAPTERS) * sum;
    });
    expect(apart(got.subarray(column * fanIn), want)).toBeLessThan(1e-6); // sums of three products, rounded to float32
    expect(got.subarray(0, column * fanIn).every((w) => w === 0)).toBe(true); // rows of others stay
    gpu.close();
  },
);

const WAYS = [
  ['in several passes', { maxTokens: 21 }, ADAPTERS],
  ['matrices in several buffers', { bufferBytes: 12_000 }, ADAPTERS],
  ['beside attention alone', {}, { ...ADAPTERS, rank: 4, targets: LINEAR_NAMES.slice(0, 4) }],
  ['beside one of several linears of a product', {}, { ...ADAPTERS, targets: ['k_proj', 'up_proj'] as const }],
] as const;
test.each(firstRows(WAYS, 2))('gradients are the same %s', async (_, options, adapters) => {
  const [there, here] = await both(
    QWEN2,
    packedSource(QWEN2, 7, () => 'Q4_1'),
    options,
    adapters,
  );
  const [got, want] = [await gradientsOf(there), await gradientsOf(here)];
  for (const [name, tensor] of want) expect(apart(got.get(name)!, tensor), name).toBeLessThan(ROUNDING);
  there.destroy();
});

async function gradientsOf(policy: GpuAdaptedPolicy | AdaptedPolicy): Promise<Weights> {
  const record = alike(policy.model.vocab_size);
  policy.load(record, someCredit(record, [Role.action]));
  await policy.accumulate(everyRow, SETTINGS, 0.8);
  return policy.gradients();
}

test('goes on from a saved state as it would have, and the CPU goes on from it', async () => {
  const source = packedSource(LLAMA, 7, () => 'Q4_1');
  const [first, here] = await both(LLAMA, source);
  const [second] = await both(LLAMA, source);
  const record = alike(LLAMA.vocab_size);
  const learn = async (policy: Policy) => {
    policy.load(record, someCredit(record, [Role.action]));
    await policy.learn(everyRow, SETTINGS, OPTIMIZER, 1);
  };
  await learn(first);
  const state = await first.readState();
  for (const policy of [second, here]) policy.writeState(state);
  for (const policy of [first, second, here]) await learn(policy);
  expect(await second.readState()).toEqual(await first.readState());
  const { weights } = (await first.readState()).policy;
  for (const [name, tensor] of (await here.readState()).policy.weights) {
    expect(apart(weights.get(name)!, tensor), name).toBeLessThan(ROUNDING);
  }
  for (const policy of [first, second]) policy.destroy();
});

test('a step has few read-backs, and logits of no more targets at once than fit', async () => {
  const [there] = await both(
    LLAMA,
    packedSource(LLAMA, 7, () => 'Q4_1'),
  );
  const record = alike(LLAMA.vocab_size);
  there.load(record, someCredit(record, [Role.action]));
  await there.learn(everyRow, SETTINGS, OPTIMIZER, 1);
  const before = there.counters();
  await there.learn(everyRow, SETTINGS, OPTIMIZER, 1);
  const after = there.counters();
  expect(after.readbacks - before.readbacks).toBe(2); // scores, gradients
  expect(after.creations).toBe(before.creations);
  const parts = (await there.profile(() => performance.now())).memory;
  expect(parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(there.memoryBytes);
  there.destroy();
});

test('refuses a critic of its own, an odd vocabulary and a run that does not fit, before it reads a weight', async () => {
  const unread = (model: ModelConfig): WeightSource =>
    new Map(
      [...packedSource(model, 7, () => 'F32')].map(([name, tensor]) => [
        name,
        { ...tensor, read: () => Promise.reject(new Error('read')) },
      ]),
    );
  const refused = (spec: PolicySpec) =>
    openGpuAdaptedPolicy(navigator.gpu, spec, unread(spec.model), ADAPTERS, learningMath, {
      ...{ seed: 1, reason: '' },
    }).catch((e: unknown) => e);
  const spec = specOf(LLAMA);
  const critic = await refused({ ...spec, critic: 'separate' });
  expect(critic).toBeInstanceOf(BackendError);
  expect((critic as BackendError).demands).toContain('critic');
  expect(await refused(specOf(models.LLAMA))).toBeInstanceOf(BackendError);
  const huge = await refused({ ...spec, rows: 4096, length: 60_000 });
  expect(huge).toBeInstanceOf(BackendError);
  expect((huge as BackendError).message).toContain('MiB');
});
