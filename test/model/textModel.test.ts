import { describe, expect, it } from 'vitest';
import { uniform } from '../../src/base/rng.ts';
import { drawToken } from '../../src/model/cpu/sampler.ts';
import { openCpuTextModel, type CpuTextModelOptions } from '../../src/model/cpu/cpuTextModel.ts';
import type { Sampling } from '../../src/model/decoding.ts';
import { BackendError } from '../../src/model/policy.ts';
import type { TextModel } from '../../src/model/textModel.ts';
import { expected, MODELS, opened } from '../weights/fixtures.ts';
import { KINDS, randomSource, sampling, SMALL } from './textModels.ts';
import { NAIVE } from './naiveArithmetic.ts';

const V = SMALL.vocab_size;
const SIZES = { rows: 4, length: 40 } as const;
const open = (model = SMALL, options: Partial<CpuTextModelOptions> = {}) =>
  openCpuTextModel(model, randomSource(model, 11), { ...SIZES, ...options });

const COMMON = [5, 1, 36, 7, 7, 20, 3, 9];
/** Begun together they share eight, nine and eleven tokens, and one is the beginning of another. */
const TEXTS = [
  [...COMMON, 4, 8, 2, 30],
  [...COMMON, 4],
  [...COMMON, 11, 2],
  [...COMMON, 4, 8, 2, 31, 6],
] as const;

/** log p of every token after each row's text, as the rows say it. */
async function everything(model: TextModel, rows: readonly number[]): Promise<number[][]> {
  const found = await model.likeliest(rows, model.model.vocab_size);
  return found.map(({ ids, logprobs }) => ids.map((_, id) => logprobs[ids.indexOf(id)]!));
}

/** The same of a text that is alone in a model of its own. */
async function alone(text: readonly number[], kind = SMALL, options: Partial<CpuTextModelOptions> = {}) {
  const model = await open(kind, { rows: 1, ...options });
  await model.begin([text]);
  return (await everything(model, [0]))[0]!;
}

const apart = (a: readonly number[], b: readonly number[]) => {
  expect(a.length).toBe(b.length);
  return a.reduce((worst, x, i) => Math.max(worst, Math.abs(x - b[i]!)), 0);
};

describe.each(MODELS)('%s', (name) => {
  // float32 keeps seven digits of logits of size ten, halves three; weights of whole numbers take activations in 16 bits, off by 1.5e-5 of the largest of 32
  it.each([
    ['float64', { loops: NAIVE.f64 }, 2e-5],
    ['float32 in plain loops', { loops: NAIVE.f32 }, 1e-4],
    ['SIMD', { packWeights: false, float16Cache: false }, 1e-4],
    ['SIMD on packed weights', { float16Cache: false }, name.endsWith('.gguf') ? 1e-3 : 1e-4],
    ['SIMD with keys and values as halves', { packWeights: false }, 1e-2],
  ] as const)('has the log-probabilities of PyTorch in float64: %s', async (_, options, tolerance) => {
    const { model, weights } = await opened(name);
    const reader = await openCpuTextModel(model, weights, { rows: 1, length: 32, ...options });
    const want = expected.tokens.map((_, i) => {
      const logits = expected.logits[name]![i]!;
      const norm = Math.log(logits.reduce((sum, z) => sum + Math.exp(z), 0));
      return logits.map((z) => z - norm);
    });
    const [first, ...rest] = expected.tokens;
    await reader.begin([[first!]]);
    const scored = await reader.score(0, rest);
    expect(apart(scored, rest.map((id, i) => want[i]![id]!))).toBeLessThan(tolerance); // prettier-ignore
    const found = [await everything(reader, [0])];
    for (const id of rest) {
      await reader.append([{ row: 0, ids: [id] }]);
      found.push(await everything(reader, [0]));
    }
    expect(apart(found.flat(2), want.flat())).toBeLessThan(tolerance);
  });
});

