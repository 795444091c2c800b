import { type MonitorMemory, noProgress, type TrackMemory } from '../domain/progress.ts';
import type { RunConfig } from '../config/config.ts';
import type { Metrics } from '../domain/metrics.ts';
import type { Evidence, Health, HealthState, TrapKind, Remedy } from '../domain/health.ts';
import { contradictions } from '../config/contradictions.ts';
import { REWARD_PARTS, type RewardPart } from '../domain/episode.ts';

/**
 * Watches a run for the Echo Trap (RAGEN, arXiv 2504.20073) and for a state that looks like it. Rollouts that have
 * become alike are not a trap by themselves: a run that has learned all it can looks the same. They are a trap if
 * success has fallen from its best (`collapse`), or if turns no longer depend on what the agent reads although success
 * has not yet risen half the way from its first value to 1 (`blind`). `blind` needs RAGEN-2's measure of input
 * dependence. If that is switched off, such a run gets WATCH at most. Two more signs are no trap: a part of the reward
 * that keeps gaining while success doesn't (WATCH by itself), and rollouts that get longer or shorter while success doesn't rise.
 */
export interface Monitor {
  observe(update: number, values: Metrics, config: RunConfig): Health;
}

/** Number of updates in the base period that later values are compared with (as in RAGEN-2). */
const BASE_UPDATES = 10;
/** Number of updates over which current values are averaged. */
const RECENT_UPDATES = 5;
/**
 * Number of updates in a row with the signs of a trap before the state becomes `trap`, and without them before it ends.
 * It ends at once if success has not fallen from its best and half of the possible gain is reached.
 */
const HOLD_UPDATES = 3;
/** As a share of the base: half is RAGEN’s early sign; RAGEN-2 stops a run after ten updates below a tenth. */
const SPREAD_RATIO = { half: 0.5, quarter: 0.25, gone: 0.1, updates: 10 };
/** Threshold for entropy, as a share of the base. */
const ENTROPY_RATIO = 0.5;
/** Thresholds for the share of prompts whose rollouts all score the same. */
const FLAT_GROUPS = { many: 0.6, most: 0.7, all: 0.9 };
/** Thresholds for the share of a prompt's identical rollouts, and of turns that repeat an earlier one, word for word. */
const REPEATED = { rollouts: 0.6, turns: 0.25 };
/** Threshold for the gradient norm divided by its mean over the last updates. */
const GRADIENT_SPIKE = 5;
/** Success has collapsed if it lost this share of its best value, and at least this share of all tasks. */
const SUCCESS_FALL = { share: 0.5, least: 0.1 };
/** Turns ignore their context if they are matched to it less than this many times as often as by chance. */
const BLIND_RATIO = 3;
/** As a share of the possible gain: with `enough`, a run may have nothing left to compare; with `some`, it is learning. */
const SUCCESS_GAIN = { enough: 0.5, some: 0.2 };
/**
 * A part of the reward dominates if it has this share of what the parts gained, and gained this share of the reward
 * spread, for so many updates in a row: agents that learn often get progress first and success some ten updates later.
 */
const DOMINANCE = { ofGain: 0.75, ofSpread: 0.25, updates: 20 };
/** Success that rose by less has not risen: two standard errors of the share of 640 rollouts that solve their task. */
const SUCCESS_RISE = 0.04;
/** Rollouts have drifted if their mean length is this many times what it was, or 1 / as much. */
const LENGTH_RATIO = 1.5;

/**
 * Call `observe` for every update, in order. Signs are means over the last five updates; the history is kept in `memory`.
 * `leastFall`: success that fell by less hasn't fallen, because it scatters so much.
 */
