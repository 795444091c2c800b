import { expect, test } from 'vitest';
import { relativeError } from '../../tools/golden/goldenFixture.ts';
import { openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import { setsHere } from './sets.ts';
import { CREDIT, EVEN, OBJECTIVE, ODD, OPTIMIZER, roughWeights, someGrammar, someRecord, someRewards, specOf } from './policies.ts'; // prettier-ignore

/** Rows 1 to 3 begin as row 0 does, each for longer; the others differ. */
function recordWithBeginnings(spec: ReturnType<typeof specOf>) {
  const grammar = someGrammar(spec.model.vocab_size);
  const record = someRecord(spec, grammar);
  const T = spec.length;
  for (const [row, shared] of [
    [1, 4],
    [2, 9],
    [3, 10],
  ] as const) {
    for (const array of Object.values(record) as (Int32Array | Uint8Array)[]) array.copyWithin(row * T, 0, shared);
  }
  return { grammar, record };
}

test.each((await setsHere()).flatMap((kernels) => [['even', kernels, EVEN] as const, ['odd', kernels, ODD] as const]))(
  'beginnings that rows share are computed once, with the scores and gradients of rows that share nothing: %s sizes, %s kernels',
  async (_, kernels, model) => {
    const spec = specOf(model, 'shared', 7, 23);
    const { grammar, record } = recordWithBeginnings(spec);
    const rows = Int32Array.of(5, 3, 0, 1, 2, 6);
    const of = async (sharePrefixes: boolean) => {
      const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 1, kernels, sharePrefixes });
      policy.writeWeights(roughWeights(spec.model, 3));
      policy.freezeReference();
      policy.setGrammar(grammar);
      policy.load(record);
      policy.score(0.7, { reference: true, values: true });
      policy.credit({ rewards: someRewards(record), groups: new Int32Array(7) }, CREDIT);
      const { gradients, stats } = await policy.gradients(rows, OBJECTIVE, OPTIMIZER, 0.7);
      policy.learn(rows, OBJECTIVE, { ...OPTIMIZER, learningRate: 0 }, 0.7);
      const report = await policy.report();
      policy.destroy();
      return { gradients, stats, report, step: report.steps[0]! };
    };
    const [shared, alone] = [await of(true), await of(false)];
    expect(alone.step.computedTokens).toBe(alone.step.trainedTokens);
    expect(shared.step.trainedTokens).toBe(alone.step.trainedTokens);
    expect(shared.step.trainedTokens! - shared.step.computedTokens!).toBeGreaterThanOrEqual(4 + 9 + 9);
    for (const name of ['logprobs', 'refLogprobs', 'entropies', 'values'] as const) {
      expect(Math.hypot(...alone.report[name]), name).toBeGreaterThan(1);
      expect(relativeError(shared.report[name], alone.report[name]), name).toBeLessThanOrEqual(1e-6);
    }
    expect(relativeError(shared.stats, alone.stats)).toBeLessThanOrEqual(1e-5);
    for (const [name, gradient] of alone.gradients) {
      expect(Math.hypot(...gradient), name).toBeGreaterThan(1e-4);
      expect(relativeError(shared.gradients.get(name) ?? [], gradient), name).toBeLessThanOrEqual(2e-5);
    }
  },
);
