import type { RunConfig } from '../config.ts';
import type { Metrics } from '../metrics.ts';
import type { Evidence, Health, HealthState } from '../protocol.ts';
import { remediesFor } from './remedies.ts';

/** Watches a run for the Echo Trap. */
export interface Monitor {
  /** What is to be said after an update, given its numbers and the configuration it ran under. */
  observe(update: number, values: Metrics, config: RunConfig): Health;
}

/** Updates that make the base the signs are compared with, and updates a verdict looks back over. */
const WINDOW = 10;
/** Spread that is left of the base: RAGEN-2 stops a run below a tenth for ten updates; half is the early sign (RAGEN). */
const SPREAD = { watch: 0.5, alarm: 0.1 };
/** Entropy that is left of the base. */
const ENTROPY = { watch: 0.5, alarm: 0.25 };
/** Share of prompts whose rollouts all score the same. */
const FLAT = { watch: 0.6, alarm: 0.8 };
/** Share of a prompt's rollouts that are the same word for word. */
const ECHO = { watch: 0.5, alarm: 0.8 };
/** Gradient norm over its running mean. */
const SPIKE = 5;
/** A run that has won this much of what there was to win may have nothing left to compare. */
const WON = 0.5;

/** Keeps the history it needs; feed it every update in order. */
export function createMonitor(): Monitor {
  const spread = track();
  const entropy = track();
  const gradient = track();
  const success = track();
  let state: HealthState = 'ok';
  let since = 0;
  return {
    observe(update, values, config) {
      spread.push(values['rollout/in_group_reward_std']);
      entropy.push(values['actor/entropy']);
      success.push(values['rollout/success']);
      const mean = gradient.recent();
      gradient.push(values['actor/grad_norm']);
      const evidence = [
        fall('spread', 'The rewards of one prompt’s rollouts differ', spread, SPREAD),
        fall('entropy', 'Entropy is', entropy, ENTROPY),
        share('flat', values['rollout/zero_std_groups'], FLAT, 'of the prompts have rollouts that all score the same'),
        share('echo', values['rollout/echo_share'], ECHO, 'of a prompt’s rollouts are the same word for word'),
        spike(values['actor/grad_norm'], mean),
        deaf(values),
      ].filter((one) => one !== null);
      const next = judge(evidence, success);
      if (next !== state) [state, since] = [next, update];
      return { state, since, evidence, remedies: state === 'ok' ? [] : remediesFor(config) };
    },
  };
}

/** The last few numbers of one metric and the mean of its first ones. */
interface Track {
  push(value: number | undefined): void;
  base(): number | null; // null until the window is full
  recent(): number | null;
}

function track(): Track {
  const first: number[] = [];
  const last: number[] = [];
  const mean = (list: readonly number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  return {
    push(value) {
      if (value === undefined || !Number.isFinite(value)) return;
      if (first.length < WINDOW) first.push(value);
      last.push(value);
      if (last.length > WINDOW) last.shift();
    },
    base: () => (first.length < WINDOW ? null : mean(first)),
    recent: () => (last.length < WINDOW ? null : mean(last)),
  };
}

type Sign = Evidence['sign'];
interface Levels {
  readonly watch: number;
  readonly alarm: number;
}

const percent = (x: number) => `${Math.round(100 * x)} %`;

/** What is left of a number that began higher. */
function fall(sign: Sign, subject: string, of: Track, levels: Levels): Evidence | null {
  const [base, recent] = [of.base(), of.recent()];
  if (base === null || recent === null || base <= 0 || recent >= levels.watch * base) return null;
  return {
    sign,
    text: `${subject} ${recent.toPrecision(2)} on average over ${WINDOW} updates, ${percent(recent / base)} of the ${base.toPrecision(2)} of the first ${WINDOW}.`,
    alarming: recent < levels.alarm * base,
  };
}

function share(sign: Sign, value: number | undefined, levels: Levels, text: string): Evidence | null {
  if (value === undefined || value < levels.watch) return null;
  return { sign, text: `${percent(value)} ${text}.`, alarming: value >= levels.alarm };
}

function spike(value: number | undefined, mean: number | null): Evidence | null {
  if (value === undefined || mean === null || value < SPIKE * mean) return null;
  const text = `The gradient norm is ${value.toPrecision(2)}, ${(value / mean).toFixed(1)} times the mean of the last ${WINDOW} updates.`;
  return { sign: 'gradient', text, alarming: false };
}

/** Turns that would have been as likely after anything else that was read. */
function deaf(values: Metrics): Evidence | null {
  const accuracy = values['collapse/retrieval_accuracy'];
  const chance = values['collapse/retrieval_chance_level'];
  const information = values['collapse/mi_estimate'];
  if (accuracy === undefined || chance === undefined || information === undefined || accuracy > 1.5 * chance)
    return null;
  return {
    sign: 'input',
    text: `What the agent does hardly depends on what it has read: ${percent(accuracy)} of its turns can be told to belong to their context (chance ${percent(chance)}; ${information.toPrecision(2)} nats).`,
    alarming: false,
  };
}

function judge(evidence: readonly Evidence[], success: Track): HealthState {
  const [start, now] = [success.base(), success.recent()];
  if (start === null || now === null) return 'ok';
  const won = start < 1 ? (now - start) / (1 - start) : 1;
  if (won >= WON) return 'ok';
  const alarms = evidence.filter(({ alarming }) => alarming).length;
  if (alarms >= 2) return 'trap';
  return evidence.length >= 2 ? 'watch' : 'ok';
}
