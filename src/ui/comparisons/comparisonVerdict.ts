import { EVALUATION_WORDS, evaluationSetOf, evaluationWords, isWholeSet } from '../../domain/evaluationSet.ts';
import { pairedSummary, type Paired } from '../../experiments/statistics.ts';
import { CHANCE, chanceText, fisherTest, signTest } from '../../base/inference.ts';
import { distinctTasks } from '../run/course.ts';
import { percent, points, short, signed } from '../parts/numberText.ts';
import type { KeptMetric } from '../runs/keptRun.ts';
import type { Trained } from '../run/armWorker.ts';

/** The metric of a comparison that doesn't set one. */
export const DEFAULT_METRIC = 'rollout/success' satisfies KeptMetric;
const ENTROPY_RATIO = 1.5; // entropies are mentioned if one is at least this many times the other

/**
 * The result of a comparison in a sentence or two, written by fixed rules. Two arms with one seed are a pair; several
 * pairs are compared over seeds. The sentences are about success or, if the comparison is about the spread of rewards,
 * about the trap.
 */
export function comparisonVerdict(results: readonly Trained[], metric: KeptMetric = DEFAULT_METRIC): string {
  const pairs = pairsOf(results);
  if (metric === 'rollout/in_group_reward_std' && pairs.length > 0) return trapVerdict(pairs);
  const [first] = results;
  if (pairs.length > 1) return seedsVerdict(pairs);
  const [pair] = pairs;
  return pair ? pairVerdict(...pair) : first ? brokenVerdict(first) : '';
}

/** Pairs of results: the first two arms of each seed that has both. */
export function pairsOf(results: readonly Trained[]): readonly (readonly [Trained, Trained])[] {
  return [...new Set(results.map(({ run }) => run.config.seed))].flatMap((seed) => {
    const [a, b] = results.filter(({ run }) => run.config.seed === seed);
    return a && b ? [[a, b] as const] : [];
  });
}

const solved = ({ run }: Trained) => run.series.get('rollout/success')?.smooth;
const heldOutOf = ({ run }: Trained) => run.series.get('eval/success')?.latest;

/**
 * The sentences for one pair. They say how the two runs ended, not whether the knob caused it: one seed can't show
 * that.
 */
