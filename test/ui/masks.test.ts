import { expect, test } from 'vitest';
import { FIELDS, parseConfig, type RunConfig } from '../../src/config/config.ts';
import { maskPhrase, maskSentence, invariants, checkInvariant } from '../../src/page/words/maskSentence.ts';
import { agentOnly, OBSERVATION_STATES, observationState } from '../../src/config/masks.ts';
import type { Metrics } from '../../src/domain/metrics.ts';
import { openSession, type Session } from '../../src/session/session.ts';
import { bareHost } from '../bareHost.ts';

const STATES = ['on', 'off'] as const;
const GROUPS = ['grpo', 'rloo', 'reinforce++-baseline'] as const;
const plain = (changes: Partial<RunConfig>) =>
  parseConfig({ entropyCoef: 0, whiten: 'off', critic: 'shared', ...changes });

const CELLS = FIELDS.estimator.choices.flatMap((estimator) =>
  STATES.flatMap((lossMask) => STATES.map((advantageMask) => [estimator, lossMask, advantageMask] as const)),
);

test.each(CELLS)(
  '%s, loss mask %s, advantage mask %s: the sentence says who is graded',
  (estimator, lossMask, advantageMask) => {
    const c = parseConfig({ estimator, lossMask, advantageMask, gamma: 0.9, critic: 'shared' });
    const sentence = maskSentence(c);
    const says = (words: string) => sentence.includes(words);
    expect(says('Only the agent’s own tokens are trained')).toBe(lossMask === 'on');
    expect(says('rewarded or punished for observation tokens')).toBe(lossMask === 'off' && advantageMask === 'off');
    expect(says('count in the mean of the loss')).toBe(lossMask === 'off' && advantageMask === 'on');
    // credit that decays on its way: bi-level GAE starts afresh at each turn, and a single score has no way to go
    const leaks = ['gae', 'reinforce', 'reinforce++'].includes(estimator) && advantageMask === 'off';
    expect(says('Credit decays while')).toBe(leaks);
    expect(says('entropy bonus')).toBe(lossMask === 'off');
    expect(says('the critic trains on them')).toBe(estimator.endsWith('gae') && advantageMask === 'off');
    expect(sentence).not.toMatch(/undefined|null| {2}/);
  },
);

test('without decay no credit leaks, and the sentence does not claim it', () => {
  const c = plain({ estimator: 'gae', advantageMask: 'off' });
  expect(maskSentence(c)).toContain('without decay, since γ and λ are 1');
  expect(maskSentence({ ...c, lambda: 0.95 })).toContain('Credit decays while');
});

test.each(GROUPS)('%s: the advantage mask changes nothing unless reward lies on an observation', (estimator) => {
  const c = plain({ estimator, advantageMask: 'off' });
  expect(maskSentence(c)).toContain('the advantage mask changes nothing');
  expect(maskSentence({ ...c, rewardOnLastAction: 'off' })).not.toContain('changes nothing');
  expect(maskSentence({ ...c, advantageMask: 'on', rewardOnLastAction: 'off' })).toContain('is dropped');
});

test('a sum over tokens is not diluted, and the sentence says so', () => {
  const c = plain({ lossMask: 'off', aggregation: 'seq-mean-token-sum-norm' });
  expect(maskSentence(c)).toContain('The loss is a sum');
  expect(maskPhrase(c)).toBe('not pushed');
});

test('an observation loss makes observations a prediction, unless the loss mask grades them', () => {
  const c = plain({ observationLoss: 0.05 });
  expect(maskPhrase(c)).toContain('learned as a prediction');
  expect(maskSentence(c)).toContain('predict the words of observations (weight 0.05)');
  expect(expected(c)).toEqual([0, 1, 0, 0]);
  const graded = plain({ observationLoss: 0.05, lossMask: 'off', advantageMask: 'off' });
  expect(maskPhrase(graded)).toBe('trained like the agent’s own tokens');
  expect(maskSentence(graded)).not.toContain('predict');
  expect([c, graded, plain({}), plain({ lossMask: 'off' })].map(observationState)).toEqual([
    ...['predicted', 'graded'],
    ...['leftOut', 'leftOut'],
  ]);
  for (const [state, knobs] of Object.entries(OBSERVATION_STATES))
    expect(observationState({ ...graded, ...knobs })).toBe(state);
  expect(maskSentence(plain({ trainTurns: 'last' }))).toContain('Only the last turn');
});

