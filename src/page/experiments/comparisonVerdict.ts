import { agentOnly } from '../../config/masks.ts';
import { EVALUATION_WORDS, evaluationSetOf, evaluationWords, isWholeSet } from '../../domain/evaluationSet.ts';
import { pairedSummary, type PairedComparison } from '../../experiments/statistics.ts';
import { SIGNIFICANCE_LEVEL, pValueText, fisherTest, signTest } from '../../base/inference.ts';
import { distinctTasks } from '../words/runSummary.ts';
import { percent, percentagePoints, shortNumber, signedNumber } from '../words/numberText.ts';
import type { KeptMetric } from '../runs/keptRun.ts';
import type { TrainedArm } from '../training/armWorker.ts';

/** The metric of a comparison that doesn't set one. */
export const DEFAULT_METRIC = 'rollout/success' satisfies KeptMetric;
const ENTROPY_RATIO = 1.5; // entropies are mentioned if one is at least this many times the other

/**
 * The result of a comparison in a sentence or two, written by fixed rules. Two arms with one seed are a pair; several
 * pairs are compared over seeds. The sentences are about success or, if the comparison is about the spread of rewards,
 * about the trap.
 */
export function comparisonVerdict(results: readonly TrainedArm[], metric: KeptMetric = DEFAULT_METRIC): string {
  return withShortLabels(longVerdict(results, metric), results);
}

/** A verdict in which a label such as “A (Learning rate η 0.001)” is written out once, and is “A” from then on. */
function withShortLabels(verdict: string, results: readonly TrainedArm[]): string {
  return [...new Set(results.map(({ label }) => label))].reduce((text, label) => {
    const shortLabel = label.replace(/ \(.*\)$/, '');
    const end = text.indexOf(label) + label.length;
    return text.slice(0, end) + text.slice(end).replaceAll(label, shortLabel);
  }, verdict);
}

function longVerdict(results: readonly TrainedArm[], metric: KeptMetric): string {
  const pairs = pairsOf(results);
  if (metric === 'rollout/in_group_reward_std' && pairs.length > 0) return trapVerdict(pairs);
  const [first] = results;
  if (pairs.length > 1) return seedsVerdict(pairs);
  const [pair] = pairs;
  return pair ? pairVerdict(...pair) : first ? singleRunVerdict(first) : '';
}

/** Pairs of results: the first two arms of each seed that has both. */
export function pairsOf(results: readonly TrainedArm[]): readonly (readonly [TrainedArm, TrainedArm])[] {
  return [...new Set(results.map(({ run }) => run.config.seed))].flatMap((seed) => {
    const [a, b] = results.filter(({ run }) => run.config.seed === seed);
    return a && b ? [[a, b] as const] : [];
  });
}

const trainingSuccess = ({ run }: TrainedArm) => run.series.get('rollout/success')?.lastSmoothed;
const evaluationSuccess = ({ run }: TrainedArm) => run.series.get('eval/success')?.lastValue;

