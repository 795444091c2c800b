import type { HealthState } from '../domain/health.ts';
import { METRICS, type MetricName, type Metrics } from '../domain/metrics.ts';
import { createMonitor } from '../rl/monitor.ts';
import { byUpdate } from '../runs/byUpdate.ts';
import type { Run } from '../runs/run.ts';
import { type IllnessName, ILLNESSES } from './illnesses.ts';
import type { MetricLog } from './metricLog.ts';

/** Something that the curves of a run show. */
export interface Finding {
  readonly illness: IllnessName;
  readonly title: string;
  /** Of a trap `trap`; of a sign what the monitor says at `until`: `watch`, or `ok` if a run that has learned all it can shows it too. */
  readonly state: HealthState;
  readonly from: number; // first step
  readonly until: number; // last step
  readonly evidence: string; // with the numbers at `until`
  readonly metric: MetricName; // its curve shows the evidence
}

/** What the doctor says of a run. */
export interface Diagnosis {
  readonly entries: number; // entries that the log has of training
  readonly steps: readonly [first: number, last: number];
  readonly findings: readonly Finding[]; // the worst first
  readonly judged: number; // findings that the log has the metrics for
  readonly notJudged: readonly string[]; // sentences
  readonly notes: readonly string[]; // how numbers differ from the page's, as sentences
  readonly log: MetricLog | null; // null: a log of this project
}

const WINDOW = 10; // entries of the first and the last period
const ENOUGH_ENTRIES = 2 * WINDOW;
/**
 * A longer log is read in so many periods at most, so that ten of them are a tenth of it. Of many noisy entries the best
 * ten lie far above their mean by chance, and the last ten would seem to have fallen from them.
 */
const MAX_PERIODS = 100;
const HOLD = 3; // entries in a row with a sign before it is a finding
/** Found at once: a spike is one entry, the monitor itself waits for the traps, and few entries have evaluations. */
const AT_ONCE: readonly IllnessName[] = ['gradient', 'collapse', 'blind', 'overfit'];
/**
 * The monitor says WATCH at two signs. A log of another program may lack the metric of the second one, so here one of
 * these is enough if success hasn't risen.
 */
const ENOUGH_ALONE: readonly IllnessName[] = ['entropy', 'spread', 'flat', 'echo'];
/** Not judged by a reward whose scale isn't known. */
const NEED_SCALE: readonly IllnessName[] = ['collapse', 'success', 'still'];
const STATES: readonly HealthState[] = ['ok', 'watch', 'trap'];
const TRAINED: readonly MetricName[] = ['rollout/success', 'critic/score/mean', 'actor/entropy', 'actor/grad_norm'];
const EVALUATIONS = ILLNESSES.overfit.metrics;
const RECENT = 5;
/** Thresholds of the doctor's own findings. `risen`: as in the monitor; `kl`: as in the answer about staleness. */
const LIMITS = {
  risen: 0.04,
  errors: { risen: 2, fallen: 5 }, // the monitor's least rise and fall, .04 and .1, in standard errors of 640 rollouts
  mastered: 0.9,
  callsLeft: 0.5,
  fewCalls: 0.2,
  truncated: 0.5,
  fall: { share: 0.25, least: 0.1 },
  kept: 0.05,
  kl: 0.05,
};

const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;
const percent = (x: number) => `${Math.round(100 * x)} %`;

