import { usesGroups } from '../../config/estimators.ts';
import type { BatchView } from '../../domain/batch.ts';
import type { MetricName } from '../../domain/metrics.ts';
import { Role } from '../../domain/tokens.ts';
import { groupStats } from '../rollout/readRollout.ts';
import { EPSILON } from '../rollout/advantage.ts';
import type { Finding, SeenArm } from './exercise.ts';

/** Values averaged at either end of a curve: one update alone is luck. */
const FEW = 3;
/** Two averages of one seed each are told apart only where the larger is so many times the smaller. */
const APART = 1.25;
/** A critic's explained variance moves by about this much from one update to the next. */
const EXPLAINED_APART = 0.05;
/** Advantages of a group are float32, in the recording of six digits: their sum is 0 within this. */
const SUM_IS_ZERO = 1e-3;
/** Advantages of one rollout that differ by less are the same number. */
const SAME = 1e-5;

/** Share of the rollouts' tokens that the policy drew: under a third, up to two thirds, or over. */
export function drawnShare([arm]: readonly SeenArm[]): Finding<'under' | 'middle' | 'over'> {
  const roles = arm?.batch ? Array.from(arm.batch.roles).filter((role) => role !== Role.pad) : [];
  const drawn = roles.filter((role) => role === Role.action).length;
  const share = drawn / roles.length;
  const numbers = { tokens: roles.length, drawn, share: roles.length > 0 ? share : 0 };
  if (roles.length === 0) return { answer: null, numbers };
  return { answer: share < 1 / 3 ? 'under' : share <= 2 / 3 ? 'middle' : 'over', numbers };
}

/** Whether the policy loss pushed at words of the tool. */
export function pushedWords([arm]: readonly SeenArm[]): Finding<'none' | 'some'> {
  const words = arm?.batch ? indicesOf(arm.batch, Role.observation) : [];
  const pushed = words.filter((i) => policyWeightAt(arm?.batch, i) !== 0).length;
  const numbers = { words: words.length, pushed };
  if (words.length === 0) return { answer: null, numbers };
  return { answer: pushed > 0 ? 'some' : 'none', numbers };
}

/** The sum of the advantages of one prompt's rollouts, in the first group whose rewards differ; only groups are compared so. */
export function groupSum([arm]: readonly SeenArm[]): Finding<'positive' | 'zero' | 'negative'> {
  const batch = arm && usesGroups(arm.config.estimator) ? arm.batch : null;
  const group = batch && unevenGroup(batch);
  if (!batch || !group) return { answer: null, numbers: { rollouts: 0, sum: 0, mean: 0, std: 0 } };
  const sum = group.reduce((total, { row }) => total + (advantagesOf(batch, row)[0] ?? 0), 0);
  const { mean, std } = groupStats(group.map(({ reward }) => reward));
  const rounded = Math.abs(sum) < SUM_IS_ZERO ? 0 : sum;
  const numbers = { rollouts: group.length, sum: rounded, mean, std };
  return { answer: rounded === 0 ? 'zero' : rounded > 0 ? 'positive' : 'negative', numbers };
}

/** Whether the actions of a rollout all carry one advantage, counted over the rollouts of more than one turn. */
export function alikeWithin([arm]: readonly SeenArm[]): Finding<'same' | 'differ'> {
  const batch = arm?.batch;
  const several = batch?.episodes.filter(({ turns }) => turns > 1) ?? [];
  const differing = several.filter(({ row }) => {
    const all = batch ? advantagesOf(batch, row) : [];
    return Math.max(...all) - Math.min(...all) > SAME;
  }).length;
  const numbers = { rollouts: several.length, differing };
  if (several.length === 0) return { answer: null, numbers };
  return { answer: differing > several.length / 2 ? 'differ' : 'same', numbers };
}

/** Whether the critic explains more of the returns after than before. */
export function explained([arm]: readonly SeenArm[]): Finding<'more' | 'less'> {
  const { before, after } = endsOf(arm, 'critic/vf_explained_var');
  const numbers = { before, after };
  if (!(Math.abs(after - before) > EXPLAINED_APART)) return { answer: null, numbers };
  return { answer: after > before ? 'more' : 'less', numbers };
}

/** Whether the second of two clip ranges stops more tokens, over the same batch. */
export function moreClipped([wide, tight]: readonly SeenArm[]): Finding<'more' | 'same' | 'fewer'> {
  const [x, y] = [wide, tight].map((arm) => curveOf(arm, 'actor/pg_clipfrac').at(-1));
  const numbers = { wide: x ?? 0, tight: y ?? 0 };
  // where neither stops a token nothing was tried
  if (x === undefined || y === undefined || (x === 0 && y === 0)) return { answer: null, numbers };
  return { answer: y > x ? 'more' : y < x ? 'fewer' : 'same', numbers };
}

/** Whether the second of two runs ends nearer to the reference than the first. */
export function nearer([free, held]: readonly SeenArm[]): Finding<'nearer' | 'further'> {
  const [x, y] = [endsOf(free, 'actor/kl_loss').after, endsOf(held, 'actor/kl_loss').after];
  return { answer: apart(x, y, 'further', 'nearer'), numbers: { free: x, held: y } };
}

