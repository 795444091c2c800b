import { describe, expect, it } from 'vitest';
import { openCausalModel, type CausalModelOptions } from '../../src/model/cpu/causalModel.ts';
import { expected, MODELS, opened } from './fixtures.ts';

/** The largest difference of logits from PyTorch's in float64. */
async function apart(name: string, options: Omit<CausalModelOptions, 'length'>): Promise<number> {
  const { model, weights } = await opened(name);
  const reader = await openCausalModel(model, weights, { length: 32, ...options });
  const logits = reader.appendAll(expected.tokens);
  const want = expected.logits[name]!.flat();
  expect(logits.length).toBe(want.length);
  return want.reduce((worst, z, i) => Math.max(worst, Math.abs(z - logits[i]!)), 0);
}

describe.each(MODELS)('%s', (name) => {
  // Its rotary frequencies are float32 there, float64 here: 1e-7 of an angle of up to 20.
  it('has the logits of PyTorch in float64', async () => {
    expect(await apart(name, { precision: 'f64' })).toBeLessThan(2e-5);
  });

  // float32 keeps seven digits; logits here are of size ten
  it.each([
    ['TypeScript', { precision: 'f32', simd: false }],
    ['SIMD', { precision: 'f32', packed: false }],
  ] as const)('has them in float32, in %s', async (_, options) => {
    expect(await apart(name, options)).toBeLessThan(1e-4);
  });

  // Activations in 16 bits are off by up to 1.5e-5 of the largest of 32; the file that has such weights has some layers' worth of that.
  it('has them from weights that stay packed', async () => {
    expect(await apart(name, { precision: 'f32' })).toBeLessThan(name.endsWith('.gguf') ? 1e-3 : 1e-4);
  });

  it('draws one token after another from the same logits as all at once, to the bit', async () => {
    const { model, weights } = await opened(name);
    const options = { precision: 'f32', length: 32 } as const;
    const [all, one] = [await openCausalModel(model, weights, options), await openCausalModel(model, weights, options)];
    const logits = all.appendAll(expected.tokens);
    const single = expected.tokens.flatMap((token) => [...one.append([token])]);
    expect(single).toEqual([...logits]);
    one.keep(7);
    expect([...one.append(expected.tokens.slice(7))]).toEqual([...logits.subarray(-model.vocab_size)]);
  });
});

it('a text that is too long, empty or of foreign ids is refused', async () => {
  const { model, weights } = await opened('llama3');
  const reader = await openCausalModel(model, weights, { precision: 'f32', length: 4 });
  expect(() => reader.append([1, 2, 3, 4, 5])).toThrow('got 5 tokens; want 1 to 4');
  expect(() => reader.append([])).toThrow('got 0 tokens');
  expect(() => reader.append([32])).toThrow('got token 32; want an id from 0 to 31');
  expect(() => reader.keep(1)).toThrow('want a number of the text’s 0 tokens'.replace('’', "'"));
});

it('more memory than there can be is refused before anything is read', async () => {
  const { model, weights } = await opened('llama3');
  await expect(openCausalModel(model, weights, { precision: 'f32', length: 2 ** 26 })).rejects.toThrow('GiB');
});
