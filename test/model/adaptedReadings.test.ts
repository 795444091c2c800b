import { expect, it } from 'vitest';
import { adaptedLinears, initialAdapters, LINEAR_NAMES } from '../../src/model/loraAdapters.ts';
import type { ModelConfig, Weights } from '../../src/model/architecture.ts';
import { openCpuAdaptedPolicy } from '../../src/model/cpu/adapters/cpuAdaptedPolicy.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { mergedSource } from '../../src/model/mergedSource.ts';
import { readFloat32 } from '../../src/model/weightSource.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import { Role } from '../../src/domain/tokens.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { KINDS, randomSource, SMALL } from './textModels.ts';
import { NAIVE } from './naiveArithmetic.ts';

const ADAPTERS = { rank: 3, alpha: 5, targets: LINEAR_NAMES };
const LENGTH = 17;
const COUNT = 11; // of the tokens that are asked about, of LENGTH

/** An adapted policy of two rows and the whole network with its adapters merged, both in float64, both with the same batch. */
async function both(model: ModelConfig, keptTokens: number) {
  const spec = { model, critic: 'none', rows: 2, length: LENGTH, minibatchRows: 2 } as const;
  const source = randomSource(model, 1);
  const draw = random(8, Purpose.weights);
  const weights: Weights = new Map(
    Array.from(initialAdapters(model, ADAPTERS, 3), ([name, x]) => [name, x.map((w) => w + 0.2 * draw.normal())]),
  );
  const options = { seed: 3, reason: '', loops: NAIVE.f64, keptTokens } as const;
  const policy = await openCpuAdaptedPolicy(spec, source, ADAPTERS, learningMath, options);
  policy.writeWeights(weights);
  const oracle = createCpuPolicy(spec, learningMath, { loops: NAIVE.f64, seed: 1, reason: '' });
  const merged = mergedSource(source, model, ADAPTERS, weights);
  oracle.writeWeights(
    new Map(await Promise.all(Array.from(merged, async ([n, x]) => [n, await readFloat32(x)] as const))),
  );
  const tokens = Int32Array.from({ length: 2 * LENGTH }, () => draw.int(model.vocab_size));
  const roles = new Uint8Array(2 * LENGTH).fill(Role.action);
  for (const each of [policy, oracle]) each.load({ tokens, roles, states: new Uint8Array(2 * LENGTH) });
  return { policy, oracle };
}

const far = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((most, x, i) => Math.max(most, Math.abs(x - b[i]!)), 0);

it.each(Object.entries(KINDS))(
  'shows the logits and the attention of the network that its adapters are merged into: %s',
  async (_, model) => {
    expect(adaptedLinears(model, ADAPTERS)).toHaveLength(7 * model.num_hidden_layers);
    for (const keptTokens of [0, 2 * LENGTH]) {
      const { policy, oracle } = await both(model, keptTokens);
      const [from, to] = [LENGTH + COUNT - 1, LENGTH + COUNT].map((at) => at * model.vocab_size);
      const all = (await oracle.logits()).subarray(from, to);
      const logits = await policy.nextLogits(1, COUNT);
      expect(logits).toHaveLength(model.vocab_size);
      // merged weights of the oracle are rounded to float32 once
      expect(far(logits, all)).toBeLessThan(1e-5);
      expect(far(await oracle.nextLogits(1, COUNT), all)).toBeLessThan(1e-12);
      expect(far(logits, await oracle.nextLogits(0, COUNT))).toBeGreaterThan(0.01);
      const [seen, wanted] = [await policy.attention(1, COUNT), await oracle.attention(1, COUNT)];
      expect({ ...seen, weights: seen.weights.length }).toEqual({ ...wanted, weights: wanted.weights.length });
      expect(far(seen.weights, wanted.weights)).toBeLessThan(1e-5);
      const heads = model.num_hidden_layers * model.num_attention_heads;
      expect(seen.weights.reduce((sum, w) => sum + w, 0)).toBeCloseTo(heads, 4);
    }
  },
);

it('refuses a question about tokens that a row does not have, by number', async () => {
  const { policy } = await both(SMALL, 0);
  await expect(policy.nextLogits(0, LENGTH + 1)).rejects.toThrow(/18 tokens, and row 0 has 1 to 17/);
  await expect(policy.attention(1, 0)).rejects.toThrow(/0 tokens, and row 1 has 1 to 17/);
});
