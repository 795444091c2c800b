import { afterAll, beforeAll, expect, test } from 'vitest';
import { FIELDS } from '../../src/config/fields.ts';
import { Role } from '../../src/domain/tokens.ts';
import { relativeError } from '../../tools/golden/goldenFixture.ts';
import { openGpuPolicy, type GpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import type { PolicyReport, StepStats } from '../../src/model/policyReport.ts';
import type { ObjectiveParts } from '../../src/model/learningMath.ts';
import type { CorrectionSettings, MaskSwitches, ObjectiveSettings } from '../../src/model/learningSettings.ts';
import { credit } from '../../src/rl/credit.ts';
import { objective } from '../../src/rl/objective.ts';
import {
  CREDIT,
  masks,
  OBJECTIVE,
  OPTIMIZER,
  roughWeights,
  SMALL,
  someGrammar,
  someRecord,
  someRewards,
  specOf,
} from './policies.ts';

// Float32 against float64: e to the log-ratio and sums over 5 rows of 23 tokens. 2e-7 is seen; 1e-4 is
// what the fixtures allow other hardware too.
const BOUND = 1e-4;
const [B, T] = [7, 23];
const SPEC = specOf(SMALL, 'shared', B, T, 5);
const ROWS = Int32Array.of(6, 0, 3, 5, 2);
const STILL = { ...OPTIMIZER, learningRate: 0 };
const DRAWN_BY = roughWeights(SPEC.model, 3);
const TRAINED = roughWeights(SPEC.model, 4);
const FROZEN = roughWeights(SPEC.model, 5);

const REWARDS = someRewards(someRecord(SPEC, someGrammar(SMALL.vocab_size)));
// row 5 out of the batch: in the minibatch, but with nothing to say
const GROUPS = Int32Array.of(0, 1, 0, 1, 0, -1, 1);

// most tokens, whoever wrote them: only observations after the agent's first token may count
const BODIES = Uint8Array.from({ length: B * T }, (_, at) => (at % 4 === 0 ? 0 : 1));

let policy: GpuPolicy;
beforeAll(async () => {
  policy = await openGpuPolicy(navigator.gpu, SPEC, { seed: 1 });
  const grammar = someGrammar(SMALL.vocab_size);
  policy.setGrammar(grammar);
  policy.writeWeights(FROZEN);
  policy.freezeReference();
  policy.load(someRecord(SPEC, grammar));
});
afterAll(() => {
  policy.destroy();
});

/** Old scores, credit and masks of one policy, then new scores of another: all an objective reads. */
async function situation(switches: MaskSwitches, correction?: CorrectionSettings) {
  policy.writeWeights(TRAINED);
  policy.score(1, { reference: true, values: true });
  const now = await policy.report();
  policy.writeWeights(DRAWN_BY);
  policy.score(1, { reference: true, values: true });
  const settings = { ...CREDIT, masks: switches, ...(correction && { correction }) };
  // the tokens were drawn as the trained policy would have
  const marks = { bodies: BODIES, ...(correction && { behaviour: now.logprobs }) };
  policy.credit({ rewards: REWARDS, groups: GROUPS, ...marks }, settings);
  const old = await policy.report();
  policy.writeWeights(TRAINED);
  return { now, old };
}

interface Learned {
  readonly step: StepStats;
  readonly report: PolicyReport;
}

/** One step that changes nothing, on the device, and the same in float64. */
async function both(
  { now, old, contextStarts }: { now: PolicyReport; old: PolicyReport; contextStarts?: Int32Array },
  settings: ObjectiveSettings,
  corrections?: Float64Array,
) {
  policy.learn(ROWS, settings, STILL, 1);
  const report = await policy.report();
  const got: Learned = { step: report.steps[0]!, report };
  const table = () => new Float64Array(B * T);
  const gradients = { dlogprobs: table(), policyWeights: table(), dentropies: table(), dvalues: table() };
  const parts: ObjectiveParts = objective(
    {
      ...old,
      ...(corrections && { corrections }),
      length: T,
      ...(contextStarts && { contextStarts }),
      oldLogprobs: old.logprobs,
      oldValues: old.values,
      logprobs: now.logprobs,
      entropies: now.entropies,
      values: now.values,
    },
    ROWS,
    settings,
    gradients,
  );
  return { got, parts, gradients };
}

const NAMES = [
  'policyLoss',
  'entropy',
  'kl',
  'clipFraction',
  'clipFractionLower',
  'approxKl',
  'observationLoss',
  'valueLoss',
  'total',
  'tokens',
] as const;

async function expectEqual(
  at: Parameters<typeof both>[0],
  settings: ObjectiveSettings,
  corrections?: Float64Array,
): Promise<void> {
  const { got, parts, gradients } = await both(at, settings, corrections);
  for (const name of NAMES) {
    const error = Math.abs(got.step[name] - parts[name]);
    // parts that pass through zero are held to an absolute 1e-6
    expect(error, `${name} ${JSON.stringify(settings)}`).toBeLessThanOrEqual(1e-6 + BOUND * Math.abs(parts[name]));
  }
  const { gradWeights, policyWeights } = got.report;
  expect(relativeError(gradWeights, gradients.dlogprobs), JSON.stringify(settings)).toBeLessThanOrEqual(BOUND);
  expect(relativeError(policyWeights, gradients.policyWeights), JSON.stringify(settings)).toBeLessThanOrEqual(BOUND);
}

const AGGREGATIONS = ['token-mean', 'seq-mean-token-sum', 'seq-mean-token-mean', 'seq-mean-token-sum-norm'] as const;

test('every aggregation, with equal and with different policy and regularizer masks, equals the float64 oracle', async () => {
  for (const policyMask of [true, false]) {
    for (const regularizer of [true, false]) {
      const at = await situation({ ...masks(true), policy: policyMask, regularizer });
      for (const aggregation of AGGREGATIONS) {
        for (const klEstimator of ['k1', 'k2', 'k3'] as const) {
          await expectEqual(at, { ...OBJECTIVE, aggregation, klEstimator });
        }
        for (const surrogate of FIELDS.surrogate.choices) {
          const { dualClip, ...rest } = OBJECTIVE;
          // how far a probability may move: these policies move few by a fifth
          const limits = surrogate === 'dppo-tv' && { clipLow: 0.01, clipHigh: 0.02 };
          const cap = surrogate === 'plain' ? 0 : dualClip;
          await expectEqual(at, { ...rest, ...limits, aggregation, surrogate, dualClip: cap, klTimesRatio: 'on' });
        }
      }
    }
  }
});

test('each correction weighs the policy loss, or takes tokens out of the losses, as the float64 oracle does', async () => {
  const record = someRecord(SPEC, someGrammar(SMALL.vocab_size));
  const seen = { cut: 0, zero: 0, rejected: 0 };
  for (const correction of ['truncated', 'masked', 'rejected'] as const) {
    for (const correctionLevel of ['token', 'sequence'] as const) {
      for (const policyMask of [true, false]) {
        const settings = { correction, correctionLevel, correctionLow: 0.8, correctionHigh: 1.1 };
        const at = await situation({ ...masks(true), policy: policyMask, regularizer: false }, settings);
        const scored = { ...record, rows: B, length: T, values: at.old.values, oldLogprobs: at.old.logprobs };
        const want = credit(
          { ...scored, refLogprobs: at.old.refLogprobs },
          { rewards: REWARDS, groups: GROUPS, behaviour: at.now.logprobs },
          { ...CREDIT, masks: { ...masks(true), policy: policyMask, regularizer: false }, correction: settings },
        );
        expect(at.old.lossMask).toEqual(want.masks.policy);
        expect(at.old.regularizerMask).toEqual(want.masks.regularizer);
        expect(at.old.valueMask).toEqual(want.masks.value);
        const weights = want.corrections!;
        seen.cut += weights.filter((w) => w === 1.1).length;
        seen.zero += weights.filter((w) => w === 0).length;
        seen.rejected += want.masks.advantage.filter((m, i) => m === 1 && want.masks.policy[i] === 0).length;
        for (const aggregation of AGGREGATIONS) await expectEqual(at, { ...OBJECTIVE, aggregation }, weights);
      }
    }
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(5);
  await expectEqual(await situation(masks(true)), OBJECTIVE); // the next batch has none of these weights
});

test('with several contexts in a row, means over sequences and GSPO’s ratio are over contexts, as in the float64 oracle', async () => {
  const record = someRecord(SPEC, someGrammar(SMALL.vocab_size));
  const contextStarts = new Int32Array(B * T);
  for (let row = 0; row < B; row++)
    for (const from of [6, 12]) {
      const roles = record.roles.subarray(row * T, (row + 1) * T);
      const start = roles.findIndex((role, t) => t >= from && role === Role.observation);
      if (start > 0) contextStarts.fill(start, row * T + start, (row + 1) * T);
    }
  for (const starts of [contextStarts, undefined]) {
    policy.load({ ...record, ...(starts && { contextStarts: starts }) });
    const at = { ...(await situation(masks(true))), ...(starts && { contextStarts: starts }) };
    for (const aggregation of AGGREGATIONS)
      for (const surrogate of ['clipped', 'gspo'] as const)
        await expectEqual(at, { ...OBJECTIVE, aggregation, surrogate });
    // a context all of whose tokens are rejected is no sequence any more
    const limits = { correctionLow: 0.97, correctionHigh: 1.03 };
    const rejected = await situation(masks(true), { correction: 'rejected', correctionLevel: 'token', ...limits });
    expect(rejected.old.lossMask.filter((m, i) => m !== at.old.lossMask[i]).length).toBeGreaterThan(20);
    for (const aggregation of AGGREGATIONS)
      await expectEqual({ ...rejected, ...(starts && { contextStarts: starts }) }, { ...OBJECTIVE, aggregation });
  }
});

test('where the regularizer mask is the wider, observations feel KL alone, and none of the policy loss', async () => {
  const at = await situation({ ...masks(true), regularizer: false });
  // k3 has no gradient where these two policies are far apart
  const regular = { ...OBJECTIVE, klEstimator: 'k2' } as const;
  const { got } = await both(at, regular);
  const { lossMask, regularizerMask } = at.old;
  const observed = Array.from(
    regularizerMask,
    (m, i) => m === 1 && lossMask[i] === 0 && ROWS.includes(Math.floor(i / T)),
  );
  expect(observed.filter(Boolean).length).toBeGreaterThan(10);
  for (const [i, yes] of observed.entries()) {
    if (!yes) continue;
    expect(Math.abs(got.report.policyWeights[i]!)).toBe(0);
    expect(Math.abs(got.report.gradWeights[i]!)).toBeGreaterThan(0);
  }
  const { got: without } = await both(at, { ...regular, klCoef: 0 });
  expect(without.report.gradWeights).toEqual(without.report.policyWeights);
  expect(without.step.kl).toBe(got.step.kl); // measured all the same
});

test('the observation loss equals the float64 oracle with every aggregation, and acts only where the policy mask is on', async () => {
  for (const policyMask of [true, false]) {
    const at = await situation({ ...masks(true), policy: policyMask, regularizer: false });
    for (const aggregation of AGGREGATIONS) {
      for (const observationLoss of [0.05, 0.5]) await expectEqual(at, { ...OBJECTIVE, aggregation, observationLoss });
    }
    const predicted = at.old.observationMask.reduce((sum, m) => sum + m, 0);
    expect(predicted > 20).toBe(policyMask);
    const { got: on } = await both(at, { ...OBJECTIVE, observationLoss: 0.5 });
    const { got: off } = await both(at, OBJECTIVE);
    expect(on.step.observationLoss > 1).toBe(policyMask);
    expect(off.step.observationLoss).toBe(0);
    expect(on.report.policyWeights).toEqual(off.report.policyWeights);
  }
});

test('past ±20 the surrogate has no gradient; past 10 k3 has none, while k1 and k2 keep theirs', async () => {
  const far = await situation(masks(true));
  // log π_ref − log π; k3 reaches its bound between 2.5 and 2.7, and between −10.5 and −11.5
  const apart = [50, -50, 2.5, 2.7, -10.5, -11.5];
  const learned = Array.from({ length: B * T }, (_, token) => token).filter((token) => far.old.lossMask[token] === 1);
  const at = learned.filter((token) => ROWS.includes(Math.floor(token / T))).slice(0, apart.length);
  const oldLogprobs = far.old.logprobs.map((x, token) => x + (apart.slice(0, 2)[at.indexOf(token)] ?? 0));
  const refLogprobs = far.old.refLogprobs.map((x, token) =>
    at.includes(token) ? far.now.logprobs[token]! + apart[at.indexOf(token)]! : x,
  );
  const record = someRecord(SPEC, someGrammar(SMALL.vocab_size));
  policy.load(record, { ...far.old, oldLogprobs, refLogprobs, oldValues: far.old.values });
  const old = { ...far.old, logprobs: oldLogprobs, refLogprobs };
  const given = { now: far.now, old: { ...old, regularizerMask: old.lossMask } };
  for (const klEstimator of ['k1', 'k2', 'k3'] as const) {
    const { got } = await both(given, { ...OBJECTIVE, klEstimator });
    const { gradWeights, policyWeights } = got.report;
    expect(at.slice(0, 2).map((token) => Math.abs(policyWeights[token]!))).toEqual([0, 0]);
    const free = apart.map((by) => klEstimator !== 'k3' || by === 2.5 || by === -10.5);
    expect(at.map((token) => gradWeights[token] !== policyWeights[token])).toEqual(free);
    await expectEqual(given, { ...OBJECTIVE, klEstimator });
  }
});
