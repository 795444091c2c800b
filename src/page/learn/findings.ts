import { usesGroups } from '../../config/estimators.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { sequenceOf } from '../../domain/tokenMasks.ts';
import { Role } from '../../domain/tokens.ts';
import { summaryOf } from '../../base/statistics.ts';
import { pushAt } from '../rollout/channels.ts';
import { groupStats } from '../rollout/readRollout.ts';
import { advantageEquation, equationWith, STD_EPSILON } from '../rollout/advantage.ts';
import type { Finding, ArmResult } from './exercise.ts';

/** Number of values averaged at either end of a curve, because a single update is noisy. */
export const END_VALUES = 3;
/** Two averages, each from one seed, count as different only if the larger is at least this many times the smaller. */
const MIN_RATIO = 1.25;
/** A smaller change counts as noise: the explained variance moves by about this much from one update to the next. */
const MIN_EXPLAINED_CHANGE = 0.05;
/** A sum of a group's advantages counts as 0 below this: they are float32, with six digits in the recording. */
const ZERO_SUM_TOLERANCE = 1e-3;
/** Advantages within one rollout that differ by less count as equal. */
const EQUAL_TOLERANCE = 1e-5;

/** Share of the rollouts' tokens that the policy drew: under one third, up to two thirds, or over two thirds. */
export function drawnShare([arm]: readonly ArmResult[]): Finding<'under' | 'middle' | 'over'> {
  const roles = arm?.batch ? Array.from(arm.batch.roles).filter((role) => role !== Role.pad) : [];
  const drawn = roles.filter((role) => role === Role.action).length;
  const share = drawn / roles.length;
  const numbers = { tokens: roles.length, drawn, share: roles.length > 0 ? share : 0 };
  if (roles.length === 0) return { answer: null, numbers };
  return { answer: share < 1 / 3 ? 'under' : share <= 2 / 3 ? 'middle' : 'over', numbers };
}

/** Whether the policy loss pushed any observation tokens (the tool's words). */
export function pushedObservations([arm]: readonly ArmResult[]): Finding<'none' | 'some'> {
  const words = arm?.batch ? indicesOf(arm.batch, Role.observation) : [];
  const pushed = words.filter((i) => policyWeightAt(arm?.batch, i) !== 0).length;
  const numbers = { words: words.length, pushed };
  if (words.length === 0) return { answer: null, numbers };
  return { answer: pushed > 0 ? 'some' : 'none', numbers };
}

/** Which way the loss pushed the words of the tool: up, down, or some up and some down. */
export function predictedObservations([arm]: readonly ArmResult[]): Finding<'up' | 'both' | 'none'> {
  const batch = arm?.batch;
  const pushes = batch ? indicesOf(batch, Role.observation).map((i) => pushAt(batch, i)) : [];
  const [up, down] = [pushes.filter((push) => push > 0).length, pushes.filter((push) => push < 0).length];
  const numbers = { words: pushes.length, up, down };
  if (pushes.length === 0) return { answer: null, numbers };
  return { answer: down > 0 ? 'both' : up > 0 ? 'up' : 'none', numbers };
}

/** Sign of the sum of the advantages of the first group whose rewards differ. Needs an estimator that uses groups. */
export function groupSum([arm]: readonly ArmResult[]): Finding<'positive' | 'zero' | 'negative'> {
  const batch = arm && usesGroups(arm.config.estimator) ? arm.batch : null;
  const group = batch && unevenGroup(batch);
  if (!batch || !group) return { answer: null, numbers: { rollouts: 0, sum: 0, mean: 0, std: 0 } };
  const sum = group.reduce((total, { row }) => total + (advantagesOf(batch, row)[0] ?? 0), 0);
  const { mean, std } = groupStats(group.map(({ reward }) => reward));
  const rounded = Math.abs(sum) < ZERO_SUM_TOLERANCE ? 0 : sum;
  const numbers = { rollouts: group.length, sum: rounded, mean, std };
  return { answer: rounded === 0 ? 'zero' : rounded > 0 ? 'positive' : 'negative', numbers };
}

/**
 * The advantage of the long episode's first token: by the rule, and if it were given to all rows of the episode through
 * the last row's mask. `lost`: only the rule gives the token its episode's advantage; `both`: so does the mask;
 * `share`: not even the rule does. Needs rows per turn.
 */
