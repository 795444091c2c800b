import { isRecord } from '../base/jsonRecord.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { visible } from '../base/visible.ts';
import { Purpose, streamKey, uniform } from '../base/rng.ts';
import { type Field, type FieldName, FIELDS, isFieldName, parseField, type RunConfig } from '../config/config.ts';
import type { Problem } from '../base/problem.ts';
import { ConfigError } from '../config/configProblem.ts';
import { currentName } from '../config/fields.ts';
import { type PresetName, PRESETS } from '../config/presets.ts';
import type { RunArm, Search, Take } from './experimentDefinition.ts';
import { limitRuns, type Plan } from './experimentPlan.ts';
import { METRICS, type MetricName } from '../domain/metrics.ts';

type Value = string | number;
/** The values of a knob in random search: a list of choices, or a range. `log` draws the logarithm uniformly. */
type Range = readonly Value[] | { readonly min: number; readonly max: number; readonly log: boolean };
type Grid = ReadonlyMap<FieldName, readonly Value[]>;
interface Draws {
  readonly knobs: ReadonlyMap<FieldName, Range>;
  readonly samples: number;
  readonly seed: number;
}

const MAX_SAMPLES = 100_000;
const DRAWN_DIGITS = 4; // significant digits of a randomly drawn value: enough for a search, short enough to read
const FILE_KEYS = [
  ...(['preset', 'set', 'grid', 'random', 'samples', 'seed', 'seeds', 'updates', 'metric', 'take', 'better'] as const),
];
const TAKES = ['last', 'best', 'mean', 'first'] as const satisfies readonly Take[];
const DIRECTIONS = ['higher', 'lower'] as const;

/** Reads a sweep file. Throws ConfigError with every problem (its place, what was found and expected, what to do), or on too many runs. */
export function parseSweep(text: string): Plan {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const parserMessage = error instanceof Error ? visible(error.message.split('\n', 1)[0] ?? '', 120) : '';
    throw new ConfigError([
      { what: `The file isn’t JSON (${parserMessage}).`, remedy: 'Compare it with examples/sweep.json.' },
    ]);
  }
  const reader = new SweepReader();
  const { preset, set, grid, random, seeds, metric, take, better } = reader.sweep(value);
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  const size = random ? random.samples : [...grid.values()].reduce((n, values) => n * values.length, 1);
  limitRuns(size * seeds.length); // before they are made
  const arms = (random ? randomDraws(random) : combinations([...grid])).map(armOf);
  return {
    ...{ name: 'sweep', arms: [], seeds, set: {} },
    experiment: {
      ...{ label: PRESETS[preset].label, question: `${metric}, ${take}, ${better} is better`, doc: '' },
      // results of the CPU do not depend on an adapter, so they can be compared between machines
      shared: { ...PRESETS[preset].set, backend: 'cpu', ...set },
      arms: [...new Map(arms.map((arm) => [arm.key, arm])).values()], // repeated draws count once
      columns: [{ key: metric, label: metric, measure: { metric, take } }],
      headline: metric,
      search: { preset, set, better, knobs: [...(random?.knobs ?? grid).keys()] },
      ...{ defaultSeeds: seeds.length, secondsPerUpdate: 0 },
    },
  };
}

function armOf(knobs: Readonly<Record<string, Value>>): RunArm {
  const assignments = Object.entries(knobs).map(([name, value]) => `${name}=${value}`);
  const label = assignments.length > 0 ? assignments.join(' ') : 'as set';
  return { key: label, label, set: knobs };
}

/** All combinations. The last knob varies fastest. */
function combinations([first, ...rest]: readonly (readonly [FieldName, readonly Value[]])[]): readonly Record<
  string,
  Value
>[] {
  if (!first) return [{}];
  const [name, values] = first;
  const others = combinations(rest);
  return values.flatMap((value) => others.map((knobs) => ({ [name]: value, ...knobs })));
}

function randomDraws({ knobs, samples, seed }: Draws): readonly Record<string, Value>[] {
  const key = streamKey(seed, Purpose.sweep);
  const ranges = [...knobs].sort(([a], [b]) => (a < b ? -1 : 1)); // the order in the file must not change the draws
  return Array.from({ length: samples }, (_, sample) =>
    Object.fromEntries(ranges.map(([name, range], at) => [name, drawValue(name, range, uniform(key, sample, at, 0))])),
  );
}

