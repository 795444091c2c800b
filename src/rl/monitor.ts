import { type MonitorMemory, noProgress, type TrackMemory } from '../domain/progress.ts';
import type { RunConfig } from '../config/config.ts';
import type { Metrics } from '../domain/metrics.ts';
import type { Evidence, Health, HealthState, TrapKind, Remedy } from '../domain/health.ts';
import { contradictions } from '../config/contradictions.ts';

/**
 * Watches a run for the Echo Trap (RAGEN, arXiv 2504.20073) and for a state that looks like it. Rollouts that have become alike are
 * not a trap by themselves: a run that has learned all it can looks the same. They are a trap if success has fallen from its best
 * (`collapse`), or if turns no longer depend on what the agent reads although success has not yet risen half the way from its first
 * value to 1 (`blind`). `blind` needs RAGEN-2's measure of input dependence. If that is switched off, such a run gets WATCH at most.
 */
export interface Monitor {
  /** The verdict after an update, given its metrics and its configuration. */
  observe(update: number, values: Metrics, config: RunConfig): Health;
}

/** Updates that make the base the signs are compared with (RAGEN-2 takes ten), updates a sign looks back over, and updates it must hold. */
const BASE = 10;
const RECENT = 5;
const HOLD = 3;
/** What is left of the base spread: half is RAGEN’s early sign, a tenth for ten updates is where RAGEN-2 stops a run. */
const SPREAD = { half: 0.5, quarter: 0.25, gone: 0.1, updates: 10 };
/** Entropy that is left of the base. */
const ENTROPY = 0.5;
/** Share of prompts whose rollouts all score the same: many, most, and nearly all. */
const FLAT = { many: 0.6, most: 0.7, all: 0.9 };
/** Share of a prompt's rollouts that are the same word for word; of turns that repeat an earlier one. */
const ECHO = { rollouts: 0.6, turns: 0.25 };
/** Gradient norm over its mean of the last updates. */
const SPIKE = 5;
/** A fall: half of what was won at best is lost again, and at least a tenth of all tasks. */
const FALL = { share: 0.5, least: 0.1 };
/** If turns are matched to their own context less than this many times as often as by chance, they ignore it. */
const BLIND = 3;
/** Share of what there was to win: a run that has won half may have nothing left to compare, one that has won a fifth is learning. */
const WON = { enough: 0.5, some: 0.2 };

/**
 * Keeps the history it needs in `memory`; call `observe` for every update, in order. The signs are computed from means over
 * the last five updates.
 */
