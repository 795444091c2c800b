import { afterAll, describe, expect, test } from 'vitest';
import { uniform } from '../../src/base/rng.ts';
import { drawToken } from '../../src/model/cpu/sampler.ts';
import type { Sampling } from '../../src/model/decoding.ts';
import type { DrawnText } from '../../src/model/textModel.ts';
import { firstRows } from '../weekly.ts';
import { packedSource } from './textSources.ts';
import { apart, byId, LLAMA, logSoftmax, opened, oracle } from './textModels.ts';

const V = LLAMA.vocab_size;
const SOURCE = packedSource(LLAMA, 11, () => 'Q4_1');
const GREEDY: Sampling = { key: 5, update: 2, temperature: 1, greedy: true, topK: 0, topP: 1 };
/** Float32 sums of up to 64 terms through two layers against float64. */
const ROUNDING = 1e-5;
const PROMPT = [3, 40, 17, 5, 5, 29, 0, 42, 11, 8];
const TEXTS = [PROMPT, [...PROMPT, 7], [...PROMPT.slice(0, 6), 1, 2], [9]];
const ROWS = [0, 1, 2, 3];
const model = await opened(LLAMA, SOURCE, { rows: 4, length: 48 });
afterAll(() => model.destroy());

/** What the CPU's sampler draws after each prefix of a row's text in float64, and its log-probability. */
async function wanted(prompt: readonly number[], { row, ids }: DrawnText, sampling: Sampling) {
  const logprobs = await oracle(LLAMA, SOURCE, [...prompt, ...ids]);
  return ids.map((id, i) => {
    const position = prompt.length + i;
    const tempered = Float64Array.from(logSoftmax(logprobs[position - 1]!, sampling.temperature));
    const u = uniform(sampling.key, sampling.update, row, position);
    const { token } = drawToken(tempered, new Int32Array(V), sampling, u);
    return { token, logprob: tempered[id]! };
  });
}

describe('draws', () => {
  const SAMPLINGS: readonly (readonly [string, Partial<Sampling>])[] = [
    ['from both cuts', { greedy: false, topK: 12, topP: 0.8, temperature: 0.9, key: 77 }],
    ['from the whole distribution', { greedy: false }],
    ['the likeliest token', { greedy: true }],
    ['from a flatter one', { greedy: false, temperature: 1.7, update: 3 }],
    ['from the five likeliest', { greedy: false, topK: 5, temperature: 1.3 }],
    ['from the likeliest that hold .6', { greedy: false, topP: 0.6 }],
    ['from the one likeliest', { greedy: false, topK: 1 }],
  ];
  test.each(firstRows(SAMPLINGS, 2))('%s, as the CPU draws it from float64 of the whole text', async (_, part) => {
    const sampling = { ...GREEDY, ...part };
    await model.begin(TEXTS);
    const drawn = await model.draw(ROWS, { maxTokens: 20, stops: [] }, sampling); // more than a chunk
    for (const one of drawn) {
      expect(one.ids.length).toBe(20);
      const want = await wanted(TEXTS[one.row]!, one, sampling);
      // a uniform within 1e-6 of a boundary could give the neighbouring id; none of these 560 does
      expect(one.ids).toEqual(want.map(({ token }) => token));
      expect(apart(one.logprobs, want.map(({ logprob }) => logprob))).toBeLessThan(ROUNDING); // prettier-ignore
      expect(model.textLength(one.row)).toBe(TEXTS[one.row]!.length + 20);
    }
    expect(new Set(drawn.flatMap(({ ids }) => ids)).size).toBeGreaterThan(3);
  });

  test('the same in one go and in many, and other text under other counters', async () => {
    const sampling = { ...GREEDY, greedy: false };
    await model.begin(TEXTS);
    const [whole] = await model.draw([1], { maxTokens: 20, stops: [] }, sampling);
    await model.begin(TEXTS);
    const parts: number[] = [];
    for (const steps of [1, 7, 12])
      parts.push(...(await model.draw([1], { maxTokens: steps, stops: [] }, sampling))[0]!.ids);
    expect(parts).toEqual(whole!.ids);
    await model.begin(TEXTS);
    const [other] = await model.draw([1], { maxTokens: 20, stops: [] }, { ...sampling, update: 9 });
    expect(other!.ids).not.toEqual(whole!.ids);
  });

  test('until a stop id, which is the last; other rows go on to their steps, and all to a full text', async () => {
    await model.begin(TEXTS);
    const free = await model.draw(ROWS, { maxTokens: 100, stops: [] }, { ...GREEDY, greedy: false });
    expect(free.map(({ row, ids }) => TEXTS[row]!.length + ids.length)).toEqual([48, 48, 48, 48]);
    const stop = free[0]!.ids[4]!;
    await model.begin(TEXTS);
    const stopped = await model.draw(ROWS, { maxTokens: 18, stops: [42_000, stop] }, { ...GREEDY, greedy: false });
    for (const [row, { ids, stopped: ended }] of stopped.entries()) {
      const at = free[row]!.ids.indexOf(stop);
      const ends = at >= 0 && at < 18;
      expect(ended).toBe(ends);
      expect(ids).toEqual(free[row]!.ids.slice(0, ends ? at + 1 : 18));
      expect(model.textLength(row)).toBe(TEXTS[row]!.length + ids.length);
    }
    expect(stopped[0]!.stopped).toBe(true);
    expect(stopped.some(({ stopped: ended }) => !ended)).toBe(true);
  });
});

