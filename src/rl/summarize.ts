import type { RunConfig } from '../config/config.ts';
import type { Metrics } from '../domain/metrics.ts';
import type { EngineCounters } from '../model/policy.ts';
import type { PolicyReport, StepStats } from '../model/policyReport.ts';
import type { CreditSettings } from '../model/learningSettings.ts';
import type { BatchView } from '../domain/batch.ts';
import { type EpisodeView, REWARD_PARTS } from '../domain/episode.ts';
import { Role } from '../domain/tokens.ts';
import { usesCritic } from '../config/estimators.ts';
import { answerMetrics } from './answerMetrics.ts';
import { corrections, type Corrections, mismatch, type Mismatch } from './corrections.ts';
import { responseMask, untrainedTurns } from '../domain/tokenMasks.ts';
import { repetitionMetrics } from './echo.ts';
import type { FilteredGroups } from './filter.ts';
import { invariants } from './invariants.ts';
import { meanRowKl } from './klController.ts';
import { groupSpread, rewardSums } from './rewards.ts';
import type { Rollouts } from './rollout.ts';

/** Durations of the parts of an update, in milliseconds. */
export interface UpdateTimes {
  readonly rollout: number;
  readonly environment: number; // part of `rollout`
  readonly learn: number;
}

export interface UpdateMeasurements {
  readonly rollouts: Rollouts;
  readonly filtered: FilteredGroups;
  readonly report: PolicyReport;
  readonly config: RunConfig;
  readonly credit: CreditSettings; // as used
  readonly learningRate: number; // as used
  readonly times: UpdateTimes;
  readonly countersBefore: EngineCounters;
  readonly countersAfter: EngineCounters;
}

/** Returns the metrics of an update, named as in src/domain/metrics.ts. Undefined metrics are left out. */
export function summarize(measured: UpdateMeasurements): Metrics {
  const { rollouts, filtered, report, config, times, countersBefore, countersAfter } = measured;
  const corrected = correctionsOf(measured);
  const seconds = (times.rollout + times.learn) / 1000;
  const tokens = rollouts.record.lengths.reduce((a, b) => a + b, 0);
  return {
    ...rewardMetrics(rollouts),
    ...episodeMetrics(rollouts),
    ...stepMetrics(report.steps, config),
    ...creditMetrics(report, config),
    ...penaltyMetrics(measured),
    ...repetitionMetrics(rollouts.record, rollouts.groups),
    ...choiceMetrics(rollouts, report),
    ...truncationMetrics(rollouts, config),
    ...driftMetrics(rollouts, config),
    ...mismatchMetrics(measured, corrected),
    ...invariants(rollouts.record, report, keptRows(filtered), measured.credit, corrected?.rejected),
    ...(config.filter === 'none'
      ? {}
      : { 'rollout/filter_kept_ratio': filtered.keptGroups / Math.max(1, filtered.totalGroups) }),
    // older weights and drifted tokens differ on purpose
    ...(config.staleness === 0 &&
      !driftedOf(rollouts) && { 'rollout/logprob_mismatch': largestMismatch(rollouts, report) }),
    'actor/lr': measured.learningRate,
    'engine/dispatches': countersAfter.dispatches - countersBefore.dispatches,
    'engine/submits': countersAfter.submits - countersBefore.submits,
    'engine/readbacks': countersAfter.readbacks - countersBefore.readbacks,
    'engine/upload_bytes': countersAfter.uploadBytes - countersBefore.uploadBytes,
    'engine/creations': countersAfter.creations - countersBefore.creations,
    'engine/tokens_per_second': seconds > 0 ? tokens / seconds : 0,
    'time/rollout': times.rollout / 1000,
    'time/environment': times.environment / 1000,
    'time/learn': times.learn / 1000,
    'time/update': seconds,
  };
}

