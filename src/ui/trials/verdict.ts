import { EVALUATED_WORDS, evaluatedIn } from '../../evaluated.ts';
import { percent, short } from '../format.ts';
import type { ArmResult } from './arm.ts';

const SIGMAS = 2;
const APART = 1.5; // times the other's entropy

/** What came of a trial, from rules only: a sentence or two. */
export function trialVerdict(results: readonly ArmResult[]): string {
  const [a, b] = results;
  if (!a) return '';
  return b ? compared(a, b) : alone(a);
}

/** Of a run that was to break. */
function alone({ update, health, series }: ArmResult): string {
  const success = series.get('rollout/success');
  const course = `Success went from ${percent(success?.opening)} to ${percent(success?.smooth)}.`;
  if (health?.state !== 'trap') {
    return `No trap in ${update} updates this time. ${course} On some seeds chance never wins, and nothing begins.`;
  }
  const reason = health.evidence.find(({ alarming }) => alarming)?.text ?? '';
  return `TRAP at update ${update}: ${course} ${reason}`;
}

function compared(a: ArmResult, b: ArmResult): string {
  const success = ({ series }: ArmResult) => series.get('rollout/success')?.smooth;
  const from = a.began > 0 ? `From update ${a.began} to ${a.update}` : `After ${Math.min(a.update, b.update)} updates`;
  const trapped = [a, b].filter(({ health }) => health?.state === 'trap');
  const parts = [
    `${from}: ${a.label} solves ${percent(success(a))} of its rollouts, ${b.label} ${percent(success(b))}.`,
    heldOut(a, b),
    undecided(a, b),
    ...trapped.map(({ label, update }) => `${label} ran into the trap at update ${update}.`),
    'One seed each: run it again with another.',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

/** Success of both on what is evaluated, and whether chance makes such a difference of as many tasks. */
function heldOut(a: ArmResult, b: ArmResult): string {
  const [x, y] = [a, b].map(({ series }) => series.get('eval/success')?.latest);
  if (x === undefined || y === undefined) return '';
  const words = EVALUATED_WORDS[evaluatedIn(a.config, b.config)].tasks;
  const tasks = Math.min(a.config.evalTasks, b.config.evalTasks);
  if (x === y) return `On ${words} both solve ${percent(x)}.`;
  const mean = (x + y) / 2;
  const noise = SIGMAS * Math.sqrt((2 * mean * (1 - mean)) / tasks);
  const remark =
    Math.abs(y - x) <= noise
      ? `chance alone makes such a difference of ${tasks} tasks`
      : `${(y > x ? b : a).label} is ahead by more than chance makes of ${tasks} tasks`;
  return `On ${words} ${percent(x)} and ${percent(y)}: ${remark}.`;
}

/** Which of two is less sure of its words, where they are far apart and measured over the same tokens. */
function undecided(a: ArmResult, b: ArmResult): string {
  if (a.config.lossMask !== b.config.lossMask || a.config.regularizerTokens !== b.config.regularizerTokens) {
    const both = (a.config.lossMask === 'off' ? a : b).label;
    return `Entropy and KL do not compare: for ${both} they are taken over the tool’s words too.`;
  }
  const [x, y] = [a, b].map(({ series }) => series.get('actor/entropy')?.smooth);
  if (x === undefined || y === undefined || Math.max(x, y) < APART * Math.min(x, y)) return '';
  return `${(x > y ? a : b).label} is less decided: its entropy is ${short(Math.max(x, y))} nats against ${short(Math.min(x, y))}.`;
}