export function lastRowBroadcast([arm]: readonly ArmResult[]): Finding<'lost' | 'both' | 'share'> {
  const pair = arm && longAndShort(arm);
  if (!pair) return { answer: null, numbers: { right: 0, bug: 0, lost: 0, trained: 0 } };
  const { batch, long, scores } = pair;
  const inRow = Array.from({ length: batch.length }, (_, t) => long.row * batch.length + t);
  const trained = inRow.filter((i) => batch.lossMask[i] !== 0);
  const lastRow = sequenceOf(batch, trained.at(-1) ?? 0);
  const lost = trained.filter((i) => sequenceOf(batch, i) !== lastRow);
  const [first = 0] = trained;
  const right = batch.advantages[first] ?? 0;
  const bug = lost.includes(first) ? 0 : right;
  const whole = advantageEquation(arm.config, scores, long.reward)?.value ?? NaN;
  const isWhole = Math.abs(right - whole) < EQUAL_TOLERANCE;
  const numbers = { right, bug, lost: lost.length, trained: trained.length };
  return { answer: !isWhole ? 'share' : bug === 0 ? 'lost' : 'both', numbers };
}

/** Whether the group's mean is higher, lower or the same if each turn counts as a member. */
export function turnsAsMembers([arm]: readonly ArmResult[]): Finding<'lower' | 'same' | 'higher'> {
  const pair = arm && longAndShort(arm);
  if (!pair) return { answer: null, numbers: { mean: 0, biased: 0, right: 0, bug: 0 } };
  const { batch, long, scores } = pair;
  const members = batch.episodes.flatMap(({ reward, turns }) => Array.from({ length: turns }, () => reward));
  const [mean, biased] = [groupStats(scores).mean, groupStats(members).mean];
  const [right, bug] = [scores, members].map((all) => advantageEquation(arm.config, all, long.reward)?.value);
  const numbers = { mean, biased, right: right ?? 0, bug: bug ?? 0 };
  return { answer: biased > mean ? 'higher' : biased < mean ? 'lower' : 'same', numbers };
}

/** Whether the actions of a rollout all have the same advantage, in most rollouts of more than one turn. */
export function advantagesWithinRollout([arm]: readonly ArmResult[]): Finding<'same' | 'differ'> {
  const batch = arm?.batch;
  const multiTurn = batch?.episodes.filter(({ turns }) => turns > 1) ?? [];
  const differing = multiTurn.filter(({ row }) => {
    const all = batch ? advantagesOf(batch, row) : [];
    return Math.max(...all) - Math.min(...all) > EQUAL_TOLERANCE;
  }).length;
  const numbers = { rollouts: multiTurn.length, differing };
  if (multiTurn.length === 0) return { answer: null, numbers };
  return { answer: differing > multiTurn.length / 2 ? 'differ' : 'same', numbers };
}

/** Whether the advantages of a rollout average to what its score alone gets in its group, in all rollouts of several turns. */
export function averageOverTurns([arm]: readonly ArmResult[]): Finding<'same' | 'another'> {
  const { answer, numbers } = advantagesWithinRollout(arm ? [arm] : []);
  const episodes = arm?.batch?.episodes ?? [];
  const distances = episodes.map(({ row, group, reward, turns }) => {
    const scores = episodes.filter((other) => other.group === group).map((other) => other.reward);
    if (!arm?.batch || turns < 2) return 0;
    return Math.abs(mean(advantagesOf(arm.batch, row)) - equationWith('mean', scores, reward).value);
  });
  const largest = Math.max(0, ...distances);
  const apart = largest < EQUAL_TOLERANCE ? 0 : largest;
  return { answer: answer && (apart === 0 ? 'same' : 'another'), numbers: { ...numbers, apart } };
}

/** Whether turns of rollouts that failed were paid for making the right answer likelier. */
export function paidFailures([arm]: readonly ArmResult[]): Finding<'some' | 'none'> {
  const batch = arm?.batch;
  const gains = batch?.parts.information;
  const failed = batch?.episodes.filter(({ success }) => !success) ?? [];
  const isPaid = (row: number) =>
    gains?.slice(row * (batch?.length ?? 0), (row + 1) * (batch?.length ?? 0)).some((gain) => gain > EQUAL_TOLERANCE);
  const paid = failed.filter(({ row }) => isPaid(row)).length;
  return {
    answer: !gains || failed.length === 0 ? null : paid > 0 ? 'some' : 'none',
    numbers: { failed: failed.length, paid },
  };
}

