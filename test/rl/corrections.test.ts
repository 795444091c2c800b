import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Role } from '../../src/domain/tokens.ts';
import type { CorrectionSettings, CreditSettings } from '../../src/model/learningSettings.ts';
import { corrections, mismatch } from '../../src/rl/corrections.ts';
import { credit } from '../../src/rl/credit.ts';
import { objective } from '../../src/rl/objective.ts';
import { CREDIT } from '../gpu/policies.ts';
import { gradients, PPO } from './objectiveBatches.ts';
import { close } from './worked.ts';

type Numbers = readonly number[];
interface ExactCase extends CorrectionSettings {
  readonly estimator: string;
  readonly gradient: Numbers;
  readonly relativeSquaredBias: number;
}
/** Made by test/python/write_correction_fixture.py with verl and martingale. */
const OTHERS = JSON.parse(readFileSync(new URL('../fixtures/corrections.json', import.meta.url), 'utf8')) as {
  readonly rows: number;
  readonly length: number;
  readonly batch: Readonly<Record<'behaviour' | 'oldLogprobs' | 'logprobs' | 'mask' | 'advantages', Numbers>>;
  readonly metrics: Readonly<Record<'kl' | 'k3_kl' | 'ppl_ratio' | 'chi2_token' | 'chi2_seq', number>>;
  readonly cases: readonly (CorrectionSettings & {
    readonly weights?: Numbers;
    readonly kept?: Numbers;
    readonly effectiveSize?: number;
    readonly mean?: number;
    readonly outside: number;
    readonly loss: number;
    readonly gradient: Numbers;
  })[];
  readonly exact: {
    readonly transitions: readonly (readonly Numbers[])[];
    readonly rewards: readonly (readonly Numbers[])[];
    readonly horizon: number;
    readonly target: readonly Numbers[];
    readonly behaviour: readonly Numbers[];
    readonly truth: Numbers;
    readonly cases: readonly ExactCase[];
  };
};
const { rows, length, batch: theirs } = OTHERS;
const size = rows * length;
const { mask } = theirs;
const batch = {
  ...{ rows, length, oldLogprobs: theirs.oldLogprobs },
  roles: Uint8Array.from(mask, (m) => (m === 0 ? Role.observation : Role.action)),
};
const zeros = new Float64Array(size);
const relative = (x: number) => 1e-8 * Math.max(1, Math.abs(x)); // verl adds 1e-8 to the counts that it divides by

describe('weights, kept tokens, loss and gradient of each correction are verl’s', () => {
  test.each(OTHERS.cases)('$correction, $correctionLevel, $correctionLow to $correctionHigh', (verl) => {
    const got = corrections(batch, theirs.behaviour, mask, verl);
    const kept = mask.map((m, at) => (got.rejected[at] === 1 ? 0 : m));
    // verl’s weights are 0 outside the mask
    if (verl.weights) close([...got.weights].map((w, at) => w * mask[at]!), [...verl.weights], 1e-9); // prettier-ignore
    expect(kept).toEqual(verl.kept ?? mask);
    const out = gradients(size);
    const parts = objective(
      {
        ...{ length, ...theirs, lossMask: kept, regularizerMask: zeros, valueMask: zeros, refLogprobs: zeros },
        observationMask: zeros,
        ...{ entropies: zeros, values: zeros, oldValues: zeros, returns: zeros, corrections: got.weights },
      },
      Int32Array.from({ length: rows }, (_, row) => row),
      { ...PPO, valueCoef: 0 },
      out,
    );
    close([parts.policyLoss], [verl.loss], relative(verl.loss));
    close([...out.policyWeights], [...verl.gradient], 1e-9);
    if (verl.effectiveSize === undefined || verl.mean === undefined) return;
    const measured = mismatch(batch, theirs.behaviour, mask, got.weights)!;
    close([measured.rollout_is_eff_sample_size, measured.rollout_is_mean], [verl.effectiveSize, verl.mean], 1e-7); // verl adds 1e-8 to the mean, too
  });

  test('the measurements of the mismatch are verl’s', () => {
    const got = mismatch(batch, theirs.behaviour, mask)!;
    for (const [name, value] of Object.entries(OTHERS.metrics) as [keyof typeof OTHERS.metrics, number][])
      close([got[name]], [value], relative(value));
    expect(mismatch(batch, theirs.behaviour, zeros)).toBeNull();
  });
});