function pairVerdict(a: Trained, b: Trained): string {
  const from =
    a.began > 0 ? `From update ${a.began} to ${a.run.update}` : `After ${Math.min(a.run.update, b.run.update)} updates`;
  const parts = [
    `${from}: ${a.label} solves ${percent(solved(a))} of its rollouts, ${b.label} ${percent(solved(b))}.`,
    heldOutSentence(a, b),
    entropySentence(a, b),
    ...trapSentences([a, b]),
    'One seed isn’t evidence. Train more seeds.',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/**
 * Success of both runs in evaluation, and whether the difference may be chance for this number of tasks. If evaluation
 * covers all tasks, there is no sampling error, so only the numbers are given.
 */
function heldOutSentence(a: Trained, b: Trained): string {
  const [x, y] = [heldOutOf(a), heldOutOf(b)];
  if (x === undefined || y === undefined) return '';
  const counts = [a, b].map(({ run }) => distinctTasks(run.series, run.config));
  const tasks = Math.min(...counts);
  const whole = [a, b].every(({ run }, i) => isWholeSet(counts[i] ?? 0, run.config));
  const on = `Of ${evaluationWords(tasks, evaluationSetOf(a.run.config, b.run.config), whole)}`;
  const paired = taskByTask(a, b);
  if (x === y && !paired) return `${on} both solve ${percent(x)}.`;
  const shares = `${on} ${a.label} solves ${percent(x)} and ${b.label} ${percent(y)}`;
  const counted = paired ? `only ${a.label} solves ${paired.onlyA} of them, only ${b.label} ${paired.onlyB}` : '';
  if (whole)
    return `${shares}${counted ? `: ${counted}` : ''}. Evaluation covers every task, so there is no sampling error, but another seed may differ.`;
  const p = paired
    ? signTest(paired.onlyA, paired.onlyB)
    : fisherTest(Math.round(x * tasks), tasks, Math.round(y * tasks), tasks);
  const remark =
    p < CHANCE ? `${(y > x ? b : a).label} solves more, beyond chance` : 'cannot tell, the difference may be chance';
  const test = paired ? 'task by task, McNemar’s exact test' : 'Fisher’s exact test';
  return `${shares}: ${counted ? `${counted}: ` : ''}${remark} (${test}, p ${chanceText(p)}).`;
}

/** How many tasks only one of the runs solved; null unless both played the same tasks. */
function taskByTask(a: Trained, b: Trained): { readonly onlyA: number; readonly onlyB: number } | null {
  const [ofA, ofB] = [a.run.solved, b.run.solved];
  if (!ofA || ofA.size !== ofB?.size) return null;
  let [onlyA, onlyB] = [0, 0];
  for (const [task, byA] of ofA) {
    const byB = ofB.get(task);
    if (byB === undefined) return null;
    if (byA && !byB) onlyA++;
    if (byB && !byA) onlyB++;
  }
  return { onlyA, onlyB };
}

/**
 * The sentences for several pairs: the difference over seeds and, if it may be chance, how many seeds would be enough.
 */
function seedsVerdict(pairs: readonly (readonly [Trained, Trained])[]): string {
  const measured = pairs.every((pair) => pair.every((arm) => heldOutOf(arm) !== undefined));
  const read = measured ? heldOutOf : solved;
  const values = pairs.map((pair) => pair.map((arm) => read(arm) ?? 0) as [number, number]);
  const difference = pairedSummary(values.map(([x, y]) => y - x));
  const [[a, b]] = pairs as [readonly [Trained, Trained]];
  const mean = (at: 0 | 1) => percent(values.reduce((sum, value) => sum + value[at], 0) / values.length);
  const updates = Math.min(...pairs.flat().map(({ run, began }) => run.update - began));
  const ahead = `${difference.better > difference.worse ? b.label : a.label} is ahead by more than chance explains`;
  return [
    `Over ${pairs.length} seeds, ${updates} updates each: ${a.label} solves ${mean(0)} of ${measured ? EVALUATION_WORDS[evaluationSetOf(a.run.config, b.run.config)].tasks : 'its rollouts'}, ${b.label} ${mean(1)}.`,
    `${b.label} − ${a.label}: ${overSeedsText(difference, { unit: ' points', number: points, side: 'higher', claimWords: ahead })}`,
    ...trapSentences(pairs.flat()),
  ].join(' ');
}

function trapSentences(arms: readonly Trained[]): string[] {
  const several = new Set(arms.map(({ run }) => run.config.seed)).size > 1;
  return arms
    .filter(({ run }) => run.health.at(-1)?.health.state === 'trap')
    .map(({ label, run: { update, config } }) => {
      return `${label} was trapped at update ${update}${several ? ` on seed ${config.seed}` : ''}.`;
    });
}

/**
 * A sentence on which run has the higher entropy, if the difference is large; or why the entropies can't be compared.
 * '' for neither.
 */
function entropySentence(a: Trained, b: Trained): string {
  if (
    a.run.config.lossMask !== b.run.config.lossMask ||
    a.run.config.regularizerTokens !== b.run.config.regularizerTokens
  ) {
    const both = (a.run.config.lossMask === 'off' ? a : b).label;
    return `Don’t compare entropy and KL: for ${both} they include observation tokens.`;
  }
  // entropy is averaged like the loss: over tokens, over rollouts or by a fixed length, with or without forced tokens
  if (a.run.config.aggregation !== b.run.config.aggregation || a.run.config.choiceMask !== b.run.config.choiceMask) {
    return 'Don’t compare entropy and KL: the two runs average them differently.';
  }
  const [x, y] = [a, b].map(({ run }) => run.series.get('actor/entropy')?.smooth);
  if (x === undefined || y === undefined || Math.max(x, y) < ENTROPY_RATIO * Math.min(x, y)) return '';
  return `${(x > y ? a : b).label} is less certain: its entropy is ${short(Math.max(x, y))} nats, against ${short(Math.min(x, y))}.`;
}

/** A run that was meant to break and its control, with one seed. */
type Pair = readonly [Trained, Trained];

/**
 * The result of runs that were meant to break and their controls, written by fixed rules: which runs the monitor called
 * trapped, and the spread of rewards that is left within a prompt. Arms with one seed are a pair, so a sign test over
 * seeds judges both differences.
 */
function trapVerdict(pairs: readonly Pair[]): string {
  const [first] = pairs;
  if (!first) return '';
  if (pairs.length === 1) return `${brokenVerdict(first[0])} ${controlSentences(first)}`;
  return [trapCounts(pairs), spreadSentence(pairs), evidenceSentence(pairs)].filter((part) => part !== '').join(' ');
}

const isTrapped = ({ run }: Trained) => run.health.at(-1)?.health.state === 'trap';
const spreadOf = ({ run }: Trained) => run.series.get('rollout/in_group_reward_std')?.smooth;

/** The sentence for a single run that was meant to break. */
function brokenVerdict({ run: { update, health: history, series } }: Trained): string {
  const health = history.at(-1)?.health;
  const success = series.get('rollout/success');
  const course = `Success went from ${percent(success?.opening)} to ${percent(success?.smooth)}.`;
  if (health?.state !== 'trap') {
    return `No trap in ${update} updates this time. ${course} On some seeds no early rollout wins, so nothing can collapse.`;
  }
  return `TRAP at update ${update}: ${course} ${alarm(health.evidence)}`;
}

const alarm = (evidence: readonly { readonly alarming: boolean; readonly text: string }[]) =>
  evidence.find(({ alarming }) => alarming)?.text ?? '';

function controlSentences([a, b]: Pair): string {
  const { update } = b.run;
  const control = isTrapped(b)
    ? `The ${b.label} run was trapped too, at update ${update}`
    : `The ${b.label} run had no trap in ${update} updates`;
  return `${control}. Spread of rewards within a prompt at the end, smoothed: ${short(spreadOf(a))}, ${b.label} ${short(spreadOf(b))}. One seed isn’t evidence. Train more seeds.`;
}

function trapCounts(pairs: readonly Pair[]): string {
  const n = pairs.length;
  const [a, b] = [0, 1].map((at) => pairs.map((pair) => pair[at]!).filter(isTrapped)) as [Trained[], Trained[]];
  const at = a.length > 0 ? ` (at update ${a.map(({ run }) => run.update).join(', ')})` : '';
  const [x, y] = pairs[0]!.map(({ label }) => label) as [string, string];
  const { better, worse, p, claim } = pairedSummary(pairs.map(([one, other]) => Number(isTrapped(one)) - Number(isTrapped(other)))); // prettier-ignore
  const conclusion = claim === 'unclear' ? 'cannot tell' : 'more than chance explains';
  return `TRAP on ${a.length} of ${n} seeds of ${x}${at} and on ${b.length} of ${n} of the ${y}: ${conclusion} (${better} seeds only ${x}, ${worse} only the ${y}, exact sign test p ${chanceText(p)}).`;
}

function spreadSentence(pairs: readonly Pair[]): string {
  const values = pairs.flatMap(([a, b]) => {
    const [x, y] = [spreadOf(a), spreadOf(b)];
    return x === undefined || y === undefined ? [] : [[x, y] as const];
  });
  if (values.length < pairs.length) return '';
  const { label: y } = pairs[0]![1];
  const mean = (at: 0 | 1) => short(values.reduce((sum, value) => sum + value[at], 0) / values.length);
  const difference = pairedSummary(values.map(([a, b]) => a - b));
  const conclusion = `${difference.better > difference.worse ? 'larger' : 'smaller'} than chance explains`;
  return `Spread of rewards within a prompt at the end, smoothed: ${mean(0)}, ${y} ${mean(1)}; difference ${overSeedsText(difference, { unit: '', number: signed, side: 'larger', claimWords: conclusion })}`;
}

function evidenceSentence(pairs: readonly Pair[]): string {
  const [first] = pairs.map(([a]) => a).filter(isTrapped);
  const evidence = first?.run.health.at(-1)?.health.evidence ?? [];
  return first ? `On seed ${first.run.config.seed}: ${alarm(evidence)}` : '';
}

/** The words for a difference over seeds. */
interface DifferenceWords {
  readonly unit: string; // written after the mean
  readonly number: (value: number) => string; // formats a number with its sign
  readonly side: string; // the word for a seed with a difference above 0
  readonly claimWords: string; // the claim, if the test allows one
}

/**
 * A difference over seeds in words: the mean, the smallest and the largest value, the number of seeds on which it is
 * above 0, and the exact sign test with the claim that it allows. Ties count for neither side.
 */
function overSeedsText(difference: Paired, { unit, number, side, claimWords }: DifferenceWords): string {
  const { n, mean, low, high, better, tied, p, claim, needed } = difference;
  const alike = tied > 0 ? `, equal on ${tied}` : '';
  const numbers = `${number(mean)}${unit} (from ${number(low)} to ${number(high)}; ${side} on ${better} of ${n} seeds${alike}, exact sign test p ${chanceText(p)})`;
  if (claim !== 'unclear') return `${numbers}: ${claimWords}.`;
  const need =
    needed === null ? '' : ` About ${Math.max(needed, n + 1)} seeds would be enough if the difference stays like this.`;
  return `${numbers}: cannot tell.${need}`;
}
