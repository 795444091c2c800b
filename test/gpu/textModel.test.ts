import { describe, expect, test } from 'vitest';
import { firstRows } from '../weekly.ts';
import { packedSource } from './textSources.ts';
import { apart, byId, LLAMA, opened, oracle, QWEN2, QWEN3 } from './textModels.ts';

const TEXT = [3, 40, 17, 5, 5, 29, 0, 42, 11, 8, 23, 2];
/** Float32 sums of up to 64 terms through two layers against float64; seen: 9e-7. */
const ROUNDING = 1e-5;
/** Keys and values in halves, 11 bits each; seen: 6e-4. */
const HALVES = 1e-3;
const LONG = Array.from({ length: 150 }, (_, i) => (i * i * 7 + 3 * i) % 43);

// in CI two formats, as the kernels of each take ten seconds to compile; products of all formats: packed.test.ts
const FAMILIES = [
  ['Llama', LLAMA, ['Q4_1', 'Q8_0', 'F32', 'Q4_0', 'F16', 'BF16']],
  ['Qwen2', QWEN2, ['F16', 'Q8_0', 'F32', 'BF16', 'Q4_1', 'Q4_0']],
  ['Qwen3', QWEN3, ['Q4_1', 'Q4_0', 'BF16', 'F32', 'F16', 'Q8_0']],
] as const;

describe.each(FAMILIES)('%s', (_, config, formats) => {
  test.each(firstRows(formats, 1))(
    'has the log-probabilities of float64 from weights in %s, in rows of different lengths',
    async (format) => {
      const source = packedSource(config, 7, () => format);
      const want = await oracle(config, source, TEXT);
      const model = await opened(config, source, { rows: 3, length: 16 });
      await model.begin([TEXT, TEXT.slice(0, 5), TEXT.slice(0, 1)]);
      const [all, some, one] = await model.likeliest([0, 1, 2], config.vocab_size);
      expect(apart(byId(all!), want[11]!)).toBeLessThan(ROUNDING);
      expect(apart(byId(some!), want[4]!)).toBeLessThan(ROUNDING);
      expect(apart(byId(one!), want[0]!)).toBeLessThan(ROUNDING);
      expect(all!.logprobs).toEqual([...all!.logprobs].sort((a, b) => b - a));
      model.destroy();
    },
  );
});

describe.each(firstRows(FAMILIES, 1))('%s', (_, config) => {
  test('has them to the rounding of halves where keys and values are kept in halves, as by default', async () => {
    const source = packedSource(config, 7, () => 'F32');
    const want = await oracle(config, source, TEXT);
    const model = await opened(config, source, { rows: 1, length: 16, float16Cache: true });
    await model.begin([TEXT]);
    const [all] = await model.likeliest([0], config.vocab_size);
    const found = apart(byId(all!), want[11]!);
    expect(found).toBeLessThan(HALVES);
    expect(found).toBeGreaterThan(ROUNDING); // else nothing was rounded
    model.destroy();
  });

  test('has them after a long text that goes through the network in chunks, and for tokens to be scored', async () => {
    const source = packedSource(config, 3, (name) => (name.includes('embed') ? 'F16' : 'Q4_1'));
    const want = await oracle(config, source, LONG);
    const model = await opened(config, source, { rows: 1, length: 150, prefill: 128 });
    await model.begin([LONG.slice(0, 140)]); // a chunk of 128 in tiles, and the rest
    const [all] = await model.likeliest([0], config.vocab_size);
    expect(apart(byId(all!), want[139]!)).toBeLessThan(ROUNDING);
    await model.begin([LONG.slice(0, 20)]);
    const scores = await model.score(0, LONG.slice(20)); // 130 of them, more than go through at once
    expect(apart(scores, LONG.slice(20).map((id, i) => want[19 + i]![id]!))).toBeLessThan(ROUNDING); // prettier-ignore
    expect(model.textLength(0)).toBe(20);
    model.destroy();
  });
});

test('formats that the device has no product for are widened to halves', async () => {
  const source = packedSource(LLAMA, 7, () => 'Q5_0');
  const want = await oracle(LLAMA, source, TEXT);
  const model = await opened(LLAMA, source, { rows: 1, length: 16 });
  await model.begin([TEXT]);
  const [all] = await model.likeliest([0], LLAMA.vocab_size);
  // weights of 16 bits are rounded to 11; seen: 1.4e-3
  expect(apart(byId(all!), want[11]!)).toBeLessThan(3e-3);
  model.destroy();
});

test('tensors of one product that come in different formats are read as one', async () => {
  const source = packedSource(LLAMA, 7, (name) =>
    name.includes('v_proj') || name.includes('up_proj') ? 'F32' : 'Q4_1',
  );
  const want = await oracle(LLAMA, source, TEXT);
  const model = await opened(LLAMA, source, { rows: 1, length: 16 });
  await model.begin([TEXT]);
  const [all] = await model.likeliest([0], LLAMA.vocab_size);
  expect(apart(byId(all!), want[11]!)).toBeLessThan(ROUNDING);
  model.destroy();
});

test('matrices larger than a buffer may be lie in several, the embedding and the head too', async () => {
  const config = { ...LLAMA, vocab_size: 601, intermediate_size: 288 };
  const source = packedSource(config, 9, () => 'F16');
  const text = Array.from({ length: 68 }, (_, i) => (i * 89) % 601); // 67 before the last: more than few rows
  const want = await oracle(config, source, text);
  // 256 rows of 32 weights a buffer: three parts of the vocabulary, three of gates and ups; a cache of 68 tokens
  const model = await opened(config, source, { rows: 1, length: 68, bufferBytes: 256 * 64, prefill: 128 });
  await model.begin([text]);
  const scores = await model.likeliest([0], 256);
  expect(scores[0]!.ids).toEqual(order(want[67]!).slice(0, 256));
  expect(apart(scores[0]!.logprobs, scores[0]!.ids.map((id) => want[67]![id]!))).toBeLessThan(ROUNDING); // prettier-ignore
  await model.begin([[text[67]!]]);
  const [few] = await model.likeliest([0], 1);
  expect(few!.logprobs[0]).toBeCloseTo(Math.max(...(await oracle(config, source, [text[67]!]))[0]!), 4);
  model.destroy();
});

/** Ids, likeliest first. */
const order = (logprobs: readonly number[]) =>
  logprobs.map((_, id) => id).sort((a, b) => logprobs[b]! - logprobs[a]! || a - b);