test('of tokens that are equally likely the lower ids come first, are the likeliest, and are kept by top-k and top-p', async () => {
  // every weight of the embedding, which is the head too, is the same: so are all logits
  const flat = new Map(SOURCE);
  const embedding = flat.get('model.embed_tokens.weight')!;
  const read = async (out: Uint8Array) => {
    await embedding.read(out);
    for (let at = 20; at < out.length; at++) out[at] = out[at % 20]!;
  };
  flat.set('model.embed_tokens.weight', { ...embedding, read });
  const equal = await opened(LLAMA, flat, { rows: 1, length: 128 });
  await equal.begin([PROMPT]);
  const [found] = await equal.likeliest([0], 7);
  expect(found!.ids).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(apart(found!.logprobs, new Array<number>(7).fill(-Math.log(V)))).toBeLessThan(ROUNDING);
  const drawnWith = async (part: Partial<Sampling>, steps: number) => {
    await equal.begin([PROMPT]);
    const [{ ids } = { ids: [] }] = await equal.draw([0], { maxTokens: steps, stops: [] }, { ...GREEDY, greedy: false, ...part }); // prettier-ignore
    const sampling = { ...GREEDY, greedy: false, ...part };
    const even = new Float64Array(V).fill(-Math.log(V));
    const want = ids.map((_, i) => {
      const u = uniform(sampling.key, sampling.update, 0, PROMPT.length + i);
      return drawToken(even, new Int32Array(V), sampling, u).token;
    });
    expect(ids).toEqual(want);
    return [...new Set(ids)].sort((a, b) => a - b);
  };
  expect(await drawnWith({ greedy: true }, 4)).toEqual([0]);
  expect(await drawnWith({ topK: 5 }, 24)).toEqual([0, 1, 2, 3, 4]);
  expect(await drawnWith({ topP: 0.08 }, 24)).toEqual([0, 1, 2, 3]); // 3 of 43 hold .0698, a fourth .093
  expect(await drawnWith({ topK: 6, topP: 0.49 }, 24)).toEqual([0, 1, 2]); // of six equal ones .49 takes three
  expect((await drawnWith({}, 100)).length).toBeGreaterThan(30);
  equal.destroy();
});

