import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import type { RunEvent } from '../../src/wire/commands.ts';
import { openSession } from '../../src/session/session.ts';
import { Role } from '../../src/domain/tokens.ts';
import type { Metrics } from '../../src/domain/metrics.ts';
import { bareHost } from '../bareHost.ts';

const TINY = {
  backend: 'cpu',
  warmStart: 'none',
  prompts: 4,
  groupSize: 4,
  width: 8,
  heads: 2,
  kvHeads: 2,
  ffn: 8,
  distractors: 4,
  processReward: 0.5,
  evalTasks: 4,
  evalEvery: 0,
  miEvery: 0,
  updates: 100,
  lambda: 0.95,
  entropyCoef: 0,
  seed: 5,
};

/** The batch and the numbers of the second update: the first has a critic that says 0 everywhere. */
async function secondUpdate(knobs: Record<string, unknown>): Promise<{ batch: BatchView; values: Metrics }> {
  const session = await openSession(parseConfig({ ...TINY, ...knobs }), bareHost, () => undefined);
  let batch: BatchView | null = null;
  for await (const event of session.events as AsyncIterable<RunEvent>) {
    if (event.type === 'batch') batch = event.batch;
    if (event.type === 'metrics' && event.update === 2 && batch) return { batch, values: event.values };
  }
  throw new Error('the run ended');
}

/** |policy weight| summed over tokens of a role, from the tensors of the update. */
function graded(batch: BatchView, role: Role): number {
  return batch.policyWeights.reduce((sum, w, i) => sum + (batch.roles[i] === role ? Math.abs(w) : 0), 0);
}

const CELLS = [
  ['on', 'on'],
  ['on', 'off'],
  ['off', 'on'],
] as const;

describe.each(['gae', 'bi-level-gae', 'reinforce++', 'reinforce++-baseline', 'grpo', 'rloo'])(
  'masks with %s',
  (estimator) => {
    test.each(CELLS)(
      'loss mask %s, advantage mask %s: no observation token is graded',
      async (lossMask, advantageMask) => {
        const { batch, values } = await secondUpdate({ estimator, lossMask, advantageMask });
        expect(values['mask/observation_weights']).toBe(0);
        expect(graded(batch, Role.observation)).toBe(0);
        expect(graded(batch, Role.action)).toBeGreaterThan(0);
        expect(values['mask/length_mismatch']).toBe(0);
        expect(values['mask/reward_outside']).toBe(0);
      },
    );

    test('both off: observation tokens are graded, and the mean is over all response tokens', async () => {
      const { batch, values } = await secondUpdate({ estimator, lossMask: 'off', advantageMask: 'off' });
      expect(values['mask/observation_weights']).toBeGreaterThan(50);
      expect(values['mask/observation_share']).toBeGreaterThan(0.1);
      const inLoss = batch.lossMask.reduce((a, b) => a + b, 0);
      const response = batch.roles.filter((role) => role === Role.action || role === Role.observation).length;
      expect(inLoss).toBe(response);
    });
  },
);

test('a forced token has no weight of any kind with the masks on, KL and entropy included', async () => {
  const { batch } = await secondUpdate({ estimator: 'gae', klCoef: 0.1, entropyCoef: 0.02 });
  const forced = batch.gradWeights.filter((_, i) => batch.roles[i] !== Role.action);
  expect(forced.every((w) => w === 0)).toBe(true);
  expect(batch.gradWeights.some((w) => w !== 0)).toBe(true);
});

test('with the loss mask off and the advantage mask on, KL acts on observations although the policy loss does not', async () => {
  // the policy drifts from its reference in the first update, so the second has a pull back
  const { batch, values } = await secondUpdate({ estimator: 'grpo', lossMask: 'off', klCoef: 0.5 });
  expect(values['mask/observation_weights']).toBe(0);
  expect(values['mask/observation_share']).toBeGreaterThan(0);
  expect(graded(batch, Role.observation)).toBe(0);
});

test('under GRPO the advantage mask changes no weight while the loss mask is on', async () => {
  const on = await secondUpdate({ estimator: 'grpo', advantageMask: 'on' });
  const off = await secondUpdate({ estimator: 'grpo', advantageMask: 'off' });
  expect(off.batch.gradWeights).toEqual(on.batch.gradWeights);
  expect(on.batch.gradWeights.some((w) => w !== 0)).toBe(true);
});

test('without masking again after whitening, observations hold −mean/std and a loss mask that is off grades them', async () => {
  const { batch, values } = await secondUpdate({ estimator: 'gae', lossMask: 'off', remask: 'off' });
  const held = batch.advantages.filter((_, i) => batch.roles[i] === Role.observation);
  expect(new Set(held).size).toBe(1);
  expect(held[0]).not.toBe(0);
  expect(values['mask/observation_weights']).toBeGreaterThan(50);
});

test('reward on the last token instead of the last action is lost to the advantage mask, and the page counts it', async () => {
  const { values } = await secondUpdate({ estimator: 'gae', rewardOnLastAction: 'off' });
  expect(values['mask/reward_outside']).toBeGreaterThan(0.01);
});

test('each expert override moves its own place only', async () => {
  const { batch } = await secondUpdate({ estimator: 'gae', policyTokens: 'off' });
  expect(batch.lossMask.some((m, i) => m === 1 && batch.roles[i] === Role.observation)).toBe(true);
  expect(batch.advantageMask.some((m, i) => m === 1 && batch.roles[i] === Role.observation)).toBe(false);
});