/** Whether the second of two runs ends with more or fewer turns per rollout than the first. */
export function turnsTaken([plain, biased]: readonly ArmResult[]): Finding<'more' | 'same' | 'fewer'> {
  const [x, y] = [endsOf(plain, 'num_turns/mean').after, endsOf(biased, 'num_turns/mean').after];
  const isMeasured = x > 0 && y > 0;
  return {
    answer: isMeasured ? (clearlyLarger(x, y, 'more', 'fewer') ?? 'same') : null,
    numbers: { plain: x, biased: y },
  };
}

/** Whether the critic explains more of the returns' variance at the end than at the start. */
export function explainedVariance([arm]: readonly ArmResult[]): Finding<'more' | 'less'> {
  const { before, after } = endsOf(arm, 'critic/vf_explained_var');
  const numbers = { before, after };
  if (!(Math.abs(after - before) > MIN_EXPLAINED_CHANGE)) return { answer: null, numbers };
  return { answer: after > before ? 'more' : 'less', numbers };
}

/** Whether the second of two clip ranges clips more tokens of the same batch. */
export function moreClipped([wide, tight]: readonly ArmResult[]): Finding<'more' | 'same' | 'fewer'> {
  const [x, y] = [wide, tight].map((arm) => curveOf(arm, 'actor/pg_clipfrac').at(-1));
  const numbers = { wide: x ?? 0, tight: y ?? 0 };
  // if neither arm clipped a token, the two cannot be compared
  if (x === undefined || y === undefined || (x === 0 && y === 0)) return { answer: null, numbers };
  return { answer: y > x ? 'more' : y < x ? 'fewer' : 'same', numbers };
}

/** Whether the second of two runs ends nearer to the reference than the first, by the KL. */
export function nearerToReference([free, held]: readonly ArmResult[]): Finding<'nearer' | 'further'> {
  const [x, y] = [endsOf(free, 'actor/kl_loss').after, endsOf(held, 'actor/kl_loss').after];
  return { answer: clearlyLarger(x, y, 'further', 'nearer'), numbers: { free: x, held: y } };
}

/** Whether the spread of rewards ends at half its maximum or less, the monitor's criterion. Unclear if it was always 0. */
export function spreadAfter([arm]: readonly ArmResult[]): Finding<'stays' | 'falls'> {
  const spreads = curveOf(arm, 'rollout/in_group_reward_std');
  const best = Math.max(0, ...spreads);
  const { after } = endsOf(arm, 'rollout/in_group_reward_std');
  const flat = endsOf(arm, 'rollout/zero_std_groups').after;
  const numbers = { best, at: spreads.indexOf(best) + 1, after, flat };
  if (best < STD_EPSILON) return { answer: null, numbers };
  return { answer: after <= best / 2 ? 'falls' : 'stays', numbers };
}

/** How many spreads ended at half their maximum or less: `few` up to a quarter, `most` from three quarters on, else `some`. */
export function fallenSpreads(arms: readonly ArmResult[]): Finding<'few' | 'some' | 'most'> {
  const spreads = arms
    .map((arm) => curveOf(arm, 'rollout/in_group_reward_std'))
    .filter((all) => Math.max(0, ...all) > STD_EPSILON);
  const fell = spreads.filter((all) => (all.at(-1) ?? 0) <= Math.max(...all) / 2).length;
  const success = arms.length > 0 ? mean(arms.map((arm) => curveOf(arm, 'rollout/success').at(-1) ?? 0)) : 0;
  const numbers = { runs: spreads.length, fell, success };
  if (spreads.length === 0) return { answer: null, numbers };
  const share = fell / spreads.length;
  return { answer: share <= 0.25 ? 'few' : share < 0.75 ? 'some' : 'most', numbers };
}

