import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { FieldName, RunConfig } from '../../src/config/fields.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import type { BatchPreview, ObjectiveMeans } from '../../src/domain/readings.ts';
import { Role } from '../../src/domain/tokens.ts';
import { previewNumbers, clipChange } from '../../src/page/rollout/previewNumbers.ts';
import { previewKnobs } from '../../src/page/knobs/previewKnobs.ts';
import { whyNotMeasured } from '../../src/ui/tokens/RampLegend.tsx';
import { example } from './example.ts';

const size = example.tokens.length;
const learned = [...example.lossMask].flatMap((inLoss, i) => (inLoss !== 0 ? [i] : []));
const [a = 0, b = 0, c = 0, d = 0] = learned;

/** The example with an advantage of 1 at each learned token, and in each pass these of them held by the clip. */
function heldIn(...passes: readonly (readonly number[])[]): BatchView {
  const views = passes.map((held, k) => {
    const weights = new Float32Array(size);
    for (const i of learned) weights[i] = held.includes(i) ? 0 : -0.01;
    return { epoch: k + 1, gradWeights: weights, policyWeights: weights, shares: new Float32Array(example.rows) };
  });
  const { gradWeights, policyWeights } = views.at(-1)!;
  return { ...example, advantages: new Float32Array(size).fill(1), gradWeights, policyWeights, epochViews: views };
}

const means = (clipFraction: number): ObjectiveMeans => ({
  ...{
    policyLoss: 0,
    entropy: 0,
    kl: 0,
    observationLoss: 0,
    valueLoss: 0,
    total: 0,
    clipFraction,
    clipFractionLower: 0,
  },
});

describe('a clip that is tried', () => {
  const was = heldIn([], [a, b, c]);
  const would = heldIn([], [c, d]);

  test('names the tokens that it clips and no longer clips, and how many each epoch clips', () => {
    expect(clipChange(was, would)).toEqual({
      ...{ tokenCount: learned.length, unclipped: [a, b], newlyClipped: [d] },
      epochs: [
        { epoch: 1, clippedBefore: 0, clippedInPreview: 0 },
        { epoch: 2, clippedBefore: 3, clippedInPreview: 2 },
      ],
    });
  });

  test('a token that is held in fewer passes is let through in one of them', () => {
    const { unclipped, newlyClipped, epochs } = clipChange(heldIn([a], [a]), heldIn([], [a]));
    expect([unclipped, newlyClipped]).toEqual([[a], []]);
    expect(epochs).toEqual([
      { epoch: 1, clippedBefore: 1, clippedInPreview: 0 },
      { epoch: 2, clippedBefore: 1, clippedInPreview: 1 },
    ]);
  });

  test('is said in counts that add up, each with the pass and the tokens it counts, and leads to just those tokens', () => {
    // the batch itself was pushed at other ratios: nothing of it may be compared
    const preview: BatchPreview = { batch: would, before: was, meansBefore: means(0.015), meansAfter: means(0.01) };
    const { sentence: said, tokens } = previewNumbers({
      batch: heldIn([d], [d]),
      changes: { clipHigh: 0.28 },
      preview,
    });
    const all = learned.length.toLocaleString('en');
    expect(said).toBe(
      '2 tokens no longer clipped, 1 token newly clipped. ' +
        `Clipped: 0 → 0 in epoch 1, 3 → 2 in epoch 2, of ${all} with an advantage. Clip fraction, mean of all steps: 1.5 % → 1 %.`,
    );
    expect(tokens).toEqual([a, b, d]);
  });
});

test('what another advantage changes is led to, the most changed first', () => {
  const advantages = example.advantages.slice();
  advantages[b] = advantages[b]! - 3;
  advantages[c] = advantages[c]! + 0.5;
  const { sentence: said, tokens } = previewNumbers({
    ...{ batch: example, changes: { estimator: 'rloo' } },
    preview: { batch: { ...example, advantages }, before: example },
  });
  expect(said).toMatch(/^2 advantages change/);
  expect(tokens).toEqual([b, c]);
});

test('advantages of tokens outside the loss are counted apart, and led to last', () => {
  const outside = example.lossMask.findIndex((inLoss, i) => inLoss === 0 && example.roles[i] === Role.observation);
  const advantages = example.advantages.slice();
  advantages[outside] = advantages[outside]! - 3;
  advantages[c] = advantages[c]! + 0.5;
  const { sentence: said, tokens } = previewNumbers({
    ...{ batch: example, changes: { advantageMask: 'off' } },
    preview: { batch: { ...example, advantages }, before: example },
  });
  expect(said).toMatch(/^2 advantages change, 1 of them in the loss/);
  expect(tokens).toEqual([c, outside]);
});

