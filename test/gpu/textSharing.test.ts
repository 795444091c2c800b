import { expect, test } from 'vitest';
import { BackendError } from '../../src/model/policy.ts';
import { isWeekly } from '../weekly.ts';
import { packedSource } from './textSources.ts';
import { apart, byId, LLAMA, opened } from './textModels.ts';

const SOURCE = packedSource(LLAMA, 11, () => 'Q4_1');
const SYSTEM = Array.from({ length: 40 }, (_, i) => (i * 11 + 3) % 43);
/** Two groups of three rows: the system prompt for all, a question for each group. */
const TEXTS = [0, 0, 0, 1, 1, 1].map((group) => [
  ...SYSTEM,
  ...Array.from({ length: 12 }, (_, i) => (i + 20 * group) % 43),
]);
const GREEDY = { key: 5, update: 2, temperature: 1, greedy: false, topK: 0, topP: 1 };
const ROWS = [0, 1, 2, 3, 4, 5];

test('what rows begin with in common is computed and kept once, and changes nothing', async () => {
  // 40 + 2·11 tokens before the last of each row, and 7 places a row to draw in and to be asked after; unshared 6·51 and as many
  const shared = await opened(LLAMA, SOURCE, { rows: 6, length: 80, cachedTokens: 62 + 6 * 7 });
  await shared.begin(TEXTS);
  const alone = await opened(LLAMA, SOURCE, { rows: 6, length: 80 });
  const drawn = await shared.draw(ROWS, { maxTokens: 6, stops: [] }, GREEDY);
  const after = (await shared.likeliest(ROWS, 43)).map(byId);
  for (const row of isWeekly ? ROWS : [0, 2, 4]) {
    // this row's text alone, the others of another first token and so with nothing in common
    await alone.begin(ROWS.map((other) => (other === row ? TEXTS[row]! : [other])));
    const [one] = await alone.draw([row], { maxTokens: 6, stops: [] }, GREEDY);
    expect(one!.ids).toEqual(drawn[row]!.ids);
    const [left] = await alone.likeliest([row], 43);
    // float32 sums of the same numbers, in tiles for some and in few rows for others
    expect(apart(byId(left!), after[row]!)).toBeLessThan(1e-5);
  }
  expect(new Set(drawn.map(({ ids }) => ids.join())).size).toBeGreaterThan(3); // rows draw with counters of their own
  shared.destroy();
  alone.destroy();
});

test('more than the cache holds is refused with what it holds, and no row has changed', async () => {
  const model = await opened(LLAMA, SOURCE, { rows: 6, length: 80, cachedTokens: 70 });
  await model.begin(TEXTS); // 62
  const unlike = ROWS.map((row) => [row, ...TEXTS[row]!]);
  const failure = await model.begin(unlike).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(BackendError);
  expect((failure as BackendError).what).toBe('The key-value cache holds 70 tokens, 70 of them free; 312 are needed.');
  await expect(model.append([{ row: 0, ids: [1, 2, 3, 4, 5, 6, 7, 8, 9] }])).rejects.toThrow(
    '8 of them free; 9 are needed',
  );
  await expect(model.draw(ROWS, { maxTokens: 2, stops: [] }, GREEDY)).rejects.toThrow('8 of them free; 12 are needed');
  expect(model.textLength(0)).toBe(52);
  await model.append([{ row: 0, ids: [1, 2, 3, 4, 5, 6, 7, 8] }]);
  model.keep(0, 1);
  await model.append([{ row: 0, ids: [9] }]);
  expect(model.textLength(0)).toBe(2);
  model.destroy();
});

test('sixteen tokens of all rows are a submit and a read-back, six dispatches a layer and what embeds, gives logits and draws', async () => {
  const model = await opened(LLAMA, SOURCE, { rows: 6, length: 80 });
  await model.begin(TEXTS);
  await model.draw(ROWS, { maxTokens: 1, stops: [] }, GREEDY);
  const before = model.counters();
  await model.draw(ROWS, { maxTokens: 24, stops: [] }, GREEDY); // two chunks
  const after = model.counters();
  const layers = LLAMA.num_hidden_layers;
  expect(after.dispatches - before.dispatches).toBe(24 * (6 * layers + 3));
  expect(after.submits - before.submits).toBe(2);
  expect(after.readbacks - before.readbacks).toBe(2);
  expect(after.creations).toBe(before.creations);
  model.destroy();
});
