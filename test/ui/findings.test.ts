import { expect, test } from 'vitest';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import type { MetricName } from '../../src/domain/metrics.ts';
import { Role } from '../../src/domain/tokens.ts';
import { verdictOf, type ArmResult } from '../../src/page/learn/exercise.ts';
import * as find from '../../src/page/learn/findings.ts';
import { example } from './example.ts';

type Curves = Readonly<Partial<Record<MetricName, readonly number[]>>>;

/** What an arm left: the example's batch with some of it changed, knobs, curves. */
function arm(changes: Partial<BatchView> = {}, set: Partial<RunConfig> = {}, curves: Curves = {}): ArmResult {
  return {
    batch: { ...example, ...changes },
    config: parseConfig(set),
    curves: new Map(Object.entries(curves) as [MetricName, readonly number[]][]),
  };
}
const curved = (curves: Curves) => arm({}, {}, curves);

/** The example with a number at each token that `at` takes. */
const where = (at: (role: Role, i: number) => boolean, value: (i: number) => number) =>
  Float32Array.from(example.roles, (role, i) => (at(role as Role, i) ? value(i) : 0));

test('a prediction is right, wrong, or cannot be told', () => {
  expect(verdictOf({ predicted: 'more', answer: 'more' })).toBe('right');
  expect(verdictOf({ predicted: 'fewer', answer: 'more' })).toBe('wrong');
  expect(verdictOf({ predicted: 'more', answer: null })).toBe('unclear');
});

test('the share the agent drew is counted over all tokens but padding', () => {
  const count = (role: Role) => Array.from(example.roles).filter((each) => each === role).length;
  const drawn = count(Role.action);
  const tokens = drawn + count(Role.prompt) + count(Role.observation);
  const { answer, numbers } = find.drawnShare([arm()]);
  expect(numbers).toEqual({ tokens, drawn, share: drawn / tokens });
  expect(answer).toBe('middle');
  const roles = (of: readonly number[]) => find.drawnShare([arm({ roles: Uint8Array.from(of) })]).answer;
  expect(roles([1, 3, 3, 2, 0, 0])).toBe('under');
  expect(roles([1, 2, 2, 2, 0, 0])).toBe('over');
  expect(roles([0, 0])).toBeNull(); // nothing to count
  expect(find.drawnShare([]).answer).toBeNull();
});

test('a push at the words of the tool is found wherever it is, and only there', () => {
  const words = Array.from(example.roles).filter((role) => role === Role.observation).length;
  const onActions = where(
    (role) => role === Role.action,
    () => 0.5,
  );
  const first = example.roles.indexOf(Role.observation);
  const onOne = where(
    (_, i) => i === first,
    () => -0.001,
  );
  expect(find.pushedObservations([arm({ policyWeights: onActions, epochViews: [] })])).toEqual({
    answer: 'none',
    numbers: { words, pushed: 0 },
  });
  expect(find.pushedObservations([arm({ policyWeights: onOne, epochViews: [] })])).toEqual({
    answer: 'some',
    numbers: { words, pushed: 1 },
  });
  // the clip held it at the last pass: it was pushed at the one before
  const none = new Float32Array(example.roles.length);
  const epochViews = [{ epoch: 1, gradWeights: onOne, policyWeights: onOne, shares: new Float32Array() }];
  expect(find.pushedObservations([arm({ policyWeights: none, epochViews })]).answer).toBe('some');
  const roles = example.roles.map((role) => (role === Role.observation ? Role.action : role));
  expect(find.pushedObservations([arm({ roles })]).answer).toBeNull();
});

