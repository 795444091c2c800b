import { describe, expect, test } from 'vitest';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import type { BatchPreview } from '../../src/domain/readings.ts';
import { Role } from '../../src/domain/tokens.ts';
import { creditOf } from '../../src/rl/lesson.ts';
import { creditSettings } from '../../src/rl/settings.ts';
import { credit } from '../../src/rl/credit.ts';
import type { Session } from '../../src/session/session.ts';
import { unflippedPreview } from '../../src/runs/recordedReadings.ts';
import { previewNumbers } from '../../src/page/rollout/previewNumbers.ts';
import { type Trained, trained } from './trained.ts';

const TINY = {
  ...{ prompts: 4, groupSize: 4, updates: 9, evalEvery: 0, evalTasks: 8, warmStart: 'none', seed: 7, backend: 'cpu' },
  ...{ layers: 2, width: 16, heads: 2, kvHeads: 1, ffn: 16, maxTurns: 3, learningRate: 0.02 },
  ...{ epochs: 1, minibatches: 1 }, // one pass: what is learned with is what it began with
};

async function previewOf({ session }: Trained, update: number, changes: Partial<RunConfig>): Promise<BatchPreview> {
  const answer = await session.answer({ kind: 'preview', update, changes });
  if (answer.kind !== 'preview' || !answer.preview || !('meansBefore' in answer.preview))
    throw new Error(`no preview: ${JSON.stringify(answer)}`);
  return answer.preview;
}

/** Largest difference, over the largest size: 1e-5 is float32 rounding on the way to the batch. */
function apart(got: ArrayLike<number>, want: ArrayLike<number>): number {
  const most = Math.max(1e-9, ...Array.from(want, Math.abs));
  return Math.max(...Array.from(want, (w, i) => Math.abs((got[i] ?? NaN) - w))) / most;
}

describe('a knob that is tried gives what a run with it would have made of the same batch', () => {
  const critic = { estimator: 'gae', critic: 'shared', criticWarmup: 0, lambda: 0.9 } as const;
  test.each([
    [critic, { lambda: 0.3 }],
    [critic, { gamma: 0.5 }],
    [critic, { whiten: 'off' }],
    [{ ...critic, klRewardCoef: 0.05 }, { klRewardCoef: 1 }],
    [critic, { klRewardCoef: 0.5 }], // nobody had asked the reference
    [{ estimator: 'grpo' }, { klCoef: 0.5 }],
    [{ estimator: 'grpo', klCoef: 0.3 }, { klEstimator: 'k1' }],
    [{ estimator: 'grpo' }, { divideByStd: 'off' }],
    [{ estimator: 'grpo' }, { estimator: 'rloo' }],
    [{ estimator: 'grpo' }, { aggregation: 'seq-mean-token-mean' }],
    [{ estimator: 'grpo' }, { choiceMask: 'on' }],
    [{ estimator: 'grpo', surrogate: 'clipped' }, { surrogate: 'plain' }],
    [
      { estimator: 'grpo', staleness: 1 },
      { correction: 'truncated', correctionHigh: 1.02 },
    ],
    [{ estimator: 'grpo', staleness: 1, correction: 'masked' }, { correctionLevel: 'sequence' }],
    [
      { ...critic, staleness: 1, correction: 'truncated' },
      { correction: 'rejected', correctionLow: 0.9 },
    ],
  ] as const)('%o, tried with %o', async (set, changes) => {
    const config = parseConfig({ ...TINY, ...set });
    // both runs are one until the second batch: by then the policy has left its reference, and KL is not 0 whatever its weight
    const turn = (session: Session, { update }: BatchView) => {
      if (update === 1) session.configure(changes);
      return Promise.resolve();
    };
    const [run, turned] = [await trained(config, 2), await trained(config, 2, turn)];
    const [batch, real] = [run.batches[1]!, turned.batches[1]!];
    expect(batch.tokens).toEqual(real.tokens);
    const preview = await previewOf(run, 2, changes);
    expect(apart(preview.batch.advantages, real.advantages)).toBeLessThan(1e-5);
    expect(apart(preview.batch.gradWeights, real.gradWeights)).toBeLessThan(1e-5);
    expect(preview.batch.lossMask).toEqual(real.lossMask);
    expect(preview.batch.corrections).toEqual(real.corrections);
    expect(Math.max(...real.gradWeights.map(Math.abs))).toBeGreaterThan(1e-4);
    // the surrogate is the same where every ratio is 1
    if (!('surrogate' in changes)) expect(apart(batch.gradWeights, real.gradWeights)).toBeGreaterThan(1e-3);
    run.session.dispose();
    turned.session.dispose();
  });

  test('the entropy bonus moves the loss by just what the entropy weighs, and no log-probability’s gradient', async () => {
    const run = await trained(parseConfig({ ...TINY, entropyCoef: 0.01 }), 1);
    const { batch, meansBefore, meansAfter } = await previewOf(run, 1, { entropyCoef: 0.11 });
    expect(meansBefore.entropy).toBeGreaterThan(0.1);
    expect(meansAfter.total - meansBefore.total).toBeCloseTo(-0.1 * meansBefore.entropy, 10);
    expect(apart(batch.gradWeights, run.batches[0]!.gradWeights)).toBeLessThan(1e-5);
    run.session.dispose();
  });
});