test('tokens that an off-policy correction rejects leave the losses, as the audit expects', async () => {
  const stale = { estimator: 'gae', staleness: 1, correction: 'rejected', correctionLow: 0.9, correctionHigh: 1.1 };
  const { batch, values } = await secondUpdate(stale);
  const left = batch.advantageMask.filter((m, i) => m === 1 && batch.lossMask[i] === 0).length;
  expect(left).toBeGreaterThan(20);
  expect(values['rollout_corr/rollout_rs_masked_fraction']).toBeCloseTo(left / batch.advantageMask.filter((m) => m === 1).length, 12); // prettier-ignore
  expect(values['mask/length_mismatch']).toBe(0);
});

test('an observation loss pulls up the words of observations and nothing else, with a weight of their own count', async () => {
  const { batch, values } = await secondUpdate({ estimator: 'grpo', observationLoss: 0.06, minibatches: 1 });
  const mask = batch.observationMask!;
  // <obs>, four filler words and an answer, </obs>
  const words = batch.roles.map((role, i) => (role === Role.observation && isWord(batch, i) ? 1 : 0));
  expect([...mask]).toEqual([...words]);
  const count = words.reduce((sum, m) => sum + m, 0);
  expect(count).toBeGreaterThan(50);
  batch.roles.forEach((role, i) => {
    if (role !== Role.observation) return;
    expect(batch.gradWeights[i]).toBeCloseTo(words[i] === 1 ? -0.06 / count : 0, 9);
    expect(batch.policyWeights[i]).toBe(0);
  });
  expect(graded(batch, Role.action)).toBeGreaterThan(0);
  expect(values['mask/observation_weights']).toBe(0);
  expect(values['mask/observation_share']).toBeGreaterThan(0);
  // 19 words to choose from, and a random policy
  expect(values['actor/observation_loss']).toBeGreaterThan(1);
  expect(values['mask/length_mismatch']).toBe(0);
  const off = await secondUpdate({ estimator: 'grpo', observationLoss: 0.06, lossMask: 'off' });
  expect(off.batch.observationMask!.some((m) => m !== 0)).toBe(false);
});

/** Whether the observation's token is between its tags. */
const isWord = ({ roles }: BatchView, i: number) =>
  roles[i - 1] === Role.observation && roles[i + 1] === Role.observation;

test.each(['first', 'last'] as const)(
  'with only the %s turn trained, the others have no weight',
  async (trainTurns) => {
    const { batch, values } = await secondUpdate({ estimator: 'gae', trainTurns, entropyCoef: 0.01 });
    const lastOf = batch.episodes.map(({ row }) =>
      Math.max(...batch.turns.subarray(row * batch.length, (row + 1) * batch.length)),
    );
    expect(Math.max(...lastOf)).toBeGreaterThan(1);
    batch.lossMask.forEach((m, i) => {
      const turn = trainTurns === 'first' ? 1 : lastOf[Math.floor(i / batch.length)];
      expect(m).toBe(batch.roles[i] === Role.action && batch.turns[i] === turn ? 1 : 0);
      if (m === 0) expect(batch.gradWeights[i]).toBeCloseTo(0, 12);
    });
    expect(graded(batch, Role.action)).toBeGreaterThan(0);
    expect(values['mask/length_mismatch']).toBe(0);
  },
);

test('choices of one leave every mask when they are masked, and no number of the audit breaks', async () => {
  const counted = await secondUpdate({ estimator: 'gae' });
  const masked = await secondUpdate({ estimator: 'gae', choiceMask: 'on' });
  const inLoss = ({ batch }: typeof counted) =>
    batch.lossMask.filter((m, i) => m === 1 && batch.singles[i] === 1).length;
  expect(inLoss(counted)).toBeGreaterThan(50);
  expect(inLoss(masked)).toBe(0);
  expect(masked.batch.lossMask.some((m) => m === 1)).toBe(true);
  for (const name of ['mask/reward_outside', 'mask/length_mismatch'] as const) expect(masked.values[name]).toBe(0);
  // number hunt writes three tokens a turn, of which the grammar leaves one open
  expect(counted.values['rollout/single_choices']).toBeCloseTo(2 / 3, 12);
  const share = 1 - counted.values['rollout/single_choices']!;
  expect(counted.values['rollout/entropy']).toBeCloseTo(share * counted.values['rollout/choice_entropy']!, 5);
  expect(masked.values['rollout/entropy']).toBeCloseTo(masked.values['rollout/choice_entropy']!, 12);
});

test('what top-k and top-p cut away is measured against what was drawn from, and not there where they are off', async () => {
  const whole = await secondUpdate({ estimator: 'grpo' });
  const cut = await secondUpdate({ estimator: 'grpo', topK: 3, topP: 0.8 });
  expect(whole.values['rollout/truncation_kl']).toBeUndefined();
  // at most three of the sixteen numbers are left, in one token of three
  expect(cut.values['rollout/truncation_kl']).toBeGreaterThan(0.1);
  // the page shows it token by token
  const { roles, sampledLogprobs, drawnLogprobs } = cut.batch;
  expect(whole.batch.drawnLogprobs).toBeUndefined();
  const acted = Array.from(roles).flatMap((role, i) => (role === Role.action ? [i] : []));
  const gaps = acted.map((i) => (drawnLogprobs?.[i] ?? NaN) - (sampledLogprobs[i] ?? NaN));
  expect(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length).toBeCloseTo(cut.values['rollout/truncation_kl']!, 5);
  // the policy's own log-probability is still what scoring finds
  expect(cut.values['rollout/logprob_mismatch']).toBeLessThan(1e-3);
});
