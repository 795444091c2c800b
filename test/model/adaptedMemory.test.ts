import { expect, test } from 'vitest';
import { Q4_1 } from '../../src/formats/blocks/blockFormats.ts';
import { adaptedLinears, adapterParameters, LINEAR_NAMES } from '../../src/model/loraAdapters.ts';
import { type ModelConfig, parameters } from '../../src/model/architecture.ts';
import { forwardBuffersSize, activationSize } from '../../src/model/cpu/activations.ts';
import { adapterGradientSize } from '../../src/model/cpu/adapters/adapterGradients.ts';
import {
  type AdaptedMemoryOptions,
  adaptedPolicyMemory,
  adaptedPolicyPlan,
} from '../../src/model/cpu/adapters/memory.ts';
import { headSize } from '../../src/model/cpu/head.ts';
import type { WeightSource } from '../../src/model/weightSource.ts';
import { SMALL } from './textModels.ts';
import { NAIVE } from './naiveArithmetic.ts';

const ADAPTERS = { rank: 3, alpha: 5, targets: LINEAR_NAMES };
const BIG = { ...SMALL, hidden_size: 576, num_hidden_layers: 30, num_attention_heads: 9, num_key_value_heads: 3, head_dim: 64, intermediate_size: 1536, vocab_size: 49_152 }; // prettier-ignore

/** Weights that are never read. */
const unread = (model: ModelConfig): WeightSource =>
  new Map(
    parameters(model).map(({ name, shape, size }) => [
      name,
      { shape, format: Q4_1, bytes: (size / 32) * 20, read: () => Promise.reject(new Error('read')) },
    ]),
  );
const planOf = (model: ModelConfig, rows: number, length: number, options: AdaptedMemoryOptions = {}) =>
  adaptedPolicyPlan({ model, critic: 'none', rows, length, minibatchRows: rows }, unread({ ...model, value_head: false }), ADAPTERS, options); // prettier-ignore
const sum = (of: readonly { readonly size: number }[]) => of.reduce((all, { size }) => all + size, 0);

test.each([
  ['f64', 8, SMALL],
  ['f32', 4, { ...SMALL, value_head: true }],
  ['f64', 8, { ...SMALL, head_dim: 10 }], // heads together are wider than the feed-forward
] as const)('memory in %s is counted part by part: %i bytes a number', (precision, each, model) => {
  const [rows, length] = [5, 17];
  const { memory, bytes, passes, drawing } = planOf(model, rows, length, { loops: NAIVE[precision] });
  const base = { ...model, value_head: false };
  const { tokens } = passes.capacity;
  const [q, f] = [model.num_attention_heads * model.head_dim, model.intermediate_size];
  const pool = sum(adapterParameters(model, ADAPTERS));
  expect([tokens, passes.capacity.pairs, passes.capacity.longestRow, passes.keptTokens]).toEqual([85, 85 * 17, 17, 85]);
  expect(drawing).toMatchObject({ simd: false, float16Cache: false, tokens: 64, slots: 85, rows, length });
  // B of the widest linear, turned, lies beside; B and A are there for the reference too
  const widest = Math.max(q, f, model.hidden_size);
  const gradients = model.hidden_size + tokens * (ADAPTERS.rank + Math.max(q, f));
  expect(adapterGradientSize(model, ADAPTERS, tokens)).toBe(gradients);
  const learning = activationSize(model, passes.capacity, 85) + headSize(model, tokens) + gradients;
  const scores = (model.num_attention_heads / model.num_key_value_heads) * 20; // 17 in whole vectors of four
  const drawn = forwardBuffersSize(model, 64, scores) + 2 * (model.vocab_size + rows * model.hidden_size) + model.hidden_size; // prettier-ignore
  const rotary = 2 * length * model.head_dim; // one of learning, one of drawing
  const keys = 2 * model.num_hidden_layers * 85 * model.num_key_value_heads * model.head_dim;
  expect(memory.map((part) => part.bytes)).toEqual([
    each * (sum(parameters(base)) + widest * ADAPTERS.rank),
    adaptedLinears(base, ADAPTERS).reduce((all, { out, in: fanIn }) => all + (out * fanIn * 20) / 32, 0),
    each * 2 * pool,
    each * 3 * pool,
    each * (learning + drawn + rotary),
    each * keys + 8 * 85,
    each * rows * model.vocab_size + (85 + 7 * each) * 85,
  ]);
  expect(new Set(memory.map(({ purpose }) => purpose)).size).toBe(7);
  expect(memory.every(({ purpose }) => /\w/.test(purpose))).toBe(true);
  expect(bytes).toBe(memory.reduce((all, part) => all + part.bytes, 0));
});