describe('a text that is cut, appended to and drawn on', () => {
  test('is the text it reads, and rows that began alike keep theirs', async () => {
    await model.begin(TEXTS);
    await model.draw([0, 1], { maxTokens: 5, stops: [] }, GREEDY);
    const before = await model.likeliest([1, 2], V);
    model.keep(0, 4); // within what rows 1 and 2 share
    await model.append([{ row: 0, ids: [33, 34, 35] }, { row: 3, ids: [1] }, { row: 0, ids: [36] }]); // prettier-ignore
    const [own, short] = await model.likeliest([0, 3], V);
    const want = await oracle(LLAMA, SOURCE, [3, 40, 17, 5, 33, 34, 35, 36]);
    expect(apart(byId(own!), want[7]!)).toBeLessThan(ROUNDING);
    expect(apart(byId(short!), (await oracle(LLAMA, SOURCE, [9, 1]))[1]!)).toBeLessThan(ROUNDING);
    expect(await model.likeliest([1, 2], V)).toEqual(before);
    expect(model.textLength(0)).toBe(8);
  });

  test('is as it was after its tokens were scored', async () => {
    await model.begin(TEXTS);
    const before = await model.likeliest([1], V);
    const want = await oracle(LLAMA, SOURCE, [...TEXTS[1]!, 20, 21, 22]);
    const scores = await model.score(1, [20, 21, 22]);
    expect(apart(scores, [want[10]![20]!, want[11]![21]!, want[12]![22]!])).toBeLessThan(ROUNDING);
    expect(await model.score(1, [])).toEqual([]);
    expect(await model.likeliest([1], V)).toEqual(before);
  });
});

test('what is asked for wrongly is refused, and no row has changed', async () => {
  await model.begin(TEXTS.slice(0, 3));
  const limits = { maxTokens: 1, stops: [] };
  const refused: readonly [() => Promise<unknown>, string][] = [
    [() => model.begin([[1], [43]]), 'token 43 of row 1 is out of range: ids go from 0 to 42'],
    [() => model.begin([[1], []]), 'the text of row 1 is empty'],
    [() => model.begin([[1], [1], [1], [1], [1]]), '5 texts are too many for 4 rows'],
    [() => model.begin([new Array<number>(49).fill(1)]), 'row 0 would have 49 tokens, and at most 48 fit'],
    [() => model.append([{ row: 0, ids: [1] }, { row: 0, ids: new Array<number>(38).fill(1) }]), 'row 0 would have 49'], // prettier-ignore
    [() => model.append([{ row: 3, ids: [1] }]), 'row 3 has no text'],
    [() => model.append([{ row: 4, ids: [1] }]), 'Row 4 is out of range: rows go from 0 to 3'],
    [() => model.append([{ row: 1, ids: [0.5] }]), 'token 0.5 of row 1 is out of range'],
    [() => model.draw([3], limits, GREEDY), 'row 3 has no text'],
    [() => model.draw([1, 1], limits, GREEDY), 'name a row twice'],
    [() => model.likeliest([0], 44), '44 tokens can’t be listed. Ask for 1 to 43'],
    [() => model.score(0, [-1]), 'token -1 of row 0 is out of range'],
    [() => model.score(0, new Array<number>(39).fill(1)), 'would have 49 tokens'],
  ];
  for (const [ask, message] of refused) {
    await expect(ask()).rejects.toThrow(message);
    await expect(ask()).rejects.toThrow(RangeError);
  }
  expect(() => model.keep(0, 0)).toThrow('keep: 0 tokens can’t be kept, because row 0 has 1 to 10');
  expect(() => model.textLength(-1)).toThrow('Row -1 is out of range');
  expect(ROWS.map((row) => model.textLength(row))).toEqual([10, 11, 8, 0]);
  const [drawn] = await model.draw([0], limits, GREEDY);
  const want = await oracle(LLAMA, SOURCE, TEXTS[0]!);
  expect(drawn!.logprobs[0]).toBeCloseTo(Math.max(...want[9]!), 4);
});
