import { describe, expect, it } from 'vitest';
import { LanguageHead } from '../../src/model/cpu/head.ts';
import { logSoftmaxRow } from '../../src/model/learning/logSoftmaxRow.ts';
import { objective } from '../../src/rl/objective.ts';
import { freeGrammar, type Grammar } from '../../src/domain/tokens.ts';
import { ODD } from '../model/policies.ts';
import { gradients, PPO } from './objectiveBatches.ts';
import { close } from './worked.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';

const TARGET = {
  count: 1,
  positions: Int32Array.of(0),
  tokens: Int32Array.of(2),
  states: Int32Array.of(0),
  batchIndices: Int32Array.of(0),
};
const Z = [0.2, -0.1, 0.4, 0.3];
const IDENTITY = Float64Array.from({ length: 16 }, (_, i) => (i % 5 === 0 ? 1 : 0));

/** A head of the identity, so that a hidden state is its own logits and its gradient that of the logits. Token 2 is scored. */
function headOf(logits: readonly number[], temperature: number, grammar: Grammar = freeGrammar(4)) {
  const head = new LanguageHead(NAIVE.f64.make({ ...ODD, vocab_size: 4, hidden_size: 4 }), 1);
  const hidden = Float64Array.from(logits);
  const logprobs = new Float64Array(1);
  const entropies = new Float64Array(1);
  head.score(hidden, IDENTITY, TARGET, grammar, temperature, logprobs, entropies);
  const gradient = (dlogprob: number, dentropy: number) => {
    const dhidden = new Float64Array(4);
    const given = [Float64Array.of(dlogprob), Float64Array.of(dentropy)] as const;
    head.backward(dhidden, new Float64Array(16), hidden, IDENTITY, TARGET, grammar, temperature, ...given);
    return [...dhidden];
  };
  return { logprob: logprobs[0]!, entropy: entropies[0]!, gradient };
}
const sum = (numbers: readonly number[]) => numbers.reduce((a, x) => a + x, 0);
/** Token 1 is illegal in the only state. */
const ILLEGAL_ONE: Grammar = { ...freeGrammar(4), next: Int32Array.of(0, -1, 0, 0) };

describe('the per-logit gradient', () => {
  it('is the worked one at temperature .7, entropy bonus and KL included', () => {
    const { logprob, entropy, gradient } = headOf(Z, 0.7);
    expect(logprob).toBeCloseTo(-1.133946, 6);
    expect(entropy).toBeCloseTo(1.355389, 6);
    const out = gradients(1);
    const parts = objective(
      {
        length: 1,
        logprobs: [logprob],
        entropies: [entropy],
        values: [0],
        oldLogprobs: [-1.2],
        refLogprobs: [-1],
        oldValues: [0],
        advantages: [0.8],
        returns: [0],
        lossMask: [1],
        regularizerMask: [1],
        valueMask: [0],
        observationMask: [0],
      },
      Int32Array.of(0),
      { ...PPO, clipHigh: 0.28, entropyCoef: 0.01, klCoef: 0.05 },
      out,
    );
    expect(Math.exp(logprob + 1.2)).toBeCloseTo(1.068284, 6);
    expect(parts.total).toBeCloseTo(-0.867712, 6);
    close(gradient(out.dlogprobs[0]!, out.dentropies[0]!), [0.297461, 0.192814, -0.833985, 0.34371]);
  });

  it.each([0.5, 0.7, 1, 1.6])(
    'of log-probability and entropy are what finite differences find at temperature %f',
    (temperature) => {
      const { gradient } = headOf(Z, temperature);
      for (const part of ['logprob', 'entropy'] as const) {
        const got = part === 'logprob' ? gradient(1, 0) : gradient(0, 1);
        const found = Z.map((_, k) => {
          const moved = (by: number) =>
            headOf(
              Z.map((z, j) => (j === k ? z + by : z)),
              temperature,
            )[part];
          return (moved(1e-5) - moved(-1e-5)) / 2e-5;
        });
        // Central differences of step 1e-5 are good to about 1e-10.
        close(got, found, 1e-9);
        expect(Math.max(...got.map(Math.abs))).toBeGreaterThan(0.01);
      }
    },
  );

  it('of log-probability and entropy change with the temperature as they themselves do', () => {
    const [cold, warm] = [headOf(Z, 0.5), headOf(Z, 2)];
    expect(cold.entropy).toBeLessThan(warm.entropy - 0.04);
    expect(cold.logprob).toBeGreaterThan(warm.logprob);
    expect(cold.gradient(1, 0)[2]).toBeGreaterThan(warm.gradient(1, 0)[2]!);
    // z/T is all that counts.
    expect(
      headOf(
        Z.map((z) => 2 * z),
        2,
      ).logprob,
    ).toBeCloseTo(headOf(Z, 1).logprob, 14);
  });

  it('sums to 0 over the vocabulary, of the policy part, the entropy part and both, with illegal tokens too', () => {
    for (const grammar of [freeGrammar(4), ILLEGAL_ONE]) {
      for (const [g, e] of [
        [1, 0],
        [0, 1],
        [-0.7, 0.3],
      ] as const) {
        const dz = headOf(Z, 0.7, grammar).gradient(g, e);
        expect(Math.abs(sum(dz))).toBeLessThan(1e-15);
        expect(Math.max(...dz.map(Math.abs))).toBeGreaterThan(0.01);
        if (grammar === ILLEGAL_ONE) expect(dz[1]).toBe(0);
      }
    }
  });
});

describe('a distribution', () => {
  it('of one certain token has an entropy of 0, and gradients that are numbers', () => {
    const { logprob, entropy, gradient } = headOf([0, 0, 5000, 0], 1);
    expect(logprob).toBe(0);
    expect(Math.abs(entropy)).toBe(0);
    expect(gradient(1, 1).map(Math.abs)).toEqual([0, 0, 0, 0]);
  });

  it.each([1e4, -1e4])('does not overflow with logits about %f', (shift) => {
    const { logprob, entropy } = headOf(
      Z.map((z) => z + shift),
      0.7,
    );
    // A shift of 1e4 costs eleven of the sixteen digits at worst.
    expect(logprob).toBeCloseTo(-1.133946, 6);
    expect(entropy).toBeCloseTo(1.355389, 6);
    const row = Float32Array.from([3e38, -3e38, 0, 0]);
    logSoftmaxRow(row, 0, 4, new Int32Array(4), 0, 1);
    expect([...row].some(Number.isNaN)).toBe(false);
    expect(row[0]).toBe(0);
  });
});