test('a pass has the tokens that it is given, that there are, or that fit, and a whole row at least', () => {
  const tokens = (rows: number, length: number, options: AdaptedMemoryOptions = {}, model: ModelConfig = SMALL) => {
    const { capacity, keptTokens } = planOf(model, rows, length, options).passes;
    return [capacity.tokens, keptTokens];
  };
  expect(tokens(5, 17)).toEqual([85, 85]);
  expect(tokens(5, 17, { maxTokens: 40 })).toEqual([40, 40]);
  expect(tokens(5, 17, { maxTokens: 4 })).toEqual([17, 17]);
  // one layer costs nothing more to keep, however little memory there is
  expect(tokens(5, 17, { maxBytes: 1 }, { ...SMALL, num_hidden_layers: 1 })).toEqual([85, 85]);
  expect(planOf({ ...SMALL, num_hidden_layers: 1 }, 5, 17, { maxBytes: 1 }).bytes).toBeGreaterThan(1e5);
  expect(tokens(5, 17, { keptTokens: 0 })).toEqual([85, 0]);
  expect(tokens(5, 17, { keptTokens: 30 })).toEqual([85, 30]);
  expect(tokens(5, 17, { keptTokens: 300 })).toEqual([85, 85]);
  expect(tokens(900, 17)[0]).toBe(4096);
  // a model whose activations fill 640 MiB, and 1280 MiB where those of all layers are kept
  const [most = 0, kept = 0] = tokens(64, 512, {}, BIG);
  const room = (n: number, keptTokens: number) => (4 * activationSize(BIG, { tokens: n, pairs: n * 512, longestRow: 512, places: 0 }, keptTokens)) / 2 ** 20; // prettier-ignore
  expect(room(most, 0) / 640).toBeCloseTo(1, 1);
  expect((room(most, kept) - room(most, 0)) / 1280).toBeCloseTo(1, 1);
  expect(kept).toBeLessThan(most);
  // twice as wide numbers, half as many
  expect(tokens(64, 512, { loops: NAIVE.f64, maxBytes: Infinity }, BIG)[0]! / most).toBeCloseTo(0.5, 2);
});

test('the fastest plan that fits is taken, to the byte: no layer kept, then half as many tokens and a cache of halves', () => {
  const plans = [planOf(BIG, 64, 512)];
  for (let i = 0; i < 4; i++) plans.push(planOf(BIG, 64, 512, { maxBytes: plans.at(-1)!.bytes - 1 }));
  const all = plans.map(({ passes, drawing }) => [passes.keptTokens > 0, drawing.float16Cache]);
  expect(all).toEqual([[true, false], [false, false], [false, true], [false, true], [false, true]]); // prettier-ignore
  const [a, b, c, d, e] = plans.map(({ bytes }) => bytes);
  expect([a! > b!, b! > c!, c! > d!, d === e]).toEqual([true, true, true, true]); // of less there is none
  const tokens = plans.map(({ passes }) => passes.capacity.tokens);
  expect([tokens[1]! / tokens[2]!, tokens[2]! / tokens[3]!].map(Math.round)).toEqual([2, 2]);
  for (const plan of plans) expect(planOf(BIG, 64, 512, { maxBytes: plan.bytes })).toEqual(plan);
  // halves are of SIMD in float32 alone
  for (const options of [{ loops: NAIVE.f64 }, { loops: NAIVE.f32 }] as const) {
    expect(planOf(BIG, 64, 512, { ...options, maxBytes: 1 }).drawing).toMatchObject({
      float16Cache: false,
      simd: false,
    });
  }
  expect(planOf(BIG, 64, 512, {}).drawing.simd).toBe(true);
  const spec = { model: BIG, critic: 'none', rows: 64, length: 512, minibatchRows: 64 } as const;
  expect(adaptedPolicyMemory(spec, unread(BIG), ADAPTERS)).toEqual(plans[0]!.memory);
});