/** Whether the spread of rewards ends at no more than half of the widest it was, as the monitor asks; without a spread nothing began. */
export function spreadAfter([arm]: readonly SeenArm[]): Finding<'stays' | 'falls'> {
  const spreads = curveOf(arm, 'rollout/in_group_reward_std');
  const best = Math.max(0, ...spreads);
  const { after } = endsOf(arm, 'rollout/in_group_reward_std');
  const flat = endsOf(arm, 'rollout/zero_std_groups').after;
  const numbers = { best, at: spreads.indexOf(best) + 1, after, flat };
  if (best < EPSILON) return { answer: null, numbers };
  return { answer: after <= best / 2 ? 'falls' : 'stays', numbers };
}

/** In how many of several runs the spread ended at half of its widest or less: up to a quarter of them, from three quarters on, or between. */
export function fallenSpreads(arms: readonly SeenArm[]): Finding<'few' | 'some' | 'most'> {
  const spreads = arms
    .map((arm) => curveOf(arm, 'rollout/in_group_reward_std'))
    .filter((all) => Math.max(0, ...all) > EPSILON);
  const fell = spreads.filter((all) => (all.at(-1) ?? 0) <= Math.max(...all) / 2).length;
  const success = arms.length > 0 ? mean(arms.map((arm) => curveOf(arm, 'rollout/success').at(-1) ?? 0)) : 0;
  const numbers = { runs: spreads.length, fell, success };
  if (spreads.length === 0) return { answer: null, numbers };
  const share = fell / spreads.length;
  return { answer: share <= 0.25 ? 'few' : share < 0.75 ? 'some' : 'most', numbers };
}

/** Whether more groups teach nothing without process reward; both arms drew the same rollouts. */
export function flatGroups([paid, unpaid]: readonly SeenArm[]): Finding<'more' | 'fewer'> {
  const [x, y] = [paid, unpaid].map((arm) => curveOf(arm, 'rollout/zero_std_groups').at(-1));
  const numbers = { paid: x ?? 0, unpaid: y ?? 0 };
  if (x === undefined || y === undefined || x === y) return { answer: null, numbers };
  return { answer: y > x ? 'more' : 'fewer', numbers };
}

/** How many times as many tokens a rollout has in text as in words of its own. */
export function timesLonger([words, text]: readonly SeenArm[]): Finding<'two' | 'five' | 'over'> {
  const [x, y] = [words, text].map((arm) => curveOf(arm, 'response_length/mean').at(-1));
  const numbers = { words: x ?? 0, text: y ?? 0, times: x && y ? y / x : 0 };
  if (!x || !y) return { answer: null, numbers };
  return { answer: numbers.times < 2 ? 'two' : numbers.times <= 5 ? 'five' : 'over', numbers };
}

/** What takes longer in an update, drawing rollouts or learning from them. */
export function slowerStage([arm]: readonly SeenArm[]): Finding<'rollout' | 'learn'> {
  const [rollout, learn] = [endsOf(arm, 'time/rollout').after, endsOf(arm, 'time/learn').after];
  return { answer: apart(rollout, learn, 'learn', 'rollout'), numbers: { rollout, learn } };
}

function apart<A extends string, B extends string>(x: number, y: number, larger: A, smaller: B): A | B | null {
  if (!(x >= 0 && y >= 0) || Math.max(x, y) === 0) return null;
  if (y > APART * x) return larger;
  return x > APART * y ? smaller : null;
}

/** A curve's first few values and its last few, averaged; NaN without any. */
function endsOf(arm: SeenArm | undefined, metric: MetricName): { readonly before: number; readonly after: number } {
  const values = curveOf(arm, metric);
  const few = Math.max(1, Math.min(FEW, Math.floor(values.length / 2)));
  return { before: mean(values.slice(0, few)), after: mean(values.slice(-few)) };
}

function curveOf(arm: SeenArm | undefined, metric: MetricName): readonly number[] {
  return arm?.curves.get(metric) ?? [];
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

function indicesOf({ roles }: BatchView, wanted: Role): number[] {
  return Array.from(roles, (role, i) => (role === wanted ? i : -1)).filter((i) => i >= 0);
}

function policyWeightAt(batch: BatchView | null | undefined, i: number): number {
  const passes = batch?.passes ?? [];
  const last = batch?.policyWeights[i] ?? 0;
  return passes.map(({ policyWeights }) => policyWeights[i] ?? 0).find((weight) => weight !== 0) ?? last;
}

function unevenGroup({ episodes }: BatchView): BatchView['episodes'] | null {
  const groups = [...new Set(episodes.map(({ group }) => group))];
  const members = groups.map((group) => episodes.filter((episode) => episode.group === group));
  return members.find((all) => all.length > 1 && groupStats(all.map(({ reward }) => reward)).std > EPSILON) ?? null;
}

/** Advantages of a rollout's actions, in order. */
function advantagesOf({ roles, advantages, length }: BatchView, row: number): number[] {
  const at = Array.from({ length }, (_, t) => row * length + t);
  return at.filter((i) => roles[i] === Role.action).map((i) => advantages[i] ?? 0);
}
