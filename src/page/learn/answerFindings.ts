import type { MetricName } from '../../domain/metrics.ts';
import type { ArmResult, Finding } from './exercise.ts';
import { curveOf, endsOf } from './findings.ts';
import { groupOutlook } from '../../domain/passGate.ts';

/**
 * A number of a sentence: a metric, and its mean over the first or the last updates or over all, its largest size, or
 * the update at which it has gone halfway from the first to the last.
 */
export type Reading = readonly [metric: MetricName, take: 'first' | 'last' | 'mean' | 'largest' | 'halfway'];

/** Finds numbers in the curves of an arm, and whether they show what the trial claims. */
export function readings<Name extends string>(
  wanted: Readonly<Record<Name, Reading>>,
  isShown: (numbers: Readonly<Record<Name, number>>) => boolean,
): (arms: readonly ArmResult[]) => Finding<'yes' | 'no'> {
  return ([arm]) => {
    const entries = Object.entries<Reading>(wanted).map(([name, reading]) => [name, valueOf(arm, reading)] as const);
    const numbers = Object.fromEntries(entries) as Record<Name, number>;
    if (entries.some(([, value]) => !Number.isFinite(value))) return { answer: null, numbers };
    return { answer: isShown(numbers) ? 'yes' : 'no', numbers };
  };
}

function valueOf(arm: ArmResult | undefined, [metric, take]: Reading): number {
  const values = curveOf(arm, metric);
  if (take === 'largest') return Math.max(...values.map(Math.abs));
  if (take === 'mean') return values.reduce((sum, value) => sum + value, 0) / values.length;
  const { before, after } = endsOf(arm, metric);
  if (take === 'halfway')
    return 1 + values.findIndex((value) => Math.abs(value - before) >= Math.abs(after - before) / 2);
  return take === 'first' ? before : after;
}

/** The share of groups with equal rewards, beside the share that the success rate predicts. */
export function deadGroups(
  isShown: (numbers: Readonly<Record<'dead' | 'rate', number>>) => boolean,
): (arms: readonly ArmResult[]) => Finding<'yes' | 'no'> {
  const measure = readings({ dead: ['rollout/zero_std_groups', 'mean'], rate: ['rollout/success', 'mean'] }, isShown);
  return (arms) => {
    const { answer, numbers } = measure(arms);
    const predicted = groupOutlook(numbers['rate'] ?? NaN, arms[0]?.config.groupSize ?? NaN).dead;
    return { answer, numbers: { ...numbers, predicted } };
  };
}