/** Plays the curves of a run to the health monitor, and to five checks that the monitor doesn't have. */
export function diagnose(run: Run, log: MetricLog | null): Diagnosis {
  const periods = periodsOf(run);
  const scale = run.series.has('rollout/success') ? null : rewardScale(run, periods);
  const monitor = createMonitor(undefined, scale ? LIMITS.errors.fallen * scale.error : 0);
  const past = new Map<MetricName, number[]>();
  const stretches = new Map<IllnessName, Stretch>();
  const steps = periods.flatMap((period) => period.trained);
  for (const { step, values: logged, trained } of periods) {
    const reward = logged['critic/score/mean'];
    const values = scale && reward !== undefined ? { ...logged, 'rollout/success': scale.of(reward) } : logged;
    for (const [name, value] of Object.entries(values) as [MetricName, number][]) {
      if (!past.has(name)) past.set(name, []);
      past.get(name)!.push(value);
    }
    if (trained.length === 0) continue;
    const { state, kind, evidence } = monitor.observe(step, values, run.begun);
    const said = new Map<IllnessName, string>();
    for (const { sign, text } of evidence) said.set(sign, said.has(sign) ? `${said.get(sign)} ${text}` : text);
    if (scale && said.has('success')) said.set('success', rewardFall(past.get('critic/score/mean') ?? []));
    if (state === 'trap' && kind) said.set(kind, [...said.values()].join(' '));
    const isEvaluated = EVALUATIONS.some((name) => values[name] !== undefined);
    const overfit = isEvaluated ? overfitEvidence(past, scale) : null;
    const own = { calls: callsEvidence(past), overfit, stale: staleEvidence(past) };
    for (const [name, text] of Object.entries(own) as [keyof typeof own, string | null][])
      if (text) said.set(name, text);
    const stalled = isStalled(past, scale);
    for (const name of Object.keys(ILLNESSES) as IllnessName[]) {
      const text = said.get(name);
      const before = stretches.get(name) ?? { held: 0, from: 0, found: null };
      const isWatch = state !== 'ok' || name in own || (stalled && ENOUGH_ALONE.includes(name));
      const shown = name === kind ? state : isWatch ? 'watch' : 'ok';
      stretches.set(name, text === undefined ? { ...before, held: 0 } : continued(before, name, step, text, shown));
    }
  }
  // a run that learns late had not risen for a while, and a run may learn to end its rollouts: here the end counts
  const lastTen = periods.filter(({ trained }) => trained.length > 0).at(-WINDOW)?.trained[0] ?? 0;
  const atEnd = { still: [steps[0] ?? 0, stillEvidence(past, scale)], truncated: [lastTen, truncatedEvidence(past)] } as const; // prettier-ignore
  for (const [name, [from, text]] of Object.entries(atEnd) as [keyof typeof atEnd, readonly [number, string | null]][])
    if (text) stretches.set(name, { held: 0, from, found: { state: 'watch', from, until: steps.at(-1) ?? 0, evidence: text } }); // prettier-ignore
  const hasScale = scale !== null || run.series.has('rollout/success');
  const canShow = (name: IllnessName) => missingFor(name, run).length === 0 && (hasScale || !NEED_SCALE.includes(name));
  const findings = Array.from(stretches, ([name, { found }]) => found && canShow(name) ? { ...found, ...shownAs(name, run, scale !== null) } : null); // prettier-ignore
  return {
    entries: steps.length,
    steps: [steps[0] ?? 0, steps.at(-1) ?? 0],
    findings: findings.filter((each) => each !== null).toSorted((a, b) => STATES.indexOf(b.state) - STATES.indexOf(a.state) || a.from - b.from), // prettier-ignore
    judged: (Object.keys(ILLNESSES) as IllnessName[]).filter(canShow).length,
    notJudged: notJudged(run, steps.length, scale !== null),
    notes: notesOf(steps, log),
    log,
  };
}

const periodSize = (entries: number) => Math.max(1, Math.ceil(entries / MAX_PERIODS));

interface Period {
  readonly step: number; // its last
  readonly trained: readonly number[]; // steps of its entries of training; none: only evaluations
  readonly values: Metrics; // means; of the gradient norm the largest, because a spike is one entry
}

function periodsOf({ series }: Run): readonly Period[] {
  const curves = Array.from(series, ([name, { points }]) => [name, points] as const);
  const entries = Array.from(byUpdate(curves), ([step, pairs]): Period => {
    const values: Metrics = Object.fromEntries(pairs);
    const isTraining = step > 0 && TRAINED.some((name) => values[name] !== undefined);
    return { step, values, trained: isTraining ? [step] : [] };
  });
  const training = entries.filter(({ trained }) => trained.length > 0);
  const size = periodSize(training.length);
  const joined = Array.from({ length: Math.ceil(training.length / size) }, (_, i) => joinedPeriod(training.slice(i * size, (i + 1) * size))); // prettier-ignore
  return [...entries.filter(({ trained }) => trained.length === 0), ...joined].toSorted((a, b) => a.step - b.step);
}

function joinedPeriod(entries: readonly Period[]): Period {
  const lists = new Map<MetricName, number[]>();
  for (const [name, value] of entries.flatMap(({ values }) => Object.entries(values) as [MetricName, number][])) {
    const list = lists.get(name);
    if (list) list.push(value);
    else lists.set(name, [value]);
  }
  const values = Array.from(lists, ([name, list]) => [name, name === 'actor/grad_norm' ? largest(list) : mean(list)]);
  const trained = entries.flatMap((entry) => entry.trained);
  return { step: trained.at(-1)!, trained, values: Object.fromEntries(values) as Metrics };
}

interface Stretch {
  readonly held: number; // entries in a row up to now
  readonly from: number; // where they began
  readonly found: Pick<Finding, 'state' | 'from' | 'until' | 'evidence'> | null;
}