test('an override speaks in place of its switch', () => {
  const c = plain({ estimator: 'gae', policyTokens: 'off', advantageTokens: 'off' });
  expect(agentOnly(c, 'policyTokens')).toBe(false);
  expect(maskSentence(c)).toContain('rewarded or punished for observation tokens');
  expect(maskSentence(plain({ estimator: 'gae', valueTokens: 'off' }))).toContain(
    'the critic trains towards 0 on them',
  );
});

test('whitened advantages that are not masked again push observations by a constant', () => {
  const c = parseConfig({ estimator: 'gae', lossMask: 'off', remask: 'off' });
  expect(maskSentence(c)).toContain('pushed by the same constant');
  expect(maskPhrase(c)).toBe('all pushed by the same constant');
});

const expected = (c: RunConfig) => invariants(c).map((each) => (each.expected === 'zero' ? 0 : 1));

test.each(FIELDS.estimator.choices)('%s: only with both masks off is a word of the tool graded', (estimator) => {
  for (const lossMask of STATES) {
    for (const advantageMask of STATES) {
      const trained = lossMask === 'off' && advantageMask === 'off' ? 1 : 0;
      expect(expected(plain({ estimator, lossMask, advantageMask }))).toEqual([trained, trained, 0, 0]);
    }
  }
});

test('KL in the loss, a reward on an observation and unmasked whitening each move what is to be expected', () => {
  expect(expected(plain({ lossMask: 'off', klCoef: 0.1 }))).toEqual([0, 1, 0, 0]);
  expect(expected(plain({ rewardOnLastAction: 'off' }))).toEqual([0, 0, 1, 0]);
  expect(expected(plain({ rewardOnLastAction: 'off', advantageMask: 'off' }))).toEqual([0, 0, 0, 0]);
  expect(expected(plain({ estimator: 'gae', lossMask: 'off', whiten: 'on', remask: 'off' }))).toEqual([1, 1, 0, 0]);
});

test('a number that should be 0 and is not is broken; a 0 where more could be is not', () => {
  expect(checkInvariant({ metric: 'mask/length_mismatch', expected: 'zero' }, 0)).toBe('holds');
  expect(checkInvariant({ metric: 'mask/length_mismatch', expected: 'zero' }, 1)).toBe('broken');
  expect(checkInvariant({ metric: 'mask/observation_weights', expected: 'positive' }, 0)).toBe('none');
  expect(checkInvariant({ metric: 'mask/observation_weights', expected: 'positive' }, 7)).toBe('holds');
});

/** Trains to the numbers of the next update. */
async function nextMetrics(session: Session): Promise<Metrics> {
  for (;;) {
    const next = await session.events.next();
    if (next.done === true) throw new Error('training has ended');
    // the numbers of update 0 are an evaluation's
    if (next.value.type === 'metrics' && next.value.update > 0) return next.value.values;
  }
}

test.each(['gae', 'grpo', 'reinforce++'] as const)(
  '%s: what is counted on the tensors is what each of the four mask cells promises',
  async (estimator) => {
    // a policy that stays as it is, and enough prompts: every batch has groups that differ, so weights that may be there are
    const sizes = { prompts: 16, groupSize: 4, width: 8, heads: 2, kvHeads: 2, ffn: 8, warmStart: 'none' };
    const knobs = { ...sizes, learningRate: 0, lambda: 0.95, evalEvery: 0, evalTasks: 4, critic: 'shared', seed: 7 };
    const config = parseConfig({ ...knobs, estimator, backend: 'cpu', updates: 4 });
    const session = await openSession(config, bareHost, () => undefined);
    const seen: unknown[] = [];
    for (const lossMask of STATES) {
      for (const advantageMask of STATES) {
        session.configure({ lossMask, advantageMask });
        const metrics = await nextMetrics(session);
        for (const each of invariants({ ...config, lossMask, advantageMask })) {
          const value = metrics[each.metric] ?? NaN;
          if (checkInvariant(each, value) !== 'holds') seen.push([lossMask, advantageMask, each, value]);
        }
      }
    }
    expect(seen).toEqual([]);
    session.dispose();
  },
);