test('a token that the clip lets through in two passes is one token, and is said to be', () => {
  const before = heldIn([a], [a, c]);
  const preview: BatchPreview = { batch: heldIn([], [c]), before, meansBefore: means(0.015), meansAfter: means(0.01) };
  const { sentence: said, tokens } = previewNumbers({ batch: before, changes: { clipHigh: 0.28 }, preview });
  expect(said).toMatch(/^1 token no longer clipped \(each counted once.*\)\. Clipped: 1 → 0 in epoch 1, 2 → 1/);
  expect(tokens).toEqual([a]);
});

test('a channel without numbers says why and what would give them; one that has them says nothing', () => {
  const of = (set: Readonly<Record<string, unknown>>, batch = example) =>
    whyNotMeasured({ batch, config: parseConfig(set), row: 0, logprobsAroundUpdate: null }, 'kl');
  expect(of({})).toBe(
    'Not computed: KL β and KL in reward β are 0, so nothing is compared with the reference. Set KL β above 0.',
  );
  expect(of({ klCoef: 0.1 })).toBeNull();
  expect(of({ klRewardCoef: 0.1 })).toBeNull();
  expect(of({ klCoef: 0.1 }, { ...example, unscored: ['refLogprobs'] })).toMatch(/Not recorded/);
  const value = (set: Readonly<Record<string, unknown>>) =>
    whyNotMeasured({ batch: example, config: parseConfig(set), row: 0, logprobsAroundUpdate: null }, 'value');
  expect(value({ estimator: 'grpo' })).toMatch(/grpo uses no critic/);
  expect(value({ estimator: 'gae', critic: 'shared' })).toBeNull();
  expect(
    whyNotMeasured({ batch: example, config: parseConfig({}), row: 0, logprobsAroundUpdate: null }, 'advantage'),
  ).toBeNull();
});

test('an advantage turned in sign whose token has no push turns nothing round, and is told apart', () => {
  const was = heldIn([a]);
  const flipped = was.advantages.map((each, i) => ([a, b].includes(i) ? -each : each));
  const turned = { ...was, advantages: flipped };
  const weights = was.policyWeights.map((each, i) => (i === b ? -each : each));
  const [pass] = was.epochViews ?? [];
  const would = { ...turned, gradWeights: weights, policyWeights: weights, epochViews: [{ ...pass!, gradWeights: weights, policyWeights: weights }] }; // prettier-ignore
  const { sentence: said } = previewNumbers({
    batch: was,
    changes: { gamma: 0.5 },
    preview: { batch: would, before: was },
  });
  expect(said).toContain('2 advantages change, 2 flip sign (1 without a push before or after)');
  expect(said).toContain('1 reversed');
});

describe('what is tried of a knob', () => {
  const was = parseConfig({ estimator: 'gae', critic: 'shared', lambda: 0.9, clipHigh: 0.2 });
  const settings = (changes: Partial<RunConfig>, flipped: FieldName | null = null) => ({
    ...{ wanted: { ...was, ...changes }, config: was, flipped },
  });

  test('is every changed knob that can be tried and acts, and nothing once the knob itself is back', () => {
    const both = settings({ lambda: 0.5, clipHigh: 0.3, prompts: 99 });
    expect(previewKnobs({ knob: 'lambda' }, both)).toEqual({ lambda: 0.5, clipHigh: 0.3 });
    expect(previewKnobs({ algorithm: true }, both)).toEqual({ lambda: 0.5, clipHigh: 0.3 });
    // without a KL in the loss its estimator does nothing
    expect(previewKnobs({ knob: 'lambda' }, settings({ lambda: 0.5, klEstimator: 'k2' }))).toEqual({ lambda: 0.5 });
    expect(previewKnobs({ knob: 'lambda' }, settings({ clipHigh: 0.3 }))).toBeNull();
    expect(previewKnobs({ knob: 'prompts' }, both)).toBeNull();
  });

  test('a switch that is pointed at is tried turned, beside what else is changed', () => {
    expect(previewKnobs({ knob: 'lossMask' }, settings({ lambda: 0.5 }, 'lossMask'))).toEqual({
      lossMask: 'off',
      lambda: 0.5,
    });
    expect(previewKnobs({ knob: 'lossMask' }, settings({}, null))).toBeNull();
  });
});
