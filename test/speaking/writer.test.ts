import { expect, test } from 'vitest';
import type { TextModel } from '../../src/model/textModel.ts';
import { Writer } from '../../src/speaking/writer.ts';
import { BYTES } from '../text/bytesTokenizer.ts';

/** A model that thinks token 1 the likeliest and draws `id`, which it says was drawn at −0.25. */
const drawing = (id: number) =>
  ({
    length: 100,
    likeliest: () => Promise.resolve([{ ids: [1], logprobs: [-0.5] }]),
    draw: () => Promise.resolve([{ ids: [id], logprobs: [-0.25] }]),
  }) as unknown as TextModel;

test.each([
  // among the likeliest its log-probability at temperature 1 is known, however it was drawn
  [1, 1, false, -0.5],
  [1, 0.5, false, -0.5],
  [1, 1, true, -0.5],
  // else what it was drawn at is that only where draws were not tempered
  [9, 1, false, -0.25],
  [9, 0.5, false, null],
  [9, 1, true, null],
  [9, 0.5, true, null],
])('token %i drawn at temperature %d, greedy: %s, has log-probability %d', async (id, temperature, greedy, want) => {
  const writer = new Writer(drawing(id), BYTES.codec);
  const token = await writer.draw({ sampling: { temperature, topK: 0, topP: 1, greedy }, steps: 1, seed: 1 }, 1, []);
  expect(token.logprob).toBe(want);
});