/** The value of a knob that lies at the fraction `share`, in [0, 1), of its range. */
function drawValue(name: FieldName, range: Range, share: number): Value {
  if (!('min' in range)) return range[Math.floor(share * range.length)] ?? '';
  const field: Field = FIELDS[name];
  const whole = 'integer' in field && field.integer;
  const { min, max, log } = range;
  const [from, to] = whole ? [min, max + 1] : [min, max]; // so that `max` is drawn as often as other whole numbers
  const value = log ? from * (to / from) ** share : from + share * (to - from);
  const rounded = whole ? Math.floor(value) : Number(value.toPrecision(DRAWN_DIGITS));
  return Math.min(max, Math.max(min, rounded));
}

interface SweepFile extends Pick<Search, 'preset' | 'set' | 'better'> {
  readonly grid: Grid;
  readonly random: Draws | null; // in place of the grid
  readonly seeds: readonly number[]; // each configuration is run with each seed
  readonly metric: MetricName;
  readonly take: Take;
}

/** Reads a sweep key by key. Continues after a problem, so that all problems are reported at once. */
class SweepReader {
  readonly problems: Problem[] = [];

  sweep(value: unknown): SweepFile {
    const file = this.#fields('file', value);
    for (const key of Object.keys(file)) {
      if (!FILE_KEYS.some((name) => name === key))
        this.#report(visible(key), 'an unknown key', `one of ${FILE_KEYS.join(', ')}`, REMOVE_IT);
    }
    const entry = (name: (typeof FILE_KEYS)[number]) => (Object.hasOwn(file, name) ? file[name] : undefined);
    const preset = this.#choice('preset', entry('preset'), Object.keys(PRESETS) as PresetName[], 'number-hunt');
    const set = this.#knobs('set', entry('set') ?? {}, (at, name, each) => this.#knob(at, name, each));
    if (entry('updates') !== undefined) {
      if (set.has('updates')) this.#report('updates', 'it also in set', 'it in one place', 'Leave out set.updates.');
      set.set('updates', this.#knob('updates', 'updates', entry('updates')));
    }
    const { grid, random } = this.#search(entry);
    for (const name of (random?.knobs ?? grid).keys()) {
      const at = `${random ? 'random' : 'grid'}.${name}`;
      if (set.has(name)) this.#report(at, 'a knob that is also in set', 'it in one place', REMOVE_IT);
    }
    return {
      ...{ preset, grid, random, set: Object.fromEntries(set) as Partial<RunConfig> },
      seeds: this.#seeds(entry('seeds')),
      metric: this.#metric(entry('metric')),
      take: this.#choice('take', entry('take'), TAKES, 'last'),
      better: this.#choice('better', entry('better'), DIRECTIONS, 'higher'),
    };
  }

  #search(entry: (name: 'grid' | 'random' | 'samples' | 'seed') => unknown): Pick<SweepFile, 'grid' | 'random'> {
    const [grid, random] = [entry('grid'), entry('random')];
    if ((grid === undefined) === (random === undefined)) {
      this.#report(
        'grid',
        grid === undefined ? 'neither grid nor random' : 'both grid and random',
        'one of them',
        REMOVE_IT,
      );
    }
    if (random === undefined) {
      for (const name of ['samples', 'seed'] as const) {
        if (entry(name) !== undefined)
          this.#report(name, 'it in a grid search', 'it only in a random search', REMOVE_IT);
      }
      return { grid: this.#knobs('grid', grid ?? {}, (at, name, each) => this.#list(at, name, each)), random: null };
    }
    const draws = {
      knobs: this.#knobs('random', random, (at, name, each) => this.#range(at, name, each)),
      samples: this.#count('samples', entry('samples'), 1, MAX_SAMPLES),
      seed: this.#count('seed', entry('seed') ?? 0, 0, 2 ** 31 - 1),
    };
    return { grid: new Map(), random: draws };
  }