export function createMonitor(memory: MonitorMemory = noProgress().monitor, leastFall = 0): Monitor {
  const trackOf = (name: keyof MonitorMemory['tracks'], basis?: 'largest') =>
    track((memory.tracks[name] ??= { last: [], from: null }), basis);
  const spread = trackOf('spread', 'largest');
  const entropy = trackOf('entropy');
  const gradient = trackOf('gradient');
  const success = trackOf('success');
  const flat = trackOf('flat');
  const echo = trackOf('echo');
  const repeats = trackOf('repeats');
  const length = trackOf('length');
  const parts = REWARD_PARTS.map((part) => ({ part, paid: trackOf(part) }));
  const signsOfAlikeness = () => [
    fallEvidence(
      'spread',
      'The spread of rewards within a prompt',
      spread,
      SPREAD_RATIO.half,
      `its best ${BASE_UPDATES}`,
    ),
    fallEvidence('entropy', 'Entropy', entropy, ENTROPY_RATIO, `the first ${BASE_UPDATES}`),
    shareEvidence('flat', flat, FLAT_GROUPS.many, 'of the prompts have rollouts that all score the same'),
    shareEvidence('echo', echo, REPEATED.rollouts, 'of a prompt’s rollouts are the same word for word'),
    shareEvidence('echo', repeats, REPEATED.turns, 'of the turns repeat an earlier turn of the same rollout'),
  ];
  return {
    observe(update, values, config) {
      spread.push(values['rollout/in_group_reward_std']);
      // a sum over a rollout would fall as rollouts get shorter
      entropy.push(values[config.aggregation === 'token-mean' ? 'actor/entropy' : 'rollout/entropy']);
      success.push(values['rollout/success']);
      flat.push(values['rollout/zero_std_groups']);
      echo.push(values['rollout/echo_share']);
      repeats.push(values['rollout/repeated_actions']);
      length.push(values['response_length/mean']);
      for (const { part, paid } of parts) paid.push(amountPaid(part, values, config));
      const usualNorm = gradient.recent();
      gradient.push(values['actor/grad_norm']);
      const spreadRatio = spread.ratioToBase();
      const spreadVanished =
        (values['rollout/in_group_reward_std'] ?? Infinity) < SPREAD_RATIO.gone * (spread.base() ?? 0);
      memory.vanished = spreadVanished ? memory.vanished + 1 : 0;

      const accuracy = values['collapse/retrieval_accuracy'];
      const chance = values['collapse/retrieval_chance_level'];
      if (accuracy !== undefined && chance !== undefined) memory.heard = accuracy / chance;

      const gained = gainedShare(success);
      const flatAtLeast = (share: number) => (flat.recent() ?? 0) >= share;
      const spreadAtMost = (share: number) => spreadRatio !== null && spreadRatio <= share;
      const entropyFell = (entropy.ratioToBase() ?? 1) <= ENTROPY_RATIO;
      const nothingToCompare =
        (spreadAtMost(SPREAD_RATIO.half) && flatAtLeast(FLAT_GROUPS.most) && entropyFell) ||
        (spreadAtMost(SPREAD_RATIO.quarter) && flatAtLeast(FLAT_GROUPS.all)) ||
        memory.vanished >= SPREAD_RATIO.updates;
      memory.best = Math.max(memory.best ?? -Infinity, success.lastTen() ?? -Infinity);
      if (memory.best === -Infinity) memory.best = null;
      const lostSuccess = hasLostSuccess(success, memory.best, leastFall);
      const alike = nothingToCompare || flatAtLeast(FLAT_GROUPS.most) || (echo.recent() ?? 0) >= REPEATED.rollouts;
      const trapNow = kindOf({
        collapsed: lostSuccess && alike,
        stuck: gained < SUCCESS_GAIN.enough && nothingToCompare,
        turnContextRatio: memory.heard,
      });
      const trapped = trapNow !== null;
      if (trapNow !== null) memory.kind = trapNow;
      memory.held = trapped ? memory.held + 1 : 0;
      memory.free = trapped ? 0 : memory.free + 1;
      const unmeasured = gained < SUCCESS_GAIN.enough && nothingToCompare && memory.heard === null;
      const isLearning = gained >= SUCCESS_GAIN.some;
      const rise = (success.lastTen() ?? 0) - (success.base() ?? 0);
      const dominance = rise < SUCCESS_RISE ? dominanceEvidence(parts, success, spread.base()) : null;
      memory.dominated = dominance ? (memory.dominated ?? 0) + 1 : 0;
      const isHollow = memory.dominated >= DOMINANCE.updates;
      const evidence = [
        ...signsOfAlikeness().map((sign) => sign && { ...sign, alarming: trapped }),
        spikeEvidence(values['actor/grad_norm'], usualNorm),
        inputEvidence(values),
        isHollow ? dominance : null,
        rise < SUCCESS_RISE ? lengthEvidence(length) : null,
        lostSuccess ? successEvidence(memory.best, success.lastTen()) : null,
        unmeasured ? NOT_MEASURED : null,
      ].filter((each) => each !== null);
      // one batch of different rollouts does not end a trap
      const staysTrapped =
        memory.state === 'trap' && (lostSuccess || gained < SUCCESS_GAIN.enough) && memory.free < HOLD_UPDATES;
      const isWatch = lostSuccess || isHollow || (!isLearning && evidence.length >= 2);
      const nextState: HealthState = memory.held >= HOLD_UPDATES || staysTrapped ? 'trap' : isWatch ? 'watch' : 'ok';
      if (nextState !== memory.state) [memory.state, memory.since] = [nextState, update];
      if (nextState === 'ok') memory.kind = null;
      const { state, since, kind } = memory;
      return { state, since, kind, evidence, remedies: state === 'ok' ? [] : remediesFor(config) };
    },
  };
}