describe.each(Object.entries(KINDS))('%s', (_, kind) => {
  // a row's sums do not depend on what is computed beside it, so there is nothing to allow for
  it('rows that begin together say what each says alone, to the bit', async () => {
    const model = await open(kind);
    await model.begin(TEXTS);
    const together = await everything(model, [0, 1, 2, 3]);
    for (const [row, text] of TEXTS.entries()) expect(together[row]).toEqual(await alone(text, kind));
    expect(apart(together[0]!, together[2]!)).toBeGreaterThan(1e-3);
    await model.begin([TEXTS[2], TEXTS[0], TEXTS[2]]);
    const twice = await everything(model, [0, 1, 2]);
    expect(twice).toEqual([together[2], together[0], together[2]]);
    await model.append([{ row: 2, ids: [6] }]);
    expect(await everything(model, [0, 2])).toEqual([together[2], await alone([...TEXTS[2], 6], kind)]);
  });

  // float32 keeps seven digits of logits of size one, a half three
  it('SIMD agrees with float64, and with halves for keys and values to their three digits', async () => {
    for (const text of TEXTS) {
      const want = await alone(text, kind, { loops: NAIVE.f64 });
      expect(apart(await alone(text, kind, { float16Cache: false }), want)).toBeLessThan(2e-5);
      const halves = apart(await alone(text, kind), want);
      expect(halves).toBeLessThan(1e-2);
      expect(halves).toBeGreaterThan(2e-5);
    }
  });

  it('a text that was kept in part, appended to and scored says what one does that began so, to the bit', async () => {
    const model = await open(kind);
    await model.begin(TEXTS);
    model.keep(0, 5);
    await model.append([
      { row: 0, ids: [9, 9] },
      { row: 3, ids: [12] },
    ]);
    const scored = await model.score(0, [1, 2, 3]);
    model.keep(3, 13);
    const rows = await everything(model, [0, 1, 2, 3]);
    expect(rows[0]).toEqual(await alone([...COMMON.slice(0, 5), 9, 9], kind));
    expect(rows.slice(1)).toEqual(await Promise.all(TEXTS.slice(1).map((text) => alone(text, kind))));
    expect([0, 1, 2, 3].map((row) => model.textLength(row))).toEqual([7, 9, 10, 13]);
    const each = [[1], [1, 2], [1, 2, 3]].map(async (ids) => {
      const before = await alone([...COMMON.slice(0, 5), 9, 9, ...ids.slice(0, -1)], kind);
      return before[ids.at(-1)!];
    });
    expect(scored).toEqual(await Promise.all(each));
  });
});

// many rows take another kernel than one, which adds the same terms in the same order
it.each(MODELS)('%s: rows on packed weights say what each says alone, to the bit', async (name) => {
  const { model, weights } = await opened(name);
  const texts = [7, 9, 13, 4, 20, 16, 17].map((count, i) => [i, ...expected.tokens.slice(0, count)]);
  const together = await openCpuTextModel(model, weights, { rows: texts.length, length: 32 });
  await together.begin(texts);
  const rows = await everything(together, texts.map((_, row) => row)); // prettier-ignore
  const single = await openCpuTextModel(model, weights, { rows: 1, length: 32 });
  for (const [row, [first, ...rest]] of texts.entries()) {
    await single.begin([[first!]]);
    for (const id of rest) await single.append([{ row: 0, ids: [id] }]);
    expect((await everything(single, [0]))[0]).toEqual(rows[row]);
  }
});

describe('drawing', () => {
  /** What `drawToken` draws after `text` from the probabilities of a model that reads it anew. */
  async function oracle(text: readonly number[], row: number, by: Sampling) {
    const model = await open(SMALL, { rows: 1 });
    await model.begin([text]);
    const logprobs = (await everything(model, [0]))[0]!.map((l) => l / by.temperature);
    const norm = Math.log(logprobs.reduce((sum, l) => sum + Math.exp(l), 0));
    const tempered = Float64Array.from(logprobs, (l) => l - norm);
    const u = uniform(by.key, by.update, row, text.length);
    const { token } = drawToken(tempered, new Int32Array(V), by, u);
    return { token, logprob: tempered[token]! };
  }

  it.each([
    ['from all', {}],
    ['the likeliest', { greedy: true }],
    ['top-k', { topK: 4 }],
    ['top-p', { topP: 0.6 }],
    ['both, warm', { topK: 9, topP: 0.8, temperature: 1.7 }],
  ])('tokens are those that drawToken draws with the same counters: %s', async (_, changes) => {
    const by = sampling(changes);
    const model = await open();
    await model.begin(TEXTS);
    const drawn = await model.draw([2, 0], { maxTokens: 6, stops: [] }, by);
    expect(drawn.map(({ row, ids }) => [row, ids.length])).toEqual([
      [2, 6],
      [0, 6],
    ]);
    for (const { row, ids, logprobs } of drawn) {
      for (const [i, id] of ids.entries()) {
        const { token, logprob } = await oracle([...TEXTS[row]!, ...ids.slice(0, i)], row, by);
        expect(id).toBe(token);
        expect(logprobs[i]).toBeCloseTo(logprob, 5);
      }
    }
  });

  it('the same counters draw the same text, in pieces too, other counters another', async () => {
    const [whole, pieces, other] = await Promise.all([open(), open(), open()]);
    for (const model of [whole, pieces, other]) await model.begin(TEXTS);
    const rows = [0, 1, 2, 3];
    const all = await whole.draw(rows, { maxTokens: 9, stops: [] }, sampling());
    const [first, second] = [
      await pieces.draw(rows, { maxTokens: 4, stops: [] }, sampling()),
      await pieces.draw(rows, { maxTokens: 5, stops: [] }, sampling()),
    ];
    expect(rows.map((row) => [...first[row]!.ids, ...second[row]!.ids])).toEqual(all.map(({ ids }) => ids));
    expect(await everything(pieces, rows)).toEqual(await everything(whole, rows));
    const others = await other.draw(rows, { maxTokens: 9, stops: [] }, sampling({ update: 4 }));
    expect(others.map(({ ids }) => ids)).not.toEqual(all.map(({ ids }) => ids));
  });

  it('a row ends with its stop id, which counts, or with its text full; others go on', async () => {
    const model = await open(SMALL, { rows: 2, length: 14 });
    await model.begin([TEXTS[0], TEXTS[1]]);
    const free = await model.draw([0, 1], { maxTokens: 20, stops: [] }, sampling());
    expect(free.map(({ ids, stopped }) => [ids.length, stopped])).toEqual([
      [2, false],
      [5, false],
    ]);
    expect(await model.draw([0], { maxTokens: 3, stops: [] }, sampling())).toEqual([
      { row: 0, ids: [], logprobs: [], stopped: false },
    ]);
    await model.begin([TEXTS[0], TEXTS[1]]);
    const stop = free[1]!.ids[1]!;
    const stopped = await model.draw([0, 1], { maxTokens: 20, stops: [stop] }, sampling());
    expect(stopped[1]).toEqual({ ...free[1]!, ids: free[1]!.ids.slice(0, free[1]!.ids.indexOf(stop) + 1), logprobs: free[1]!.logprobs.slice(0, free[1]!.ids.indexOf(stop) + 1), stopped: true }); // prettier-ignore
    expect(model.textLength(1)).toBe(9 + stopped[1]!.ids.length);
  });
});