test('advantages of a group add up to nothing, and what does not is told apart', () => {
  const scores = example.episodes.map(({ reward }) => reward);
  expect(new Set(scores).size).toBeGreaterThan(1);
  const { answer, numbers } = find.groupSum([arm()]);
  expect([answer, numbers['sum'], numbers['rollouts']]).toEqual(['zero', 0, scores.length]);
  const shifted = (by: number) => arm({ advantages: example.advantages.map((a) => a + by) });
  expect(find.groupSum([shifted(1e-5)]).answer).toBe('zero'); // eight times the rounding of a recording
  expect(find.groupSum([shifted(0.5)]).answer).toBe('positive');
  expect(find.groupSum([shifted(-0.5)]).answer).toBe('negative');
  const alike = example.episodes.map((episode) => ({ ...episode, reward: 1 }));
  expect(find.groupSum([arm({ episodes: alike })]).answer).toBeNull();
  expect(find.groupSum([arm({}, { estimator: 'gae' })]).answer).toBeNull();
});

test('advantages within a rollout: one number for all its actions, or many', () => {
  const several = example.episodes.filter(({ turns }) => turns > 1).length;
  expect(several).toBeGreaterThan(1);
  expect(find.advantagesWithinRollout([arm()])).toEqual({
    answer: 'same',
    numbers: { rollouts: several, differing: 0 },
  });
  const rising = where(
    (role) => role === Role.action,
    (i) => i / 10,
  );
  expect(find.advantagesWithinRollout([arm({ advantages: rising })])).toEqual({
    answer: 'differ',
    numbers: { rollouts: several, differing: several },
  });
  const single = example.episodes.map((episode) => ({ ...episode, turns: 1 }));
  expect(find.advantagesWithinRollout([arm({ episodes: single })]).answer).toBeNull();
});

test('what a critic explains is compared at both ends of its curve', () => {
  const explained = (values: readonly number[]) =>
    find.explainedVariance([curved({ 'critic/vf_explained_var': values })]);
  expect(explained([0, 0, 0.03, 0.2, 0.3, 0.3, 0.3])).toEqual({
    answer: 'more',
    numbers: { before: 0.01, after: 0.3 },
  });
  expect(explained([0.4, 0.4, 0.4, 0, 0, 0]).answer).toBe('less');
  expect(explained([0.1, 0.1, 0.1, 0.14, 0.14, 0.14]).answer).toBeNull(); // within a curve's own noise
  expect(explained([]).answer).toBeNull();
});

test('words of the tool that are all pushed up are told from those that are pushed both ways', () => {
  const found = (value: (i: number) => number) =>
    find.predictedObservations([
      arm({ gradWeights: where((role) => role === Role.observation, value), epochViews: [] }),
    ]);
  const words = Array.from(example.roles).filter((role) => role === Role.observation).length;
  expect(found(() => -0.01)).toEqual({ answer: 'up', numbers: { words, up: words, down: 0 } });
  expect(found((i) => (i % 2 === 0 ? -1 : 1)).answer).toBe('both');
  expect(found(() => 0).answer).toBe('none');
  expect(find.predictedObservations([]).answer).toBeNull();
});

test('two clip ranges are compared over one batch; where neither stops a token nothing was tried', () => {
  const clipped = (wide: number, tight: number) =>
    find.moreClipped([curved({ 'actor/pg_clipfrac': [wide] }), curved({ 'actor/pg_clipfrac': [tight] })]);
  expect(clipped(0.03, 0.13)).toEqual({ answer: 'more', numbers: { wide: 0.03, tight: 0.13 } });
  expect(clipped(0.13, 0.03).answer).toBe('fewer');
  expect(clipped(0.1, 0.1).answer).toBe('same');
  expect(clipped(0, 0).answer).toBeNull();
  expect(find.moreClipped([curved({})]).answer).toBeNull();
});

test('of two runs, the second takes more or fewer turns where the numbers differ by a quarter, and else about as many', () => {
  const turns = (plain: number, biased: number) =>
    find.turnsTaken([curved({ 'num_turns/mean': [9, plain] }), curved({ 'num_turns/mean': [9, biased] })]);
  expect(turns(2.4, 1.1)).toEqual({ answer: 'fewer', numbers: { plain: 2.4, biased: 1.1 } });
  expect([turns(1.1, 2.4).answer, turns(2, 2.1).answer]).toEqual(['more', 'same']);
  expect(find.turnsTaken([curved({}), curved({})]).answer).toBeNull();
});