/** Every episode of the fixture's decision process as a row of a batch, with its probability under the behaviour policy. */
function episodes() {
  const { transitions, rewards, horizon, target, behaviour } = OTHERS.exact;
  interface Episode {
    readonly chance: number;
    readonly score: number;
    readonly steps: readonly (readonly [number, number])[];
  }
  let unfinished: (Episode & { readonly state: number })[] = target.map((_, state) => ({ state, chance: 1 / target.length, score: 0, steps: [] })); // prettier-ignore
  for (let t = 0; t < horizon; t++) {
    unfinished = unfinished.flatMap(({ state, chance, score, steps }) =>
      target[state]!.flatMap((_p, action) =>
        transitions[state]![action]!.map((p, after) => ({
          state: after,
          chance: chance * behaviour[state]![action]! * p,
          score: score + rewards[state]![action]![after]!,
          steps: [...steps, [state, action] as const],
        })),
      ),
    );
  }
  return { all: unfinished as readonly Episode[], horizon, target, behaviour };
}

/** The expected gradient of a correction with REINFORCE, by the probability of each action in each state. */
function expectedGradient(settings: CorrectionSettings): number[] {
  const { all, horizon, target, behaviour } = episodes();
  const shape = { rows: all.length, length: horizon };
  const ofSteps = (value: (s: number, a: number) => number) =>
    Float64Array.from(all.flatMap(({ steps }) => steps.map(([s, a]) => value(s, a))));
  const oldLogprobs = ofSteps((s, a) => Math.log(target[s]![a]!));
  const ones = oldLogprobs.map(() => 1);
  const none = oldLogprobs.map(() => 0);
  const roles = Uint8Array.from(ones, () => Role.action);
  const drawn = ofSteps((s, a) => Math.log(behaviour[s]![a]!));
  const { weights } = corrections({ ...shape, roles, oldLogprobs }, drawn, ones, settings);
  const out = gradients(ones.length);
  objective(
    {
      ...{ length: horizon, logprobs: oldLogprobs, oldLogprobs, refLogprobs: none, entropies: none, values: none },
      ...{ oldValues: none, returns: none, lossMask: ones, regularizerMask: none, valueMask: none },
      observationMask: none,
      ...{ advantages: all.flatMap(({ score, steps }) => steps.map(() => score)), corrections: weights },
    },
    Int32Array.from(all, (_, row) => row),
    { ...PPO, surrogate: 'plain', aggregation: 'seq-mean-token-sum' },
    out,
  );
  const sums = target.map((actions) => actions.map(() => 0));
  for (const [row, { chance, steps }] of all.entries()) {
    for (const [t, [s, a]] of steps.entries()) {
      // the loss is a mean over the rows, and ∂ log p / ∂ p = 1/p
      sums[s]![a]! -= (chance * all.length * out.policyWeights[row * horizon + t]!) / target[s]![a]!;
    }
  }
  return sums.flat();
}

const bias = (gradient: Numbers) => {
  const { truth } = OTHERS.exact;
  const squared = (x: Numbers) => x.reduce((sum, each) => sum + each * each, 0);
  return squared(gradient.map((g, i) => g - truth[i]!)) / squared(truth);
};

describe('over all episodes of a small decision process, expected gradients and their bias are martingale’s exact fractions', () => {
  test.each(OTHERS.exact.cases)('$estimator', (exact) => {
    const got = expectedGradient(exact);
    close(got, [...exact.gradient], 1e-12);
    close([bias(got)], [exact.relativeSquaredBias], 1e-12);
  });

  test('only the untruncated ratio of the whole rollout has no bias, and tokens’ own ratios have less than none', () => {
    const of = Object.fromEntries(OTHERS.exact.cases.map((each) => [each.estimator, bias(expectedGradient(each))]));
    expect(Object.entries(of).filter(([, size]) => size < 1e-20)).toHaveLength(1);
    expect(of['seq_is']).toBeLessThan(1e-20);
    expect(of['token_is']).toBeLessThan(of['unweighted']!);
  });
});