describe('passes after the first', () => {
  const config = parseConfig({ ...TINY, epochs: 3, minibatches: 2, clipLow: 0.05, clipHigh: 0.05, learningRate: 0.05 });

  test('the clip as it was gives back every pass as it was learned', async () => {
    const run = await trained(config, 2);
    const batch = run.batches[1]!;
    const preview = await previewOf(run, 2, { clipHigh: 0.05 });
    expect(preview.batch.epochViews!.length).toBe(3);
    for (const [k, pass] of batch.epochViews!.entries()) {
      // the replay computes in float32 too; what stands at the very edge of the clip is not in this batch
      expect(apart(preview.batch.epochViews![k]!.policyWeights, pass.policyWeights)).toBeLessThan(1e-4);
    }
    expect(preview.meansBefore).toEqual(preview.meansAfter);
    expect(preview.meansBefore.clipFraction).toBeGreaterThan(0.02);
    run.session.dispose();
  });

  test('knobs that do nothing while the ratio is 1 and a value its old self are tried over all passes, others over the first', async () => {
    const critic = { estimator: 'gae', critic: 'shared', criticWarmup: 0 } as const;
    const run = await trained(parseConfig({ ...config, ...critic }), 1);
    const over = async (changes: Partial<RunConfig>) => (await previewOf(run, 1, changes)).batch.epochViews?.length;
    const later = { surrogate: 'plain', clipLow: 0.01, clipHigh: 0.01, dualClip: 3, valueClip: 0.01 } as const;
    for (const [name, value] of Object.entries(later)) expect([name, await over({ [name]: value })]).toEqual([name, 3]);
    const { meansBefore, meansAfter } = await previewOf(run, 1, { dualClip: 1.0001 });
    expect(meansAfter.clipFractionLower).toBeGreaterThan(meansBefore.clipFractionLower);
    expect(await over({ lambda: 0.5 })).toBe(1);
    run.session.dispose();
  });

  test('a wider upper clip lets go of tokens that rose, and of no others; without a clip none is held', async () => {
    const run = await trained(config, 1);
    const held = ({ batch }: Pick<BatchPreview, 'batch'>, rising: boolean) =>
      batch.epochViews!.flatMap(({ policyWeights }) =>
        [...policyWeights].filter(
          (w, i) => batch.lossMask[i] !== 0 && w === 0 && batch.advantages[i]! * (rising ? 1 : -1) > 0,
        ),
      ).length;
    const before = { batch: run.batches[0]! };
    const wide = await previewOf(run, 1, { clipHigh: 4 });
    expect(held(before, true)).toBeGreaterThan(2);
    expect(held(wide, true)).toBeLessThan(held(before, true) / 2);
    expect(held(before, false)).toBeGreaterThan(2);
    expect(held(wide, false)).toBe(held(before, false));
    expect(wide.meansAfter.clipFraction).toBeLessThan(wide.meansBefore.clipFraction);
    const plain = await previewOf(run, 1, { surrogate: 'plain' });
    expect(held(plain, true) + held(plain, false)).toBe(0);
    run.session.dispose();
  });
});