/** Returns the trap that the numbers show. Null if there is none or it cannot be decided. */
function kindOf(signs: { collapsed: boolean; stuck: boolean; turnContextRatio: number | null }): TrapKind | null {
  if (signs.collapsed) return 'collapse';
  return signs.stuck && signs.turnContextRatio !== null && signs.turnContextRatio < BLIND_RATIO ? 'blind' : null;
}

/** Whether success lost half of its best ten updates: ten, because a batch of flat groups has few independent tasks. */
function hasLostSuccess(success: Track, best: number | null, least: number): boolean {
  const recent = success.lastTen();
  return (
    best !== null && recent !== null && best - recent >= Math.max(SUCCESS_FALL.least, least, SUCCESS_FALL.share * best)
  );
}

/** Returns the gain in success: 0 at its start value, 1 at a success of 1. Returns 1 if there is too little data. */
function gainedShare(success: Track): number {
  const [start, now] = [success.base(), success.recent()];
  if (start === null || now === null || start >= 1) return 1;
  return (now - start) / (1 - start);
}

interface Track {
  push(value: number | undefined): void;
  /** Mean of the first ten updates, or of the ten with the largest mean so far; null before update ten. */
  base(): number | null;
  recent(): number | null; // mean of the last five
  lastTen(): number | null; // mean of the last ten
  ratioToBase(): number | null; // mean of the last five / base
}

/** With `largest` the base is the ten updates of largest mean: a run that solves nothing at first has no spread to lose. */
function track(memory: TrackMemory, basis: 'first' | 'largest' = 'first'): Track {
  const { last } = memory;
  const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  const recent = () => (last.length < RECENT_UPDATES ? null : mean(last.slice(-RECENT_UPDATES)));
  return {
    push(value) {
      if (value === undefined || !Number.isFinite(value)) return;
      last.push(value);
      if (last.length > BASE_UPDATES) last.shift();
      if (last.length < BASE_UPDATES) return;
      if (memory.from === null || basis === 'largest') memory.from = Math.max(memory.from ?? -Infinity, mean(last));
    },
    base: () => memory.from,
    recent,
    lastTen: () => (last.length < BASE_UPDATES ? null : mean(last)),
    ratioToBase() {
      const now = recent();
      const { from } = memory;
      return from === null || now === null || from <= 0 ? null : now / from;
    },
  };
}

type Sign = Evidence['sign'];
const percent = (x: number) => `${Math.round(100 * x)} %`;

function fallEvidence(sign: Sign, subject: string, metric: Track, limit: number, when: string): Evidence | null {
  const left = metric.ratioToBase();
  if (left === null || left > limit) return null;
  const text = `${subject} is ${metric.recent()!.toPrecision(2)}, ${percent(left)} of what it was in ${when} updates (${metric.base()!.toPrecision(2)}).`;
  return { sign, text, alarming: false };
}

function shareEvidence(sign: Sign, share: Track, least: number, text: string): Evidence | null {
  const value = share.recent();
  return value === null || value < least ? null : { sign, text: `${percent(value)} ${text}.`, alarming: false };
}

function spikeEvidence(value: number | undefined, usualNorm: number | null): Evidence | null {
  if (value === undefined || usualNorm === null || value < GRADIENT_SPIKE * usualNorm || usualNorm === 0) return null;
  const text = `The gradient norm is ${value.toPrecision(2)}, ${(value / usualNorm).toFixed(1)} times the mean of the ${RECENT_UPDATES} updates before.`;
  return { sign: 'gradient', text, alarming: false };
}

function successEvidence(best: number | null, now: number | null): Evidence {
  const text = `Success is ${percent(now ?? 0)} over the last ${BASE_UPDATES} updates, down from ${percent(best ?? 0)} in its best ${BASE_UPDATES}.`;
  return { sign: 'success', text, alarming: true };
}

