import { chanceText } from '../../base/inference.ts';
import { pairedSummary } from '../../experiments/statistics.ts';
import { percent, short, signed } from '../parts/numberText.ts';
import type { Trained } from './arm.ts';
import { overSeedsText } from './overSeeds.ts';

/** A run that was to break, and the control beside it, of one seed. */
type Pair = readonly [Trained, Trained];

/**
 * What came of runs that were to break beside controls that were not, from rules only: which of them the monitor called trapped, and what was left of the spread of
 * rewards within a prompt. Arms of one seed are a pair, so both differences are judged by the sign test over seeds.
 */
export function trapVerdict(pairs: readonly Pair[]): string {
  const [first] = pairs;
  if (!first) return '';
  if (pairs.length === 1) return `${broken(first[0])} ${besideControl(first)}`;
  return [counted(pairs), spreads(pairs), quoted(pairs)].filter((part) => part !== '').join(' ');
}

const isTrapped = ({ run }: Trained) => run.health.at(-1)?.health.state === 'trap';
const spreadOf = ({ run }: Trained) => run.series.get('rollout/in_group_reward_std')?.smooth;

/** Of a run that was to break, by itself. */
export function broken({ run: { update, health: said, series } }: Trained): string {
  const health = said.at(-1)?.health;
  const success = series.get('rollout/success');
  const course = `Success went from ${percent(success?.opening)} to ${percent(success?.smooth)}.`;
  if (health?.state !== 'trap') {
    return `No trap in ${update} updates this time. ${course} On some seeds no early rollout wins, so nothing can collapse.`;
  }
  return `TRAP at update ${update}: ${course} ${alarm(health.evidence)}`;
}

const alarm = (evidence: readonly { readonly alarming: boolean; readonly text: string }[]) =>
  evidence.find(({ alarming }) => alarming)?.text ?? '';

function besideControl([a, b]: Pair): string {
  const { update } = b.run;
  const control = isTrapped(b)
    ? `The ${b.label} run was trapped too, at update ${update}`
    : `The ${b.label} run had no trap in ${update} updates`;
  return `${control}. Spread of rewards within a prompt at the end, smoothed: ${short(spreadOf(a))}, ${b.label} ${short(spreadOf(b))}. One seed isn’t evidence. Train more seeds.`;
}

function counted(pairs: readonly Pair[]): string {
  const n = pairs.length;
  const [a, b] = [0, 1].map((at) => pairs.map((pair) => pair[at]!).filter(isTrapped)) as [Trained[], Trained[]];
  const at = a.length > 0 ? ` (at update ${a.map(({ run }) => run.update).join(', ')})` : '';
  const [x, y] = pairs[0]!.map(({ label }) => label) as [string, string];
  const { better, worse, p, claim } = pairedSummary(pairs.map(([one, other]) => Number(isTrapped(one)) - Number(isTrapped(other)))); // prettier-ignore
  const told = claim === 'unclear' ? 'cannot tell' : 'more than chance explains';
  return `TRAP on ${a.length} of ${n} seeds of ${x}${at} and on ${b.length} of ${n} of the ${y}: ${told} (${better} seeds only ${x}, ${worse} only the ${y}, exact sign test p ${chanceText(p)}).`;
}

function spreads(pairs: readonly Pair[]): string {
  const values = pairs.flatMap(([a, b]) => {
    const [x, y] = [spreadOf(a), spreadOf(b)];
    return x === undefined || y === undefined ? [] : [[x, y] as const];
  });
  if (values.length < pairs.length) return '';
  const { label: y } = pairs[0]![1];
  const mean = (at: 0 | 1) => short(values.reduce((sum, value) => sum + value[at], 0) / values.length);
  const difference = pairedSummary(values.map(([a, b]) => a - b));
  const told = `${difference.better > difference.worse ? 'larger' : 'smaller'} than chance explains`;
  return `Spread of rewards within a prompt at the end, smoothed: ${mean(0)}, ${y} ${mean(1)}; difference ${overSeedsText(difference, { unit: '', number: signed, side: 'larger', told })}`;
}

function quoted(pairs: readonly Pair[]): string {
  const [first] = pairs.map(([a]) => a).filter(isTrapped);
  const evidence = first?.run.health.at(-1)?.health.evidence ?? [];
  return first ? `On seed ${first.run.config.seed}: ${alarm(evidence)}` : '';
}
