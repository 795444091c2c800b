import type { RunConfig } from '../config/config.ts';
import type { MetricName } from '../domain/metrics.ts';
import type { BackendInfo } from '../domain/backendInfo.ts';
import type { HealthState } from '../domain/health.ts';
import type { RunEvent } from '../wire/events.ts';
import type { Measure } from './experiment.ts';

/** Of the form below; a file or a store of another version is not read. */
export const RESULT_VERSION = 1;

/** What a finished run leaves behind. */
export interface RunResult {
  readonly version: typeof RESULT_VERSION;
  readonly experiment: string;
  readonly arm: string;
  readonly seed: number;
  readonly config: Partial<RunConfig>; // complete when it was written; knobs may have come since
  readonly backend: string;
  readonly metrics: Readonly<Partial<Record<MetricName, Readonly<Record<Measure['take'], number>>>>>;
  readonly curve: readonly number[]; // success of the training rollouts, by update
  readonly heldOut: readonly (readonly [update: number, success: number])[];
  readonly health: readonly (readonly [update: number, state: HealthState])[]; // where it changed
  readonly skipped: number; // optimizer steps that would not have been finite
  readonly seconds: number;
}

/** Which run it is, and its knobs. */
export interface RunIdentity {
  readonly experiment: string;
  readonly arm: string;
  readonly seed: number;
  readonly config: RunConfig;
}

/** Collects a run from its events. */
export interface Recorder {
  readonly take: (event: RunEvent) => void;
  readonly update: () => number;
  readonly success: () => number | undefined; // held-out, the latest
  /** The result, once the run is finished; null before. */
  readonly result: (seconds: number) => RunResult | null;
  /** Why it cannot go on; null while it can. */
  readonly failure: () => string | null;
}

interface Tally {
  readonly first: number;
  last: number;
  best: number;
  sum: number;
  count: number;
}

/** What a run computed on, with its kernels: others round otherwise. */
function named({ kind, adapter, kernels }: BackendInfo): string {
  return `${kind}: ${adapter}${kernels ? `, ${kernels.choice}` : ''}`;
}

/** Listens to one run. */
export function recorder(run: RunIdentity): Recorder {
  const tallies = new Map<string, Tally>();
  const curve: number[] = [];
  const heldOut: [number, number][] = [];
  const health: [number, HealthState][] = [];
  let backend = '';
  let update = 0;
  let skipped = 0;
  let finished = false;
  let failure: string | null = null;
  const add = (name: string, value: number) => {
    if (!Number.isFinite(value) || /^(time|engine)\//.test(name)) return;
    const tally = tallies.get(name);
    if (!tally) tallies.set(name, { first: value, last: value, best: value, sum: value, count: 1 });
    else {
      tally.last = value;
      tally.best = Math.max(tally.best, value);
      tally.sum += value;
      tally.count++;
    }
  };
  return {
    take: (event) => {
      if (event.type === 'ready') backend = named(event.backend);
      else if (event.type === 'metrics') {
        update = event.update;
        for (const [name, value] of Object.entries(event.values)) add(name, value);
        const { 'rollout/success': success, 'eval/success': held } = event.values;
        if (success !== undefined) curve.push(rounded(success));
        if (held !== undefined) heldOut.push([update, rounded(held)]);
      } else if (event.type === 'health') {
        if (health.at(-1)?.[1] !== event.health.state) health.push([event.update, event.health.state]);
      } else if (event.type === 'error') {
        if (event.fatal) failure = `${event.message} ${event.hint}`;
        else skipped++;
      } else if (event.type === 'running') finished = event.finished;
    },
    update: () => update,
    success: () => heldOut.at(-1)?.[1],
    failure: () => failure,
    result: (seconds) =>
      finished && failure === null
        ? {
            version: RESULT_VERSION,
            experiment: run.experiment,
            arm: run.arm,
            seed: run.seed,
            config: run.config,
            backend,
            metrics: Object.fromEntries(Array.from(tallies, ([name, tally]) => [name, takes(tally)])),
            curve,
            heldOut,
            health,
            skipped,
            seconds: rounded(seconds),
          }
        : null,
  };
}

function takes({ first, last, best, sum, count }: Tally): Record<Measure['take'], number> {
  return { first: rounded(first), last: rounded(last), best: rounded(best), mean: rounded(sum / count) };
}

/** Six digits are more than any table shows and half of what JSON would write. */
function rounded(x: number): number {
  return Number(x.toPrecision(6));
}

/** The results of a file that holds one a line, and the numbers of the lines that are none. */
export function parseResults(text: string): {
  readonly results: readonly RunResult[];
  readonly bad: readonly number[];
} {
  const results: RunResult[] = [];
  const bad: number[] = [];
  for (const [i, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const result = resultOf(line);
    if (result) results.push(result);
    else bad.push(i + 1);
  }
  return { results, bad };
}

function resultOf(line: string): RunResult | null {
  try {
    return parseResult(JSON.parse(line));
  } catch {
    return null;
  }
}

/** A result read from text that anybody may have touched; null when it is not one. */
export function parseResult(value: unknown): RunResult | null {
  if (typeof value !== 'object' || value === null) return null;
  const r = value as Partial<Record<keyof RunResult, unknown>>;
  const isObject = (x: unknown) => typeof x === 'object' && x !== null && !Array.isArray(x);
  const fits =
    r.version === RESULT_VERSION &&
    [r.experiment, r.arm, r.backend].every((x) => typeof x === 'string') &&
    [r.seed, r.skipped, r.seconds].every((x) => Number.isFinite(x)) &&
    [r.config, r.metrics].every(isObject) &&
    isNumbers(r.curve) &&
    [r.heldOut, r.health].every((x) => Array.isArray(x) && x.every((pair) => Array.isArray(pair) && pair.length === 2));
  return fits ? (value as RunResult) : null;
}

function isNumbers(x: unknown): boolean {
  return Array.isArray(x) && x.every((value) => Number.isFinite(value));
}