export function createMonitor(memory: MonitorMemory = noProgress().monitor): Monitor {
  const { tracks } = memory;
  const spread = track(tracks.spread, 'largest');
  const entropy = track(tracks.entropy);
  const gradient = track(tracks.gradient);
  const success = track(tracks.success);
  const flat = track(tracks.flat);
  const echo = track(tracks.echo);
  const repeats = track(tracks.repeats);
  /** Signs that rollouts have become more alike. */
  const faded = (trapped: boolean) => [
    fallen('spread', 'The spread of rewards within a prompt', spread, SPREAD.half, `its best ${BASE}`, trapped),
    fallen('entropy', 'Entropy', entropy, ENTROPY, `the first ${BASE}`, trapped),
    share('flat', flat.recent(), FLAT.many, 'of the prompts have rollouts that all score the same', trapped),
    share('echo', echo.recent(), ECHO.rollouts, 'of a prompt’s rollouts are the same word for word', trapped),
    share('echo', repeats.recent(), ECHO.turns, 'of the turns repeat an earlier turn of the same rollout', trapped),
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
      const usual = gradient.recent();
      gradient.push(values['actor/grad_norm']);
      const left = spread.left();
      const spreadVanished = (values['rollout/in_group_reward_std'] ?? Infinity) < SPREAD.gone * (spread.base() ?? 0);
      memory.vanished = spreadVanished ? memory.vanished + 1 : 0;

      const accuracy = values['collapse/retrieval_accuracy'];
      const chance = values['collapse/retrieval_chance_level'];
      if (accuracy !== undefined && chance !== undefined) memory.heard = accuracy / chance;

      const won = wonShare(success);
      const same = (share: number) => (flat.recent() ?? 0) >= share;
      const fell = (share: number) => left !== null && left <= share;
      const settled = (entropy.left() ?? 1) <= ENTROPY;
      const nothingToCompare =
        (fell(SPREAD.half) && same(FLAT.most) && settled) ||
        (fell(SPREAD.quarter) && same(FLAT.all)) ||
        memory.vanished >= SPREAD.updates;
      memory.best = Math.max(memory.best ?? -Infinity, success.whole() ?? -Infinity);
      if (memory.best === -Infinity) memory.best = null;
      const lost = lostShare(success, memory.best);
      const alike = nothingToCompare || same(FLAT.most) || (echo.recent() ?? 0) >= ECHO.rollouts;
      const now = kindOf({
        collapsed: lost && alike,
        stuck: won < WON.enough && nothingToCompare,
        heard: memory.heard,
      });
      const trapped = now !== null;
      if (now !== null) memory.kind = now;
      memory.held = trapped ? memory.held + 1 : 0;
      memory.free = trapped ? 0 : memory.free + 1;
      const bare = won < WON.enough && nothingToCompare && memory.heard === null;
      const evidence = [
        ...faded(trapped),
        spike(values['actor/grad_norm'], usual),
        deaf(values),
        lost ? fallenFrom(memory.best, success.whole()) : null,
        bare ? UNHEARD : null,
      ].filter((one) => one !== null);
      // one batch that differs is no way out
      const stays = memory.state === 'trap' && (lost || won < WON.enough) && memory.free < HOLD;
      const watch = lost || (won < WON.some && evidence.length >= 2);
      const next: HealthState = memory.held >= HOLD || stays ? 'trap' : watch ? 'watch' : 'ok';
      if (next !== memory.state) [memory.state, memory.since] = [next, update];
      if (next === 'ok') memory.kind = null;
      const { state, since, kind } = memory;
      return { state, since, kind, evidence, remedies: state === 'ok' ? [] : remediesFor(config) };
    },
  };
}

/** Which trap the numbers show; null: none, or none that can be told. */
function kindOf(signs: { collapsed: boolean; stuck: boolean; heard: number | null }): TrapKind | null {
  if (signs.collapsed) return 'collapse';
  return signs.stuck && signs.heard !== null && signs.heard < BLIND ? 'blind' : null;
}

/** Whether success has lost at least half of its best ten updates: over ten, for a batch of flat groups is few independent tasks. */
function lostShare(success: Track, best: number | null): boolean {
  const now = success.whole();
  return best !== null && now !== null && best - now >= Math.max(FALL.least, FALL.share * best);
}

/** Success now between where it began (0) and always (1); 1 while there is too little to say. */
function wonShare(success: Track): number {
  const [start, now] = [success.base(), success.recent()];
  if (start === null || now === null || start >= 1) return 1;
  return (now - start) / (1 - start);
}

/** A metric's earlier and recent means. */
interface Track {
  push(value: number | undefined): void;
  base(): number | null; // mean of the first ten updates, or of the ten with the largest mean so far; null before update ten
  recent(): number | null; // mean of the last five
  whole(): number | null; // mean of the last ten
  left(): number | null; // recent / base
}

/** `largest` takes as base the ten updates with the largest mean: a run that solves nothing at first has no spread yet that it could lose. */
function track(memory: TrackMemory, basis: 'first' | 'largest' = 'first'): Track {
  const { last } = memory;
  const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  const recent = () => (last.length < RECENT ? null : mean(last.slice(-RECENT)));
  return {
    push(value) {
      if (value === undefined || !Number.isFinite(value)) return;
      last.push(value);
      if (last.length > BASE) last.shift();
      if (last.length < BASE) return;
      if (memory.from === null || basis === 'largest') memory.from = Math.max(memory.from ?? -Infinity, mean(last));
    },
    base: () => memory.from,
    recent,
    whole: () => (last.length < BASE ? null : mean(last)),
    left() {
      const now = recent();
      const { from } = memory;
      return from === null || now === null || from <= 0 ? null : now / from;
    },
  };
}