  #knobs<T>(
    place: string,
    value: unknown,
    read: (at: string, name: FieldName, value: unknown) => T,
  ): Map<FieldName, T> {
    const knobs = new Map<FieldName, T>();
    for (const [writtenName, each] of Object.entries(this.#fields(place, value))) {
      const name = currentName(writtenName);
      const at = `${place}.${visible(writtenName)}`;
      if (!isFieldName(name)) {
        this.#report(
          at,
          'an unknown knob',
          `one of ${Object.keys(FIELDS).join(', ')}`,
          'docs/knobs.md says what each is.',
        );
      } else if (name === 'seed')
        this.#report(at, 'the seed', 'it in seeds', 'Write "seeds": [1, 2] for seeds of the runs.');
      else knobs.set(name, read(at, name, each));
    }
    return knobs;
  }

  /** Reads one value of a knob, by the knob's own rules. */
  #knob(at: string, name: FieldName, value: unknown): Value {
    try {
      const read = parseField(name, value);
      if (name === 'env' && read === YOUR_ENVIRONMENT) {
        this.#report(
          at,
          read,
          'an environment that needs no file',
          'Train on your file with npm run train -- --env-file.',
        );
      } else if (name === 'env' && read === 'your-facts') {
        this.#report(at, read, 'an environment that needs no facts file', 'Train on your facts with npm run train.');
      } else return read;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.problems.push(...error.problems.map((problem) => ({ ...problem, place: at })));
    }
    return FIELDS[name].default;
  }

  #list(at: string, name: FieldName, value: unknown): readonly Value[] {
    if (!Array.isArray(value) || value.length === 0) {
      this.#report(
        at,
        foundText(value),
        'a list of values',
        `Write them in brackets, such as [${FIELDS[name].default}].`,
      );
      return [];
    }
    const values = value.map((each, i) => this.#knob(`${at}[${i}]`, name, each));
    const duplicate = values.find((each, i) => values.indexOf(each) !== i);
    if (duplicate !== undefined) this.#report(at, `${duplicate} twice`, 'each value once', REMOVE_IT);
    return values;
  }

  #range(at: string, name: FieldName, value: unknown): Range {
    const field: Field = FIELDS[name];
    if (Array.isArray(value) || 'choices' in field) return this.#list(at, name, value);
    const { min, max, log = false, ...rest } = this.#fields(at, value);
    for (const other of Object.keys(rest))
      this.#report(`${at}.${visible(other)}`, 'an unknown key', 'min, max or log', REMOVE_IT);
    if (typeof log !== 'boolean')
      this.#report(`${at}.log`, foundText(log), 'true or false', 'true draws evenly over decades.');
    const low = Number(this.#knob(`${at}.min`, name, min));
    const high = Number(this.#knob(`${at}.max`, name, max));
    if (low > high) this.#report(at, `min ${low} above max ${high}`, 'min at most max', 'Swap them.');
    if (log === true && low <= 0)
      this.#report(`${at}.min`, String(low), 'a number above 0 with log', 'Raise it, or leave log out.');
    return { min: low, max: high, log: log === true };
  }

  #seeds(value: unknown = [1]): readonly number[] {
    if (!Array.isArray(value) || value.length === 0) {
      this.#report(
        'seeds',
        foundText(value),
        'a list of whole numbers',
        'Write [1, 2] for two runs of each configuration.',
      );
      return [];
    }
    const seeds = value.map((each, i) => Number(this.#knob(`seeds[${i}]`, 'seed', each)));
    const duplicate = seeds.find((each, i) => seeds.indexOf(each) !== i);
    if (duplicate !== undefined) this.#report('seeds', `${duplicate} twice`, 'each seed once', REMOVE_IT);
    return seeds;
  }

  /** Reads the metric. Times and speeds are excluded: they depend on the machine and differ each time. */
  #metric(value: unknown): MetricName {
    const names = (Object.keys(METRICS) as MetricName[]).filter((name) => !/^(time|engine)\//.test(name));
    return this.#choice('metric', value, names, 'eval/success');
  }

  #choice<T extends string>(at: string, value: unknown, choices: readonly T[], fallback: T): T {
    if (value === undefined) return fallback;
    const match = choices.find((choice) => choice === value);
    if (match === undefined)
      this.#report(at, foundText(value), `one of ${choices.join(', ')}`, `Without it: ${fallback}.`);
    return match ?? fallback;
  }

  #count(at: string, value: unknown, smallest: number, largest: number): number {
    if (typeof value === 'number' && Number.isInteger(value) && value >= smallest && value <= largest) return value;
    this.#report(
      at,
      foundText(value),
      `a whole number from ${smallest} to ${largest}`,
      'Random search needs this number.',
    );
    return smallest;
  }

  #fields(at: string, value: unknown): Readonly<Record<string, unknown>> {
    if (isRecord(value)) return value;
    this.#report(at, foundText(value), 'an object', 'Compare examples/sweep.json.');
    return {};
  }

  #report(at: string, got: string, want: string, remedy: string): void {
    this.problems.push({ place: at, got, want, remedy });
  }
}

const REMOVE_IT = 'Take it out.';

function foundText(value: unknown): string {
  if (value === undefined || value === '') return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return visible(typeof value === 'string' ? value : JSON.stringify(value));
}