export function batchView(
  update: number,
  rollouts: Rollouts,
  filtered: Pick<FilteredGroups, 'groups'>,
  report: PolicyReport,
  { estimator, topK, topP, observationLoss }: RunConfig,
): BatchView {
  const { record, episodes } = rollouts;
  const { rows, length, tokens, roles, states, contextStarts, singles, bodies } = record;
  const drifted = driftedOf(rollouts);
  const { turns, lengths, rewards, parts } = record;
  const { logprobs, refLogprobs, entropies, advantages, returns } = report;
  // without a critic the values mean nothing
  const values = usesCritic(estimator) ? report.values : new Float32Array(report.values.length);
  const { lossMask, advantageMask, gradWeights, policyWeights } = report;
  return {
    update,
    rows,
    length,
    tokens,
    roles,
    states,
    ...(contextStarts && { contextStarts }),
    singles,
    bodies,
    ...(drifted && { drifted }),
    turns,
    lengths,
    sampledLogprobs: record.logprobs,
    ...((topK > 0 || topP < 1) && { drawnLogprobs: record.drawnLogprobs }),
    logprobs,
    refLogprobs,
    entropies,
    values,
    rewards,
    parts: Object.fromEntries(Object.entries(parts).filter(([, paid]) => paid.some((x) => x !== 0))),
    advantages,
    returns,
    lossMask,
    advantageMask,
    ...(observationLoss > 0 && { observationMask: report.observationMask }),
    gradWeights,
    policyWeights,
    kept: keptRows(filtered),
    episodes,
  };
}

function keptRows({ groups }: Pick<FilteredGroups, 'groups'>): Uint8Array {
  return Uint8Array.from(groups, (group) => (group >= 0 ? 1 : 0));
}

function rewardMetrics({ record, groups, episodes }: Rollouts): Metrics {
  const scored = rewardSums(record.rewards, record.rows, record.length);
  const { meanStd, flatShare } = groupSpread(scored, groups);
  const preferenceScores = episodes.flatMap(({ preferenceScore }) =>
    preferenceScore === null ? [] : [preferenceScore],
  );
  const parts: Metrics = {};
  for (const part of REWARD_PARTS) {
    const mean = average(episodes.map((episode) => episode.parts[part]));
    if (mean !== 0) parts[`reward/${part}`] = mean;
  }
  return {
    ...parts,
    ...(preferenceScores.length > 0 ? { 'reward_model/score': average(preferenceScores) } : {}),
    'critic/score/mean': scored.reduce((a, b) => a + b, 0) / scored.length,
    'critic/score/min': Math.min(...scored),
    'critic/score/max': Math.max(...scored),
    'rollout/in_group_reward_std': meanStd,
    'rollout/zero_std_groups': flatShare,
  };
}

function episodeMetrics({ record, episodes }: Rollouts): Metrics {
  const mean = (of: (episode: EpisodeView) => number) =>
    episodes.reduce((sum, episode) => sum + of(episode), 0) / episodes.length;
  const actions = record.roles.reduce((sum, role) => sum + (role === Role.action ? 1 : 0), 0);
  const responses = actions + record.roles.reduce((sum, role) => sum + (role === Role.observation ? 1 : 0), 0);
  return {
    'rollout/success': mean(({ success }) => (success ? 1 : 0)),
    'rollout/invalid_turns': mean(({ invalidTurns }) => invalidTurns),
    'rollout/truncated': mean(({ stop }) => (stop === 'tokens' ? 1 : 0)),
    'response_length/mean': responses / episodes.length,
    'action/ratio': responses > 0 ? actions / responses : 0,
    'num_turns/mean': mean(({ turns }) => turns),
    'tool_call_counts/mean': mean(({ toolCalls }) => toolCalls),
    'rollout/waited_turns': mean(({ waited }) => waited),
    ...answerMetrics(episodes, 'rollout'),
  };
}