type Sign = Evidence['sign'];
const percent = (x: number) => `${Math.round(100 * x)} %`;

function fallen(
  sign: Sign,
  subject: string,
  of: Track,
  most: number,
  when: string,
  alarming: boolean,
): Evidence | null {
  const left = of.left();
  if (left === null || left > most) return null;
  const text = `${subject} is ${of.recent()!.toPrecision(2)}, ${percent(left)} of what it was in ${when} updates (${of.base()!.toPrecision(2)}).`;
  return { sign, text, alarming };
}

function share(sign: Sign, value: number | null, least: number, text: string, alarming: boolean): Evidence | null {
  return value === null || value < least ? null : { sign, text: `${percent(value)} ${text}.`, alarming };
}

function spike(value: number | undefined, usual: number | null): Evidence | null {
  if (value === undefined || usual === null || value < SPIKE * usual || usual === 0) return null;
  const text = `The gradient norm is ${value.toPrecision(2)}, ${(value / usual).toFixed(1)} times the mean of the ${RECENT} updates before.`;
  return { sign: 'gradient', text, alarming: false };
}

function fallenFrom(best: number | null, now: number | null): Evidence {
  const text = `Success is ${percent(now ?? 0)} over the last ${BASE} updates, down from ${percent(best ?? 0)} in its best ${BASE}.`;
  return { sign: 'success', text, alarming: true };
}

/** Shown if input dependence is not measured: only that measure tells the trap from a run that has learned all it can. */
const UNHEARD: Evidence = {
  sign: 'input',
  text: 'Rollouts no longer differ. Whether turns still depend on what the agent reads has not been measured (see “Measure mutual information every”), so this may be a run that has learned all it can.',
  alarming: false,
};

/** The sign that turns hardly depend on what was read: they are matched to their own context little more often than by chance. */
function deaf(values: Metrics): Evidence | null {
  const accuracy = values['collapse/retrieval_accuracy'];
  const chance = values['collapse/retrieval_chance_level'];
  const information = values['collapse/mi_estimate'];
  if (accuracy === undefined || chance === undefined || information === undefined || accuracy > 1.5 * chance)
    return null;
  return {
    sign: 'input',
    text: `What the agent does hardly depends on what it has read: ${percent(accuracy)} of its turns can be told to belong to their context (by chance ${percent(chance)}; ${information.toPrecision(2)} nats).`,
    alarming: false,
  };
}

/** What may lead out of an Echo Trap: changes that can be made while the run goes on, and that would change something. */
export function remediesFor(config: RunConfig): Remedy[] {
  const { learningRate, entropyCoef } = config;
  const remedies: Remedy[] = [
    {
      label: 'Reward entropy',
      changes: { entropyCoef: Math.min(1, Math.max(0.02, 2 * entropyCoef)) },
    },
    { label: 'Do not charge for calls', changes: { turnCost: 0 } },
    { label: 'Use each batch once', changes: { epochs: 1 } },
    { label: 'Halve the learning rate', changes: { learningRate: learningRate / 2 } },
    {
      label: 'StarPO-S: learn from the prompts that differ most',
      changes: {
        filter: 'top-fraction',
        filterShare: Math.max(0.25, 1 / config.prompts),
        clipHigh: 0.28,
        klCoef: 0,
        klRewardCoef: 0,
      },
    },
  ];
  return remedies.filter(({ changes }) => {
    const next = { ...config, ...changes };
    const same = Object.entries(changes).every(([name, value]) => config[name as keyof RunConfig] === value);
    return !same && contradictions(next).length === 0;
  });
}