test('a smaller group is the first rollouts of each task, and credit is that of a batch which has no others', async () => {
  const config = parseConfig({ ...TINY, estimator: 'grpo' });
  const run = await trained(config, 1);
  const batch = run.batches[0]!;
  const { batch: preview } = await previewOf(run, 1, { groupSize: 2 });
  const groups = Int32Array.from({ length: 16 }, (_, row) => (row % 4 < 2 ? Math.floor(row / 4) : -1));
  const { rows, length, roles, values, logprobs: oldLogprobs, refLogprobs, rewards, singles } = batch;
  const want = credit(
    { rows, length, roles, values, oldLogprobs, refLogprobs },
    { rewards, groups, singles },
    creditSettings(config, 0, 1),
  );
  expect(preview.advantages).toEqual(Float32Array.from(want.advantages));
  expect(preview.advantages.some((a, i) => Math.abs(a - batch.advantages[i]!) > 0.1)).toBe(true);
  expect([...preview.kept]).toEqual([1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0]);
  await expect(run.session.answer({ kind: 'preview', update: 1, changes: { groupSize: 8 } })).rejects.toThrow(
    'can’t be previewed',
  );
  await expect(run.session.answer({ kind: 'preview', update: 1, changes: { estimator: 'gae' } })).rejects.toThrow(
    'trained without a critic',
  );
  run.session.dispose();
});

test('without a change the credit of a preview is the trainer’s, and no token of the environment is in it', async () => {
  const run = await trained(parseConfig({ ...TINY, estimator: 'gae', critic: 'shared', criticWarmup: 0 }), 1);
  const batch = run.batches[0]!;
  const { batch: preview, meansBefore, meansAfter } = await previewOf(run, 1, {});
  const lesson = run.session.history.lesson(1)!;
  expect(preview.advantages).toEqual(Float32Array.from(creditOf(batch, lesson.credit).advantages));
  expect(apart(preview.gradWeights, batch.gradWeights)).toBeLessThan(1e-5);
  expect(meansBefore).toEqual(meansAfter);
  expect(preview.gradWeights.every((w, i) => w === 0 || batch.roles[i] === Role.action)).toBe(true);
  run.session.dispose();
});

test('a knob without effect changes no push of a batch that was learned from in minibatches', async () => {
  const set = { estimator: 'grpo', minibatches: 2, epochs: 2, learningRate: 0.05 } as const;
  const run = await trained(parseConfig({ ...TINY, ...set }), 2);
  const batch = run.batches[1]!;
  // grpo gives all tokens of a rollout one score: which are in the mask of advantages says nothing of those in the loss
  const changes = { advantageMask: 'off' } as const;
  const preview = await previewOf(run, 2, changes);
  expect(preview.before.gradWeights).toEqual(preview.batch.gradWeights);
  expect(previewNumbers({ batch, changes, preview }).sentence).toMatch(/no (push|trained token) changes/);
  // the second minibatch had met a policy that the first had moved
  expect(apart(batch.gradWeights, preview.before.gradWeights)).toBeGreaterThan(0.01);
  run.session.dispose();
});

test('what a recording compares its previews with is what the run itself would have said, by a critic and with KL', async () => {
  const set = {
    estimator: 'gae',
    critic: 'shared',
    criticWarmup: 0,
    klCoef: 0.3,
    minibatches: 2,
    learningRate: 0.05,
  } as const;
  const run = await trained(parseConfig({ ...TINY, ...set }), 2);
  const flipped = async (changes: Partial<RunConfig>) => previewOf(run, 2, changes);
  const advantageMask = await flipped({ advantageMask: 'off' });
  const masks = await flipped({ advantageMask: 'off', lossMask: 'off' });
  const switchPreviews = {
    advantageMask: advantageMask.batch,
    masks: masks.batch,
    lossMask: (await flipped({ lossMask: 'off' })).batch,
  };
  const got = unflippedPreview(run.batches[1]!, switchPreviews);
  expect(apart(got.policyWeights, masks.before.policyWeights)).toBeLessThan(1e-5);
  expect(apart(got.gradWeights, masks.before.gradWeights)).toBeLessThan(1e-5);
  expect(apart(run.batches[1]!.gradWeights, masks.before.gradWeights)).toBeGreaterThan(0.01);
  run.session.dispose();
});