test('two runs of one seed are told apart only where one number is a quarter above the other', () => {
  const kl = (free: number, held: number) =>
    find.nearerToReference([curved({ 'actor/kl_loss': [0, free] }), curved({ 'actor/kl_loss': [0, held] })]);
  expect(kl(0.1, 0.01)).toEqual({ answer: 'nearer', numbers: { free: 0.1, held: 0.01 } });
  expect(kl(0.01, 0.1).answer).toBe('further');
  expect(kl(0.1, 0.09).answer).toBeNull();
  expect(find.nearerToReference([curved({}), curved({})]).answer).toBeNull();
  const times = (rollout: number, learn: number) =>
    find.slowerStage([curved({ 'time/rollout': [rollout], 'time/learn': [learn] })]).answer;
  expect([times(1, 2), times(2, 1), times(1, 1.1)]).toEqual(['learn', 'rollout', null]);
});

test('the spread of rewards has fallen at half of its widest; without any nothing began', () => {
  const spread = (values: readonly number[]) =>
    find.spreadAfter([curved({ 'rollout/in_group_reward_std': values, 'rollout/zero_std_groups': [0, 1] })]);
  const fallen = spread([0, 0.1, 0.4, 0.3, 0.02, 0.02, 0.02]);
  expect([fallen.answer, fallen.numbers['at'], fallen.numbers['best']]).toEqual(['falls', 3, 0.4]);
  expect(fallen.numbers['after']).toBeCloseTo(0.02, 12); // a mean of three: rounding only
  expect(spread([0, 0.1, 0.4, 0.3, 0.21, 0.21, 0.21]).answer).toBe('stays');
  expect(spread([0, 0.1, 0.4, 0.3, 0.19, 0.19, 0.19]).answer).toBe('falls');
  expect(spread([0, 0, 0, 0]).answer).toBeNull();
});

test('of several runs those are counted whose spread has fallen; runs without any spread are none', () => {
  const run = (best: number, last: number) =>
    curved({ 'rollout/in_group_reward_std': [best, last], 'rollout/success': [0.2, 0.8] });
  const fallen = [run(0.6, 0.1), run(0.6, 0.3)];
  const wide = [run(0.6, 0.31), run(0.6, 0.5)];
  expect(find.fallenSpreads([...fallen, ...wide, run(0, 0)])).toEqual({
    answer: 'some',
    numbers: { runs: 4, fell: 2, success: 0.8 },
  });
  expect(find.fallenSpreads(fallen).answer).toBe('most');
  expect(find.fallenSpreads(wide).answer).toBe('few');
  expect(find.fallenSpreads([run(0, 0)]).answer).toBeNull();
});

test('groups that teach nothing are compared over the same rollouts, and a tie tells nothing', () => {
  const flat = (paid: number, unpaid: number) =>
    find.flatGroups([curved({ 'rollout/zero_std_groups': [paid] }), curved({ 'rollout/zero_std_groups': [unpaid] })])
      .answer;
  expect([flat(0, 0.125), flat(0.25, 0.125), flat(0.125, 0.125)]).toEqual(['more', 'fewer', null]);
});

test('how many times longer a rollout in text is', () => {
  const times = (words: number, text: number) =>
    find.timesLonger([curved({ 'response_length/mean': [words] }), curved({ 'response_length/mean': [text] })]);
  expect(times(23.25, 77.25)).toEqual({ answer: 'five', numbers: { words: 23.25, text: 77.25, times: 77.25 / 23.25 } });
  expect(times(20, 30).answer).toBe('two');
  expect(times(20, 101).answer).toBe('over');
  expect(times(0, 77).answer).toBeNull();
});