/** Says how the two runs ended, not whether the knob caused it: one seed can't show that. */
function pairVerdict(a: TrainedArm, b: TrainedArm): string {
  const spanText =
    a.startUpdate > 0
      ? `From update ${a.startUpdate} to ${a.run.update}`
      : `After ${Math.min(a.run.update, b.run.update)} updates`;
  const parts = [
    `${spanText}: ${a.label} solves ${percent(trainingSuccess(a))} of its rollouts, ${b.label} ${percent(trainingSuccess(b))}.`,
    evaluationSentence(a, b),
    entropySentence(a, b),
    ...trapSentences([a, b]),
    'One seed isn’t evidence. Train more seeds.',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** Says whether the difference may be chance. If all tasks are evaluated, there is no sampling error, so only the numbers are given. */
function evaluationSentence(a: TrainedArm, b: TrainedArm): string {
  const [x, y] = [evaluationSuccess(a), evaluationSuccess(b)];
  if (x === undefined || y === undefined) return '';
  const counts = [a, b].map(({ run }) => distinctTasks(run.series, run.config));
  const tasks = Math.min(...counts);
  const coversAllTasks = [a, b].every(({ run }, i) =>
    isWholeSet(counts[i] ?? 0, run.config, run.series.get('eval/all_tasks')?.lastValue),
  );
  const taskSetText = `Of ${evaluationWords(tasks, evaluationSetOf(a.run.config, b.run.config), coversAllTasks)}`;
  const paired = solvedByOnlyOne(a, b);
  if (x === y && !paired) return `${taskSetText} both solve ${percent(x)}.`;
  const solveTheSame = paired?.onlyA === 0 && paired.onlyB === 0;
  if (solveTheSame) return `${taskSetText} both solve ${percent(x)}, and the same ones.`;
  const successText = `${taskSetText} ${a.label} solves ${percent(x)} and ${b.label} ${percent(y)}`;
  const onlyOneText = paired ? `${a.label} alone solves ${paired.onlyA}, ${b.label} alone ${paired.onlyB}` : '';
  if (coversAllTasks)
    return `${successText}${onlyOneText ? `; ${onlyOneText}` : ''}. Evaluation covers every task, so there is no sampling error, but another seed may differ.`;
  const p = paired
    ? signTest(paired.onlyA, paired.onlyB)
    : fisherTest(Math.round(x * tasks), tasks, Math.round(y * tasks), tasks);
  const remark =
    p < SIGNIFICANCE_LEVEL
      ? `${(y > x ? b : a).label} solves more, beyond chance`
      : 'cannot tell, the difference may be chance';
  const test = paired ? 'task by task, McNemar’s exact test' : 'Fisher’s exact test';
  return `${successText}${onlyOneText ? `; ${onlyOneText}` : ''}: ${remark} (${test}, p ${pValueText(p)}).`;
}

/** How many tasks only one of the runs solved; null unless both played the same tasks. */
function solvedByOnlyOne(a: TrainedArm, b: TrainedArm): { readonly onlyA: number; readonly onlyB: number } | null {
  const [solvedByA, solvedByB] = [a.run.solved, b.run.solved];
  if (!solvedByA || solvedByA.size !== solvedByB?.size) return null;
  let [onlyA, onlyB] = [0, 0];
  for (const [task, byA] of solvedByA) {
    const byB = solvedByB.get(task);
    if (byB === undefined) return null;
    if (byA && !byB) onlyA++;
    if (byB && !byA) onlyB++;
  }
  return { onlyA, onlyB };
}

/** States the difference over seeds and, if it may be chance, how many seeds would be enough. */
function seedsVerdict(pairs: readonly (readonly [TrainedArm, TrainedArm])[]): string {
  const isEvaluated = pairs.every((pair) => pair.every((arm) => evaluationSuccess(arm) !== undefined));
  const successOf = isEvaluated ? evaluationSuccess : trainingSuccess;
  const values = pairs.map((pair) => pair.map((arm) => successOf(arm) ?? 0) as [number, number]);
  const difference = pairedSummary(values.map(([x, y]) => y - x));
  const [[a, b]] = pairs as [readonly [TrainedArm, TrainedArm]];
  const mean = (at: 0 | 1) => percent(values.reduce((sum, value) => sum + value[at], 0) / values.length);
  const updates = Math.min(...pairs.flat().map(({ run, startUpdate }) => run.update - startUpdate));
  const claimText = `${difference.better > difference.worse ? b.label : a.label} is ahead by more than chance explains`;
  return [
    `Over ${pairs.length} seeds, ${updates} updates each: ${a.label} solves ${mean(0)} of ${isEvaluated ? EVALUATION_WORDS[evaluationSetOf(a.run.config, b.run.config)].tasks : 'its rollouts'}, ${b.label} ${mean(1)}.`,
    `${b.label} − ${a.label}: ${differenceText(difference, { unit: ' points', formatNumber: percentagePoints, side: 'higher', claimWords: claimText })}`,
    ...trapSentences(pairs.flat()),
  ].join(' ');
}

function trapSentences(arms: readonly TrainedArm[]): string[] {
  const hasSeveralSeeds = new Set(arms.map(({ run }) => run.config.seed)).size > 1;
  return arms
    .filter(({ run }) => run.health.at(-1)?.health.state === 'trap')
    .map(({ label, run: { update, config } }) => {
      return `${label} was trapped at update ${update}${hasSeveralSeeds ? ` on seed ${config.seed}` : ''}.`;
    });
}

/** Says which run has the higher entropy, if the difference is large, or why they can't be compared; '' for neither. */
function entropySentence(a: TrainedArm, b: TrainedArm): string {
  const withObservations = [a, b].filter(({ run }) => !agentOnly(run.config, 'regularizerTokens'));
  if (withObservations.length === 1) {
    return `Don’t compare entropy and KL: for ${withObservations[0]?.label} they include observation tokens.`;
  }
  // entropy is averaged like the loss: over tokens, over rollouts or by a fixed length, with or without forced tokens
  if (a.run.config.aggregation !== b.run.config.aggregation || a.run.config.choiceMask !== b.run.config.choiceMask) {
    return 'Don’t compare entropy and KL: the two runs average them differently.';
  }
  const [x, y] = [a, b].map(({ run }) => run.series.get('actor/entropy')?.lastSmoothed);
  if (x === undefined || y === undefined || Math.max(x, y) < ENTROPY_RATIO * Math.min(x, y)) return '';
  return `${(x > y ? a : b).label} is less certain: its entropy is ${shortNumber(Math.max(x, y))} nats, against ${shortNumber(Math.min(x, y))}.`;
}

/** A run that was meant to break and its control, with one seed. */
type Pair = readonly [TrainedArm, TrainedArm];

/**
 * The result of runs that were meant to break and their controls, written by fixed rules: which runs the monitor called
 * trapped, and the spread of rewards that is left within a prompt. Arms with one seed are a pair, so a sign test over
 * seeds judges both differences.
 */
function trapVerdict(pairs: readonly Pair[]): string {
  const [first] = pairs;
  if (!first) return '';
  if (pairs.length === 1) return `${singleRunVerdict(first[0])} ${controlSentences(first)}`;
  return [trapCounts(pairs), spreadSentence(pairs), evidenceSentence(pairs)].filter((part) => part !== '').join(' ');
}

const isTrapped = ({ run }: TrainedArm) => run.health.at(-1)?.health.state === 'trap';
const rewardSpread = ({ run }: TrainedArm) => run.series.get('rollout/in_group_reward_std')?.lastSmoothed;

function singleRunVerdict({ run: { update, health: history, series } }: TrainedArm): string {
  const health = history.at(-1)?.health;
  const success = series.get('rollout/success');
  const successChange = `Success went from ${percent(success?.openingMean)} to ${percent(success?.lastSmoothed)}.`;
  if (health?.state !== 'trap') {
    return `No trap in ${update} updates this time. ${successChange} On some seeds no early rollout wins, so nothing can collapse.`;
  }
  return `TRAP at update ${update}: ${successChange} ${alarmText(health.evidence)}`;
}

const alarmText = (evidence: readonly { readonly alarming: boolean; readonly text: string }[]) =>
  evidence.find(({ alarming }) => alarming)?.text ?? '';

function controlSentences([a, b]: Pair): string {
  const { update } = b.run;
  const control = isTrapped(b)
    ? `The ${b.label} run was trapped too, at update ${update}`
    : `The ${b.label} run had no trap in ${update} updates`;
  return `${control}. Spread of rewards within a prompt at the end, smoothed: ${shortNumber(rewardSpread(a))}, ${b.label} ${shortNumber(rewardSpread(b))}. One seed isn’t evidence. Train more seeds.`;
}

function trapCounts(pairs: readonly Pair[]): string {
  const n = pairs.length;
  const [a, b] = [0, 1].map((at) => pairs.map((pair) => pair[at]!).filter(isTrapped)) as [TrainedArm[], TrainedArm[]];
  const at = a.length > 0 ? ` (at update ${a.map(({ run }) => run.update).join(', ')})` : '';
  const [x, y] = pairs[0]!.map(({ label }) => label) as [string, string];
  const { better, worse, p, claim } = pairedSummary(pairs.map(([one, other]) => Number(isTrapped(one)) - Number(isTrapped(other)))); // prettier-ignore
  const conclusion = claim === 'unclear' ? 'cannot tell' : 'more than chance explains';
  return `TRAP on ${a.length} of ${n} seeds of ${x}${at} and on ${b.length} of ${n} of the ${y}: ${conclusion} (${better} seeds only ${x}, ${worse} only the ${y}, exact sign test p ${pValueText(p)}).`;
}

function spreadSentence(pairs: readonly Pair[]): string {
  const values = pairs.flatMap(([a, b]) => {
    const [x, y] = [rewardSpread(a), rewardSpread(b)];
    return x === undefined || y === undefined ? [] : [[x, y] as const];
  });
  if (values.length < pairs.length) return '';
  const { label: y } = pairs[0]![1];
  const mean = (at: 0 | 1) => shortNumber(values.reduce((sum, value) => sum + value[at], 0) / values.length);
  const difference = pairedSummary(values.map(([a, b]) => a - b));
  const conclusion = `${difference.better > difference.worse ? 'larger' : 'smaller'} than chance explains`;
  return `Spread of rewards within a prompt at the end, smoothed: ${mean(0)}, ${y} ${mean(1)}; difference ${differenceText(difference, { unit: '', formatNumber: signedNumber, side: 'larger', claimWords: conclusion })}`;
}

function evidenceSentence(pairs: readonly Pair[]): string {
  const [first] = pairs.map(([a]) => a).filter(isTrapped);
  const evidence = first?.run.health.at(-1)?.health.evidence ?? [];
  return first ? `On seed ${first.run.config.seed}: ${alarmText(evidence)}` : '';
}

interface DifferenceWords {
  readonly unit: string; // written after the mean
  readonly formatNumber: (value: number) => string; // formats a number with its sign
  readonly side: string; // the word for a seed with a difference above 0
  readonly claimWords: string; // the claim, if the test allows one
}

/**
 * A difference over seeds in words: the mean, the smallest and the largest value, the number of seeds on which it is
 * above 0, and the exact sign test with the claim that it allows. Ties count for neither side.
 */
function differenceText(
  difference: PairedComparison,
  { unit, formatNumber, side, claimWords }: DifferenceWords,
): string {
  const { n, mean, low, high, better, tied, p, claim, needed } = difference;
  const tiesText = tied > 0 ? `, equal on ${tied}` : '';
  const numbers = `${formatNumber(mean)}${unit} (from ${formatNumber(low)} to ${formatNumber(high)}; ${side} on ${better} of ${n} seeds${tiesText}, exact sign test p ${pValueText(p)})`;
  if (claim !== 'unclear') return `${numbers}: ${claimWords}.`;
  const neededText =
    needed === null ? '' : ` About ${Math.max(needed, n + 1)} seeds would be enough if the difference stays like this.`;
  return `${numbers}: cannot tell.${neededText}`;
}