function continued(before: Stretch, name: IllnessName, step: number, evidence: string, state: HealthState): Stretch {
  const held = before.held + 1;
  const from = held === 1 ? step : before.from;
  if (held < (AT_ONCE.includes(name) ? 1 : HOLD)) return { ...before, held, from };
  return { held, from, found: { state, from: before.found?.from ?? from, until: step, evidence } };
}

function shownAs(illness: IllnessName, { series }: Run, isReward: boolean) {
  const { title, metrics } = ILLNESSES[illness];
  const metric = metrics.find((name) => series.has(name)) ?? 'critic/score/mean';
  const ofReward = title.replace(/^Success (?=fell|hasn)/, 'Reward ').replace('by half', 'half the way to its lowest');
  return { illness, title: isReward ? ofReward : title, metric };
}

interface Scale {
  readonly of: (reward: number) => number;
  readonly error: number; // standard error of a mean of ten entries, from the jumps between neighbours: learning isn't scatter
}

/**
 * A log without success: maps the reward to 0–1, so that the monitor can look for a fall. 0 is the lowest mean of ten
 * entries. The width is that of the rewards of single rollouts, from their extremes, or else twice their largest
 * standard deviation, which is at most the width (Popoviciu). Null if neither is known, or the log is too short.
 */
function rewardScale({ series }: Run, periods: readonly Period[]): Scale | null {
  const valuesOf = (name: MetricName) => [...(series.get(name)?.points.y ?? [])];
  const rewards = periods.flatMap(({ values }) => values['critic/score/mean'] ?? []);
  if (rewards.length < WINDOW) return null;
  const [lows, highs] = [valuesOf('critic/score/min'), valuesOf('critic/score/max')];
  const hasExtremes = lows.length > 0 && highs.length > 0;
  const width = hasExtremes ? largest(highs) - smallest(lows) : 2 * largest(valuesOf('rollout/in_group_reward_std'));
  if (!(width >= 0 && width < Infinity)) return null;
  if (width === 0) return { of: () => 0, error: 0 }; // all rewards are equal
  const low = smallest(rewards.slice(WINDOW - 1).map((_, i) => mean(rewards.slice(i, i + WINDOW))));
  const jumps = rewards.slice(1).map((reward, i) => ((reward - rewards[i]!) / width) ** 2);
  return { of: (reward) => Math.min(1, Math.max(0, (reward - low) / width)), error: Math.sqrt(mean(jumps) / (2 * WINDOW)) }; // prettier-ignore
}

const largest = (list: readonly number[]) => list.reduce((a, b) => Math.max(a, b), -Infinity);
const smallest = (list: readonly number[]) => list.reduce((a, b) => Math.min(a, b), Infinity);

function bestMean(list: readonly number[], size: number): number {
  return largest(list.slice(size - 1).map((_, i) => mean(list.slice(i, i + size))));
}

const digits = (x: number) => x.toPrecision(2);

function rewardFall(rewards: readonly number[]): string {
  return `The reward is ${digits(mean(rewards.slice(-WINDOW)))} over the last ${WINDOW} updates, down from ${digits(bestMean(rewards, WINDOW))} in its best ${WINDOW}.`;
}

type Past = ReadonlyMap<MetricName, readonly number[]>;

/** How much success rose from its first ten entries to its last ten; null with fewer than twenty. */
function successRise(past: Past): number | null {
  const success = past.get('rollout/success') ?? [];
  return success.length < ENOUGH_ENTRIES ? null : mean(success.slice(-WINDOW)) - mean(success.slice(0, WINDOW));
}

/** Whether success hasn't risen although there is something left to gain. */
function isStalled(past: Past, scale: Scale | null): boolean {
  const least = Math.max(LIMITS.risen, LIMITS.errors.risen * (scale?.error ?? 0));
  const now = mean((past.get('rollout/success') ?? []).slice(-WINDOW));
  return (successRise(past) ?? Infinity) < least && now < LIMITS.mastered;
}

function stillEvidence(past: Past, scale: Scale | null): string | null {
  if (!isStalled(past, scale)) return null;
  const isReward = scale !== null;
  const values = past.get(isReward ? 'critic/score/mean' : 'rollout/success') ?? [];
  const [before, now] = [values.slice(0, WINDOW), values.slice(-WINDOW)].map(mean).map(isReward ? digits : percent);
  return `${isReward ? 'The reward' : 'Success'} was ${before} in the first ${WINDOW} updates, and is ${now} in the last ${WINDOW}.`;
}