/** Means over the optimizer steps that changed something. */
function stepMetrics(all: readonly StepStats[], { klCoef, observationLoss, teacher }: RunConfig): Metrics {
  const steps = all.filter(({ skipped }) => skipped === '');
  if (steps.length === 0) return {};
  const mean = (of: (step: StepStats) => number) => steps.reduce((sum, step) => sum + of(step), 0) / steps.length;
  return {
    'actor/entropy': mean(({ entropy }) => entropy),
    'actor/grad_norm': mean(({ gradNorm }) => gradNorm),
    'actor/ppo_kl': mean(({ approxKl }) => approxKl),
    'actor/ppo_kl_last': steps.at(-1)!.approxKl,
    'actor/pg_loss': mean(({ policyLoss }) => policyLoss),
    'actor/pg_clipfrac': mean(({ clipFraction }) => clipFraction),
    'actor/pg_clipfrac_lower': mean(({ clipFractionLower }) => clipFractionLower),
    // without a coefficient the reference is not scored, and there is nothing to report
    ...(klCoef === 0 ? {} : { 'actor/kl_loss': mean(({ kl }) => kl) }),
    // with a coefficient of 0 it isn't computed
    ...(observationLoss === 0 ? {} : { 'actor/observation_loss': mean((step) => step.observationLoss) }),
    ...(teacher === 'none' ? {} : { 'actor/teacher_kl': mean(({ teacherKl }) => teacherKl) }),
    'actor/loss': mean(({ total }) => total),
    'critic/vf_loss': mean(({ valueLoss }) => valueLoss),
    'critic/grad_norm': mean(({ criticGradNorm }) => criticGradNorm),
    ...countsOf(steps),
  };
}

/** Sums over the steps; nothing if the backend doesn't count. */
function countsOf(steps: readonly StepStats[]): Metrics {
  const sum = (of: (step: StepStats) => number | undefined) =>
    steps.reduce((total, step) => total + (of(step) ?? NaN), 0);
  const [computed, trained] = [sum((step) => step.computedTokens), sum((step) => step.trainedTokens)];
  return Number.isNaN(computed + trained)
    ? {}
    : { 'engine/computed_tokens': computed, 'engine/trained_tokens': trained };
}

/** KL(truncated ‖ policy) in nats: the mean log-ratio of the drawn tokens, truncated by top-k and top-p; empty if both are off. */
function truncationMetrics({ record }: Rollouts, { topK, topP }: RunConfig): Metrics {
  if (topK === 0 && topP === 1) return {};
  const drawn = Array.from(record.roles.keys()).filter((i) => record.roles[i] === Role.action);
  return { 'rollout/truncation_kl': average(drawn.map((i) => record.drawnLogprobs[i]! - record.logprobs[i]!)) };
}

/** Marks the drifted tokens; undefined if there are none. */
function driftedOf({ record: { drifted } }: Rollouts): Uint8Array | undefined {
  return drifted.includes(1) ? drifted : undefined;
}

function driftMetrics({ record }: Rollouts, { retokenize, language }: RunConfig): Metrics {
  if (retokenize === 'off' || language === 'words') return {};
  const drawn = record.roles.reduce((count, role) => count + Number(role === Role.action), 0);
  return { 'rollout/drifted_tokens': record.drifted.reduce((sum, x) => sum + x, 0) / Math.max(1, drawn) };
}

type Learned = Pick<UpdateMeasurements, 'rollouts' | 'filtered' | 'report' | 'credit'>;

/** The policy mask before a correction rejects tokens, with agent tokens only or as the switch says. */
function policyMask({ rollouts: { record }, filtered, credit }: Learned, agentOnly: boolean): Float32Array {
  const untrained = untrainedTurns(record, credit.trainTurns);
  const mask = responseMask(record, filtered.groups, agentOnly, credit.choicesOnly ? record.singles : undefined);
  return mask.map((m, at) => (untrained?.[at] ? 0 : m));
}

/** What the correction did with the tokens, computed again from the report; null without one. */
export function correctionsOf(learned: Learned): Corrections | null {
  const { rollouts, report, credit } = learned;
  if (!credit.correction) return null;
  const batch = { ...rollouts.record, oldLogprobs: report.logprobs };
  return corrections(batch, rollouts.record.drawnLogprobs, policyMask(learned, credit.masks.policy), credit.correction);
}