/** Whether more groups have equal rewards, and so teach nothing, without process reward. Both arms drew the same rollouts. */
export function flatGroups([paid, unpaid]: readonly ArmResult[]): Finding<'more' | 'fewer'> {
  const [x, y] = [paid, unpaid].map((arm) => curveOf(arm, 'rollout/zero_std_groups').at(-1));
  const numbers = { paid: x ?? 0, unpaid: y ?? 0 };
  if (x === undefined || y === undefined || x === y) return { answer: null, numbers };
  return { answer: y > x ? 'more' : 'fewer', numbers };
}

/** How many times as many tokens a rollout has with a text vocabulary as with the environment's own words. */
export function timesLonger([words, text]: readonly ArmResult[]): Finding<'two' | 'five' | 'over'> {
  const [x, y] = [words, text].map((arm) => curveOf(arm, 'response_length/mean').at(-1));
  const numbers = { words: x ?? 0, text: y ?? 0, times: x && y ? y / x : 0 };
  if (!x || !y) return { answer: null, numbers };
  return { answer: numbers.times < 2 ? 'two' : numbers.times <= 5 ? 'five' : 'over', numbers };
}

export function slowerStage([arm]: readonly ArmResult[]): Finding<'rollout' | 'learn'> {
  const [rollout, learn] = [endsOf(arm, 'time/rollout').after, endsOf(arm, 'time/learn').after];
  return { answer: clearlyLarger(rollout, learn, 'learn', 'rollout'), numbers: { rollout, learn } };
}

/** `larger` if y is clearly larger than x, `smaller` if clearly smaller, otherwise null. */
function clearlyLarger<A extends string, B extends string>(x: number, y: number, larger: A, smaller: B): A | B | null {
  if (!(x >= 0 && y >= 0) || Math.max(x, y) === 0) return null;
  if (y > MIN_RATIO * x) return larger;
  return x > MIN_RATIO * y ? smaller : null;
}

/** Mean of a curve's first and of its last values; NaN without values. */
export function endsOf(
  arm: ArmResult | undefined,
  metric: MetricName,
): { readonly before: number; readonly after: number } {
  const values = curveOf(arm, metric);
  const n = Math.max(1, Math.min(END_VALUES, Math.floor(values.length / 2)));
  return { before: mean(values.slice(0, n)), after: mean(values.slice(-n)) };
}

export function curveOf(arm: ArmResult | undefined, metric: MetricName): readonly number[] {
  return arm?.curves.get(metric) ?? [];
}

const mean = (values: readonly number[]) => summaryOf(values).mean;

function indicesOf({ roles }: BatchView, wanted: Role): number[] {
  return Array.from(roles, (role, i) => (role === wanted ? i : -1)).filter((i) => i >= 0);
}

/** Weight of a token in the policy loss: the first that is not 0 in any recorded epoch, else that of the last epoch. */
function policyWeightAt(batch: BatchView | null | undefined, i: number): number {
  const epochs = batch?.epochViews ?? [];
  const last = batch?.policyWeights[i] ?? 0;
  return epochs.map(({ policyWeights }) => policyWeights[i] ?? 0).find((weight) => weight !== 0) ?? last;
}

/** The two episodes of the chapter on rows per turn. Null if the batch has others: draws may differ between machines. */
function longAndShort({ batch }: ArmResult) {
  const [long, short, ...others] = (batch?.episodes ?? []).toSorted((a, b) => b.turns - a.turns);
  if (!batch || !long || !short || others.length > 0) return null;
  const isAsked = long.turns === 3 && long.reward === 1 && short.turns === 1 && short.reward === 0;
  return isAsked ? { batch, long, scores: [long.reward, short.reward] } : null;
}

/** The first group whose rewards differ; null if there is none. */
function unevenGroup({ episodes }: BatchView): BatchView['episodes'] | null {
  const groups = [...new Set(episodes.map(({ group }) => group))];
  const members = groups.map((group) => episodes.filter((episode) => episode.group === group));
  return members.find((all) => all.length > 1 && groupStats(all.map(({ reward }) => reward)).std > STD_EPSILON) ?? null;
}

function advantagesOf({ roles, advantages, length }: BatchView, row: number): number[] {
  const indices = Array.from({ length }, (_, t) => row * length + t);
  return indices.filter((i) => roles[i] === Role.action).map((i) => advantages[i] ?? 0);
}