function truncatedEvidence(past: Past): string | null {
  const recent = (past.get('rollout/truncated') ?? []).slice(-WINDOW);
  if (recent.length < WINDOW || mean(recent) < LIMITS.truncated) return null;
  return `${percent(mean(recent))} of the rollouts are cut off by the limit of tokens, over the last ${WINDOW} updates.`;
}

function callsEvidence(past: Past): string | null {
  const calls = past.get('tool_call_counts/mean') ?? [];
  if (calls.length < ENOUGH_ENTRIES) return null;
  const [before, now] = [mean(calls.slice(0, WINDOW)), mean(calls.slice(-WINDOW))];
  if (before < LIMITS.fewCalls || now > LIMITS.callsLeft * before || (successRise(past) ?? 0) >= LIMITS.risen)
    return null;
  return `A rollout has ${now.toFixed(2)} tool calls, ${percent(now / before)} of what it had in the first ${WINDOW} updates (${before.toFixed(2)}).`;
}

function overfitEvidence(past: Past, scale: Scale | null): string | null {
  const success = past.get('rollout/success') ?? [];
  if (success.length < ENOUGH_ENTRIES) return null;
  const trained = mean(success.slice(-WINDOW));
  if (trained < bestMean(success, WINDOW) - LIMITS.kept) return null;
  for (const name of EVALUATIONS) {
    if (name === 'eval/score' && !scale) continue;
    const values = (past.get(name) ?? []).map((value) => (name === 'eval/score' ? scale!.of(value) : value));
    if (values.length < 4) continue;
    const [best, now] = [bestMean(values, 2), mean(values.slice(-2))]; // means of two: an evaluation has few tasks
    if (best - now >= Math.max(LIMITS.fall.least, LIMITS.fall.share * best))
      return `${METRICS[name].label} is ${percent(now)} in the last two evaluations, down from ${percent(best)} in the best two. In training it isn’t down.`;
  }
  return null;
}

function staleEvidence(past: Past): string | null {
  const kl = (past.get('rollout_corr/kl') ?? []).slice(-RECENT);
  if (kl.length < RECENT || mean(kl) <= LIMITS.kl) return null;
  return `The KL of sampler to learner is ${mean(kl).toPrecision(2)} nats on average over the last ${RECENT} updates.`;
}

/** The metrics that a finding needs and a log doesn't have: lists of which any would do. */
function missingFor(name: IllnessName, { series }: Run): readonly (readonly MetricName[])[] {
  return ILLNESSES[name].needs.filter((any) => !any.some((metric) => series.has(metric)));
}

function notJudged(run: Run, entries: number, isReward: boolean): readonly string[] {
  const { series } = run;
  const sentences: string[] = [];
  if (entries < ENOUGH_ENTRIES)
    sentences.push(`The log has ${entries} entries. Most findings compare ten with ten, so they need ${ENOUGH_ENTRIES}.`); // prettier-ignore
  if (isReward)
    sentences.push('The log has no success, so the reward stands in for it.'); // prettier-ignore
  else if (!series.has('rollout/success') && series.has('critic/score/mean'))
    sentences.push('The log has no success, and its reward has no known scale or fewer than ten entries. So neither a fall nor a rise is judged.'); // prettier-ignore
  for (const name of Object.keys(ILLNESSES) as IllnessName[]) {
    const missing = missingFor(name, run);
    if (missing.length === 0) continue;
    const named = missing.map((any) => any.map((metric) => `“${METRICS[metric].label}”`).join(' or '));
    sentences.push(`${ILLNESSES[name].title}: the log doesn’t have ${named.join(', nor ')}.`);
  }
  return sentences;
}

function notesOf(steps: readonly number[], log: MetricLog | null): readonly string[] {
  const gaps = steps.slice(1).map((step, i) => step - steps[i]!).toSorted((a, b) => a - b); // prettier-ignore
  const size = periodSize(steps.length);
  const gap = gaps[Math.floor(gaps.length / 2)] ?? 1;
  const differences = (log?.read ?? []).filter(({ difference }) => difference !== '');
  return [
    ...(size > 1 ? [`The log has ${steps.length} entries. They are read as means of ${size}, and an “update” in a finding is such a mean.`] : []), // prettier-ignore
    ...(gap > 1 && size === 1 ? [`The log has an entry every ${gap} steps. An “update” in a finding is such an entry.`] : []), // prettier-ignore
    ...differences.map(({ name, metric, difference }) => `${name} is shown as “${METRICS[metric].label}”: ${difference}.`), // prettier-ignore
  ];
}