/** How far the learner is from what drew the agent's tokens, and the share of them outside the correction's limits. */
function mismatchMetrics(measured: UpdateMeasurements, corrected: Corrections | null): Metrics {
  const { rollouts, report, credit } = measured;
  const { correction = 'none', correctionHigh } = credit.correction ?? {};
  const mask = policyMask(measured, true);
  const weights = correction === 'rejected' ? undefined : corrected?.weights;
  const batch = { ...rollouts.record, oldLogprobs: report.logprobs };
  const measurements = mismatch(batch, rollouts.record.drawnLogprobs, mask, weights);
  if (!measurements) return {};
  const metrics: Metrics = {};
  for (const [name, value] of Object.entries(measurements) as [keyof Mismatch, number][]) {
    metrics[`rollout_corr/${name}`] = value;
  }
  if (!corrected || correction === 'none') return metrics;
  const isOutside = (at: number) =>
    ({
      truncated: corrected.weights[at] === correctionHigh,
      masked: corrected.weights[at] === 0,
      rejected: corrected.rejected[at] === 1,
    })[correction];
  const tokens = Array.from(mask.keys()).filter((at) => mask[at] !== 0);
  return { ...metrics, [OUTSIDE_LIMITS[correction]]: tokens.filter(isOutside).length / Math.max(1, tokens.length) };
}

/** verl's name of the share of tokens outside a correction's limits. */
const OUTSIDE_LIMITS = {
  truncated: 'rollout_corr/rollout_is_ratio_fraction_high',
  masked: 'rollout_corr/rollout_is_oob_ratio',
  rejected: 'rollout_corr/rollout_rs_masked_fraction',
} as const;

/** Returns the share of the agent's tokens that were the only legal one, and the mean entropy of the others. */
function choiceMetrics({ record }: Rollouts, { entropies }: PolicyReport): Metrics {
  const drawn = Array.from(record.roles.keys()).filter((i) => record.roles[i] === Role.action);
  const choices = drawn.filter((i) => record.singles[i] === 0);
  return {
    'rollout/single_choices': drawn.length > 0 ? 1 - choices.length / drawn.length : 0,
    'rollout/choice_entropy': average(choices.map((i) => entropies[i] ?? 0)),
  };
}

/** Returns the metrics of the KL penalty in the reward; nothing if its coefficient is 0. */
function penaltyMetrics({ rollouts, filtered, report, credit }: UpdateMeasurements): Metrics {
  if (credit.klCoef === 0) return {};
  const { record } = rollouts;
  const leftOut = credit.choicesOnly ? record.singles : undefined;
  const mask = responseMask(record, filtered.groups, credit.masks.klReward, leftOut);
  const { logprobs: oldLogprobs, refLogprobs } = report;
  const shape = { rows: record.rows, length: record.length };
  return {
    'actor/reward_kl_penalty': meanRowKl({ ...shape, oldLogprobs, refLogprobs }, mask, credit.klEstimator),
    'actor/reward_kl_penalty_coeff': credit.klCoef,
    'critic/rewards/mean': average([...rewardSums(report.rewards, record.rows, record.length)]),
  };
}

function creditMetrics(report: PolicyReport, { estimator }: RunConfig): Metrics {
  const valuesIn = (mask: Float32Array, of: (i: number) => number): number[] => {
    const values: number[] = [];
    mask.forEach((m, i) => {
      if (m !== 0) values.push(of(i));
    });
    return values;
  };
  const metrics: Metrics = {
    'critic/advantages/mean': average(valuesIn(report.advantageMask, (i) => report.advantages[i] ?? 0)),
    'rollout/entropy': average(valuesIn(report.regularizerMask, (i) => report.entropies[i] ?? 0)),
  };
  if (!usesCritic(estimator)) return metrics;
  const returnVariance = variance(valuesIn(report.valueMask, (i) => report.returns[i] ?? 0));
  const residualVariance = variance(
    valuesIn(report.valueMask, (i) => (report.returns[i] ?? 0) - (report.values[i] ?? 0)),
  );
  return returnVariance > 0
    ? { ...metrics, 'critic/vf_explained_var': 1 - residualVariance / returnVariance }
    : metrics;
}

function largestMismatch({ record }: Rollouts, { logprobs }: PolicyReport): number {
  let worst = 0;
  record.roles.forEach((role, i) => {
    if (role === Role.action) worst = Math.max(worst, Math.abs((record.logprobs[i] ?? 0) - (logprobs[i] ?? 0)));
  });
  return worst;
}

function average(list: readonly number[]): number {
  return list.length > 0 ? list.reduce((a, b) => a + b, 0) / list.length : 0;
}

function variance(list: readonly number[]): number {
  const mean = average(list);
  return average(list.map((x) => (x - mean) ** 2));
}
