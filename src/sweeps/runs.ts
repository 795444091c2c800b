import { Purpose, streamKey, uniform } from '../base/rng.ts';
import { type Field, type FieldName, FIELDS, parseConfig, type RunConfig } from '../config/config.ts';
import { ConfigError } from '../config/configProblem.ts';
import { type Problem, problemText } from '../base/problem.ts';
import { PRESETS } from '../config/presets.ts';
import { type RunIdentity, runKey } from '../experiments/runIdentity.ts';
import { type Knobs, MAX_RUNS, type Range, type Sweep } from './sweepFile.ts';

export interface Configuration {
  readonly knobs: Knobs;
  readonly label: string;
}
/** One run of a sweep: a configuration with a seed. `key` is the name of its result file. */
export interface SweepRun extends RunIdentity {
  readonly key: string;
}

const DRAWN_DIGITS = 4; // significant digits of a randomly drawn value: enough for a search, short enough to read
const MAX_REPORTED = 8; // impossible configurations in an error message

/** Ordered as the grid (its last knob varies fastest) or the draws. Repeated draws count once. */
export function configurationsOf({ search }: Sweep): readonly Configuration[] {
  const all = search.kind === 'grid' ? gridOf([...search.knobs]) : randomDraws(search);
  return [...new Map(all.map((knobs) => [labelOf(knobs), { knobs, label: labelOf(knobs) }])).values()];
}

/** Goes seed by seed, so that early results include every configuration. Throws ConfigError on an impossible one or too many runs. */
export function sweepRuns(sweep: Sweep): readonly SweepRun[] {
  const plannedCount = countPlanned(sweep);
  if (plannedCount > MAX_RUNS) {
    throw new ConfigError([
      {
        what: `The file plans ${plannedCount} runs, and the limit is ${MAX_RUNS}.`,
        remedy: 'Search fewer values or draw samples.',
      },
    ]);
  }
  const problems: Problem[] = [];
  const configs = configurationsOf(sweep).flatMap(({ knobs, label }) => {
    try {
      const { set } = PRESETS[sweep.preset];
      // results of the CPU do not depend on an adapter, so they can be compared between machines
      return [{ label, config: parseConfig({ ...set, backend: 'cpu', ...sweep.set, ...knobs }) }];
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const { remedy, ...problem } of error.problems) {
        // the label may be long, and a place would be cut
        problems.push({ what: `${label}: ${problemText(problem)}`, remedy });
      }
      return [];
    }
  });
  const [reported, unreportedCount] = [problems.slice(0, MAX_REPORTED), problems.length - MAX_REPORTED];
  if (reported.length > 0)
    throw new ConfigError(
      unreportedCount > 0 ? [...reported, { what: `and ${unreportedCount} more such problems.` }] : reported,
    );
  return sweep.seeds.flatMap((seed) => configs.map(({ label, config }) => sweepRun(label, { ...config, seed })));
}

/** The number of planned runs, computed without making them. Repeated draws count every time. */
function countPlanned({ search, seeds }: Sweep): number {
  const configurations =
    search.kind === 'random' ? search.samples : [...search.knobs.values()].reduce((n, values) => n * values.length, 1);
  return configurations * seeds.length;
}

function sweepRun(arm: string, config: RunConfig): SweepRun {
  const run = { experiment: 'sweep', arm, seed: config.seed, config };
  return { ...run, key: runKey(run) };
}

/** The runs of shard `i` of `n` (i from 1). Each run is in exactly one shard. */
export function shardOf<T>(runs: readonly T[], { i, n }: { readonly i: number; readonly n: number }): readonly T[] {
  return runs.filter((_, index) => index % n === i - 1);
}

function labelOf(knobs: Knobs): string {
  const assignments = Object.entries(knobs).map(([name, value]) => `${name}=${value}`);
  return assignments.length > 0 ? assignments.join(' ') : 'as set';
}

function gridOf([first, ...rest]: readonly (readonly [FieldName, readonly (string | number)[]])[]): readonly Knobs[] {
  if (!first) return [{}];
  const [name, values] = first;
  const others = gridOf(rest);
  return values.flatMap((value) => others.map((knobs) => ({ [name]: value, ...knobs })));
}

function randomDraws({ knobs, samples, seed }: Extract<Sweep['search'], { kind: 'random' }>): readonly Knobs[] {
  const key = streamKey(seed, Purpose.sweep);
  const ranges = [...knobs].sort(([a], [b]) => (a < b ? -1 : 1)); // the order in the file must not change the draws
  return Array.from({ length: samples }, (_, sample) =>
    Object.fromEntries(ranges.map(([name, range], at) => [name, drawValue(name, range, uniform(key, sample, at, 0))])),
  );
}

/** The value of a knob that lies at the fraction `share`, in [0, 1), of its range. */
function drawValue(name: FieldName, range: Range, share: number): string | number {
  if (!('min' in range)) return range[Math.floor(share * range.length)] ?? '';
  const field: Field = FIELDS[name];
  const whole = 'integer' in field && field.integer;
  const { min, max, log } = range;
  const [from, to] = whole ? [min, max + 1] : [min, max]; // so that `max` is drawn as often as other whole numbers
  const value = log ? from * (to / from) ** share : from + share * (to - from);
  const rounded = whole ? Math.floor(value) : Number(value.toPrecision(DRAWN_DIGITS));
  return Math.min(max, Math.max(min, rounded));
}