/** What a rollout was paid for a part; a preference is centred over the batch, so its score stands in. */
function amountPaid(part: RewardPart, values: Metrics, { preferenceReward }: RunConfig): number | undefined {
  if (part !== 'preference') return values[`reward/${part}`];
  const score = values['reward_model/score'];
  return score === undefined ? undefined : score * preferenceReward;
}

const PART_WORDS: Readonly<Record<RewardPart, string>> = {
  outcome: 'solving the task',
  process: 'calls that make progress',
  information: 'turns that make the right answer likelier',
  call: 'calling a tool',
  format: 'fewer malformed turns',
  think: 'thinking',
  turnCost: 'fewer turns',
  preference: 'what the reward model prefers',
};

/** A part other than the outcome has most of what the reward gained. The caller checks that success has not risen. */
function dominanceEvidence(
  parts: readonly { readonly part: RewardPart; readonly paid: Track }[],
  success: Track,
  spread: number | null,
): Evidence | null {
  const gains = parts.map(({ part, paid }) => ({ part, gain: (paid.lastTen() ?? 0) - (paid.base() ?? 0) }));
  const total = gains.reduce((sum, { gain }) => sum + Math.max(0, gain), 0);
  const { part, gain } = gains.reduce((best, each) => (each.gain > best.gain ? each : best));
  const isMost = gain >= DOMINANCE.ofGain * total && gain >= DOMINANCE.ofSpread * (spread ?? Infinity);
  if (part === 'outcome' || !isMost || gain <= 0) return null;
  const text = `${percent(gain / total)} of what the reward gained comes from ${PART_WORDS[part]} (+${gain.toPrecision(2)}). Success went from ${percent(success.base() ?? 0)} to ${percent(success.lastTen() ?? 0)}.`;
  return { sign: 'reward', text, alarming: false };
}

function lengthEvidence(length: Track): Evidence | null {
  const [before, now] = [length.base(), length.lastTen()];
  if (before === null || now === null || before <= 0) return null;
  const ratio = now / before;
  if (ratio < LENGTH_RATIO && ratio > 1 / LENGTH_RATIO) return null;
  const text = `Rollouts have ${now.toFixed(0)} tokens on average, ${percent(ratio)} of what they had in the first ${BASE_UPDATES} updates (${before.toFixed(0)}).`;
  return { sign: 'length', text, alarming: false };
}

/** Evidence if input dependence is not measured: only it can tell the trap from a run that has learned all it can. */
const NOT_MEASURED: Evidence = {
  sign: 'input',
  text: 'Rollouts no longer differ. Whether turns still depend on what the agent reads has not been measured (see “Measure mutual information every”), so this may be a run that has learned all it can.',
  alarming: false,
};

/** Turns hardly depend on what the agent read if they match their own context little more often than by chance. */
function inputEvidence(values: Metrics): Evidence | null {
  const accuracy = values['collapse/retrieval_accuracy'];
  const chance = values['collapse/retrieval_chance_level'];
  const information = values['collapse/mi_seq_estimate'];
  if (accuracy === undefined || chance === undefined || information === undefined || accuracy > 1.5 * chance)
    return null;
  return {
    sign: 'input',
    text: `What the agent does hardly depends on what it has read: ${percent(accuracy)} of its turns can be told to belong to their context (by chance ${percent(chance)}; ${information.toPrecision(2)} nats).`,
    alarming: false,
  };
}

/** Each can be made while the run continues and differs from the current configuration. */
export function remediesFor(config: RunConfig): Remedy[] {
  const { learningRate, entropyCoef } = config;
  const remedies: Remedy[] = [
    { label: 'Reward entropy', changes: { entropyCoef: Math.min(1, Math.max(0.02, 2 * entropyCoef)) } },
    { label: 'Do not charge for calls', changes: { turnCost: 0 } },
    { label: 'Use each batch once', changes: { epochs: 1 } },
    { label: 'Halve the learning rate', changes: { learningRate: learningRate / 2 } },
    {
      label: 'StarPO-S: learn from the prompts that differ most',
      changes: {
        ...{ filter: 'top-fraction', filterShare: Math.max(0.25, 1 / config.prompts) },
        ...{ clipHigh: 0.28, klCoef: 0, klRewardCoef: 0 },
      },
    },
  ];
  return remedies.filter(({ changes }) => {
    const next = { ...config, ...changes };
    const same = Object.entries(changes).every(([name, value]) => config[name as keyof RunConfig] === value);
    return !same && contradictions(next).length === 0;
  });
}
