import { expect, test } from 'vitest';
import { relativeError } from '../../tools/golden/goldenFixture.ts';
import { openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import { contextRecords, expectScoresOfDraws, playContexts } from '../model/contextRecords.ts';
import { OBJECTIVE, oddGrammar, sampling } from '../model/policies.ts';
import { EVEN, ODD, OPTIMIZER, roughWeights, specOf } from './policies.ts';
import { setsHere } from './sets.ts';

const LENGTH = 40;
const COUNTS = [4, 1, 3];
const CASES = (await setsHere()).flatMap((kernels) => [
  ['even', kernels, EVEN] as const,
  ['odd', kernels, ODD] as const,
]);

test.each(CASES)(
  'contexts of a row are scored and learned as rows of their own: %s sizes, %s kernels',
  async (_, kernels, model) => {
    const { joined, apart, rows, places, credit, moved } = contextRecords(13, LENGTH, COUNTS);
    const of = async (count: number, kind: 'joined' | 'apart') => {
      const spec = specOf(model, 'shared', count, LENGTH);
      const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 1, kernels });
      policy.writeWeights(roughWeights(spec.model, 3));
      policy.freezeReference();
      policy.setGrammar(oddGrammar(model.vocab_size));
      const [record, given] = kind === 'joined' ? [joined, credit] : [apart, moved];
      policy.load(record);
      policy.score(0.7, { reference: true, values: true });
      const report = await policy.report();
      policy.load(record, given);
      const everyRow = Int32Array.from({ length: count }, (_, row) => row);
      const { gradients, stats } = await policy.gradients(everyRow, OBJECTIVE, OPTIMIZER, 0.7);
      policy.learn(everyRow, OBJECTIVE, { ...OPTIMIZER, learningRate: 0 }, 0.7);
      const { computedTokens } = (await policy.report()).steps[0]!;
      policy.destroy();
      return { report, gradients, stats, computedTokens };
    };
    const [got, want] = [await of(COUNTS.length, 'joined'), await of(rows, 'apart')];
    for (const name of ['logprobs', 'refLogprobs', 'entropies', 'values'] as const) {
      const wanted = places.map((place) => want.report[name][place.apart]!);
      expect(Math.hypot(...wanted), name).toBeGreaterThan(1);
      expect(relativeError(places.map((place) => got.report[name][place.joined]!), wanted), name).toBeLessThanOrEqual(1e-6); // prettier-ignore
      for (const place of places) if (place.first) expect(got.report[name][place.joined]).toBe(0);
    }
    for (const [name, gradient] of want.gradients) {
      expect(Math.hypot(...gradient), name).toBeGreaterThan(1e-4);
      expect(relativeError(got.gradients.get(name) ?? [], gradient), name).toBeLessThanOrEqual(2e-5);
    }
    expect(got.computedTokens).toBe(want.computedTokens);
  },
);

// decode_turn starts contexts in decodeEqualsCpu.test.ts
test.each(CASES)('contexts are drawn as they are scored: %s sizes, %s kernels', async (_, kernels, model) => {
  const policy = await openGpuPolicy(navigator.gpu, specOf(model, 'none', 4, LENGTH), { seed: 1, kernels });
  policy.writeWeights(roughWeights(model, 3));
  for (const chunk of [3, 30]) {
    const played = await playContexts(policy, oddGrammar(model.vocab_size), sampling(), chunk);
    await expectScoresOfDraws(policy, played, sampling().temperature, 1e-4);
  }
  policy.destroy();
});