describe('what is refused changes nothing', () => {
  it.each([
    ['more texts than rows', (m: TextModel) => m.begin([[1], [1], [1], [1], [1]]), '5 texts are too many for 4 rows'],
    ['a text that is too long', (m: TextModel) => m.begin([[1], Array<number>(41).fill(1)]), 'at most 40'],
    ['a foreign id', (m: TextModel) => m.begin([[1], [2, V]]), 'token 37 of row 1 is out of range'],
    ['no id', (m: TextModel) => m.append([{ row: 0, ids: [0.5] }]), 'token 0.5'],
    ['a later row’s foreign id', (m: TextModel) => m.append([{ row: 0, ids: [1] }, { row: 1, ids: [-1] }]), 'token -1'], // prettier-ignore
    ['no such row', (m: TextModel) => m.append([{ row: 4, ids: [1] }]), 'Row 4 is out of range: rows go from 0 to 3'],
    ['a row twice', (m: TextModel) => m.draw([1, 1], { maxTokens: 2, stops: [] }, sampling()), 'name a row twice'],
    ['an empty row', (m: TextModel) => m.draw([0, 3], { maxTokens: 2, stops: [] }, sampling()), 'row 3 has no text'],
    [
      'no temperature',
      (m: TextModel) => m.draw([0], { maxTokens: 2, stops: [] }, sampling({ temperature: 0 })),
      'greedy',
    ],
    [
      'a score that does not fit',
      (m: TextModel) => m.score(0, Array<number>(30).fill(1)),
      'row 0 would have 42 tokens, and at most 40 fit',
    ],
    ['more tokens than there are', (m: TextModel) => m.likeliest([0], V + 1), 'Ask for 1 to 37'],
    ['nothing kept', async (m: TextModel) => Promise.resolve().then(() => m.keep(0, 0)), 'has 1 to 12'],
    ['more kept than there is', async (m: TextModel) => Promise.resolve().then(() => m.keep(0, 13)), 'has 1 to 12'],
  ])('%s', async (_, ask, message) => {
    const model = await open();
    await model.begin(TEXTS.slice(0, 3));
    const before = await everything(model, [0, 1, 2]);
    const asked = ask(model);
    await expect(asked).rejects.toThrow(RangeError);
    await expect(asked).rejects.toThrow(message);
    expect([0, 1, 2, 3].map((row) => model.textLength(row))).toEqual([12, 9, 10, 0]);
    expect(await everything(model, [0, 1, 2])).toEqual(before);
  });

  it('tokens beyond those that the cache was opened for', async () => {
    // eight in common, one, two and three more, of which one is of two rows
    const model = await open(SMALL, { cachedTokens: 8 + 4 + 2 + 2 });
    await model.begin(TEXTS);
    const before = await everything(model, [0, 1, 2, 3]);
    await expect(model.append([{ row: 0, ids: [1] }])).rejects.toThrow('room for 0 more tokens, and 1 are needed');
    await expect(model.draw([0], { maxTokens: 2, stops: [] }, sampling())).rejects.toThrow('cached tokens');
    expect(await everything(model, [0, 1, 2, 3])).toEqual(before);
    // one token is drawn without being kept yet
    expect((await model.draw([0], { maxTokens: 1, stops: [] }, sampling()))[0]!.ids).toHaveLength(1);
    await expect(model.begin([Array<number>(17).fill(1)])).rejects.toThrow(
      'room for 16 more tokens, and 17 are needed',
    );
  });

  it('more memory than there can be, before anything is read', async () => {
    const source = randomSource(SMALL, 11);
    const unread = new Map(
      [...source].map(([name, tensor]) => [name, { ...tensor, read: () => Promise.reject(new Error('was read')) }]),
    );
    const asked = openCpuTextModel(SMALL, unread, { rows: 64, length: 2 ** 22 });
    await expect(asked).rejects.toThrow(BackendError);
    await expect(asked).rejects.toThrow('GiB for 64 texts of 4194304 tokens');
    await expect(openCpuTextModel(SMALL, unread, { rows: 0, length: 8 })).rejects.toThrow('rows is 0');
  });
});