describe('in credit', () => {
  const roles = Uint8Array.from([1, 2, 3, 2, 1, 2, 2, 2]);
  // ratios of agent tokens: e^.5 and e^.5 in the first row; 1, e^−3 and e^2.9 in the second
  const oldLogprobs = Float64Array.from([0, -1, -2, -1, 0, -1, -4, -1]);
  const behaviour = Float32Array.from([0, -1.5, 0, -1.5, 0, -1, -1, -3.9]);
  const given = {
    ...{ rows: 2, length: 4, roles, oldLogprobs },
    refLogprobs: oldLogprobs,
    values: new Float64Array(8),
  };
  const rewards = Float32Array.from([0, 0, 0, 1, 0, 0, 0, 0]);
  const input = { rewards, groups: Int32Array.of(0, 0), behaviour };
  const settings = (correction: Partial<CorrectionSettings>, more: Partial<CreditSettings> = {}): CreditSettings => ({
    ...{ ...CREDIT, estimator: 'grpo', ...more },
    correction: { correction: 'truncated', correctionLevel: 'token', correctionLow: 0.5, correctionHigh: 2, ...correction }, // prettier-ignore
  });

  test('a rejected token leaves the losses and keeps its advantage; a weight changes no mask', () => {
    const out = credit(given, input, settings({ correction: 'rejected' }));
    expect([...out.masks.policy]).toEqual([0, 1, 0, 1, 0, 1, 0, 0]);
    expect([...out.masks.regularizer]).toEqual([...out.masks.policy]);
    expect([...out.masks.advantage]).toEqual([0, 1, 0, 1, 0, 1, 1, 1]);
    expect(out.advantages[6]).toBe(out.advantages[5]);
    expect(out.corrections?.every((w) => w === 1)).toBe(true);
    const weighed = credit(given, input, settings({}));
    expect([...weighed.masks.policy]).toEqual([0, 1, 0, 1, 0, 1, 1, 1]);
    close([...weighed.corrections!], [1, Math.exp(0.5), 1, Math.exp(0.5), 1, 1, Math.exp(-3), 2], 1e-7);
  });

  test('weights of a rollout are e to the sum, rejection judges e to the mean; observations in the loss follow their rollout', () => {
    const withObservations = { masks: { ...CREDIT.masks, policy: false } };
    const whole = credit(given, input, settings({ correctionLevel: 'sequence' }, withObservations));
    // sums: 1 and −.1
    close([...whole.corrections!].slice(0, 4), [1, 2, 2, 2], 1e-7);
    close([...whole.corrections!].slice(4), [1, ...[1, 1, 1].map(() => Math.exp(-0.1))], 1e-6);
    const tokens = credit(given, input, settings({ correctionHigh: 1.5 }, withObservations));
    expect(tokens.corrections?.[2]).toBe(1); // nobody drew it
    // means: .5 and −.033; e^.5 = 1.65 is above 1.5, e^1 would be above 2 too
    const rejects = (high: number) =>
      credit(given, input, settings({ correction: 'rejected', correctionLevel: 'sequence', correctionHigh: high }));
    expect([...rejects(1.5).masks.policy]).toEqual([0, 0, 0, 0, 0, 1, 1, 1]);
    expect([...rejects(2).masks.policy]).toEqual([0, 1, 0, 1, 0, 1, 1, 1]);
  });

  test('without behaviour log-probabilities, or with none, nothing is corrected', () => {
    const { behaviour: _, ...without } = input;
    expect(credit(given, without, settings({})).corrections).toBeUndefined();
    expect(credit(given, input, settings({ correction: 'none' })).corrections).toBeUndefined();
  });
});
