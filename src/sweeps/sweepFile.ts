import { isRecord } from '../base/jsonRecord.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { visible } from '../base/visible.ts';
import { type Field, type FieldName, FIELDS, isFieldName, parseField } from '../config/config.ts';
import type { Problem } from '../base/problem.ts';
import { ConfigError } from '../config/configProblem.ts';
import { currentName } from '../config/fields.ts';
import { type PresetName, PRESETS } from '../config/presets.ts';
import type { Take } from '../experiments/experimentDefinition.ts';
import { METRICS, type MetricName } from '../domain/metrics.ts';

/** Values of some knobs. */
export type Knobs = Readonly<Partial<Record<FieldName, string | number>>>;
/** A knob's values for random search: a choice of some, or a range, drawn evenly or evenly in its logarithm. */
export type Range =
  readonly (string | number)[] | { readonly min: number; readonly max: number; readonly log: boolean };

/** A file of a sweep, read: which configurations are run with which seeds, and what they are ordered by. */
export interface Sweep {
  readonly preset: PresetName;
  readonly set: Knobs; // of every configuration
  readonly search:
    | { readonly kind: 'grid'; readonly knobs: ReadonlyMap<FieldName, readonly (string | number)[]> }
    | {
        readonly kind: 'random';
        readonly knobs: ReadonlyMap<FieldName, Range>;
        readonly samples: number;
        readonly seed: number;
      };
  readonly seeds: readonly number[]; // each configuration is run with each
  readonly metric: MetricName;
  readonly take: Take;
  readonly better: 'higher' | 'lower';
}

/** More runs than that are a mistake in the file. */
export const MOST_RUNS = 100_000;
const PARTS = [
  ...(['preset', 'set', 'grid', 'random', 'samples', 'seed', 'seeds', 'updates', 'metric', 'take', 'better'] as const),
];
const TAKES = ['last', 'best', 'mean', 'first'] as const satisfies readonly Take[];
const BETTER = ['higher', 'lower'] as const;

/** Reads a sweep's file. Throws ConfigError with every problem: its place, what was found and expected, what to do. */
export function parseSweep(text: string): Sweep {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? visible(error.message.split('\n', 1)[0] ?? '', 120) : '';
    throw new ConfigError([{ what: `The file isn’t JSON (${why}).`, remedy: 'Compare it with examples/sweep.json.' }]);
  }
  const judge = new Judge();
  const sweep = judge.sweep(value);
  if (judge.problems.length > 0) throw new ConfigError(judge.problems);
  return sweep;
}

/** Reads part by part, and goes on past problems, so that all are told at once. */
class Judge {
  readonly problems: Problem[] = [];

  sweep(value: unknown): Sweep {
    const file = this.#fields('file', value);
    for (const part of Object.keys(file)) {
      if (!PARTS.some((name) => name === part))
        this.#odd(visible(part), 'a part', `some of ${PARTS.join(', ')}`, REMOVE);
    }
    const part = (name: (typeof PARTS)[number]) => (Object.hasOwn(file, name) ? file[name] : undefined);
    const preset = this.#choice('preset', part('preset'), Object.keys(PRESETS) as PresetName[], 'number-hunt');
    const set = this.#knobs('set', part('set') ?? {}, (at, name, each) => this.#knob(at, name, each));
    if (part('updates') !== undefined) {
      if (set.has('updates')) this.#odd('updates', 'two of them', 'one', 'Leave out set.updates.');
      set.set('updates', this.#knob('updates', 'updates', part('updates')));
    }
    const search = this.#search(part);
    for (const name of search.knobs.keys()) {
      if (set.has(name)) this.#odd(`${search.kind}.${name}`, 'a knob that set has too', 'it in one place', REMOVE);
    }
    return {
      ...{ preset, search, set: Object.fromEntries(set) },
      seeds: this.#seeds(part('seeds')),
      metric: this.#metric(part('metric')),
      take: this.#choice('take', part('take'), TAKES, 'last'),
      better: this.#choice('better', part('better'), BETTER, 'higher'),
    };
  }

  #search(part: (name: 'grid' | 'random' | 'samples' | 'seed') => unknown): Sweep['search'] {
    const [grid, chances] = [part('grid'), part('random')];
    if ((grid === undefined) === (chances === undefined)) {
      this.#odd('grid', grid === undefined ? 'neither grid nor random' : 'both grid and random', 'one of them', REMOVE);
    }
    if (chances === undefined) {
      for (const name of ['samples', 'seed'] as const) {
        if (part(name) !== undefined) this.#odd(name, 'it beside a grid', 'it beside random only', REMOVE);
      }
      const knobs = this.#knobs('grid', grid ?? {}, (at, name, each) => this.#list(at, name, each));
      return { kind: 'grid', knobs };
    }
    return {
      ...{ kind: 'random', knobs: this.#knobs('random', chances, (at, name, each) => this.#range(at, name, each)) },
      samples: this.#count('samples', part('samples'), 1, MOST_RUNS),
      seed: this.#count('seed', part('seed') ?? 0, 0, 2 ** 31 - 1),
    };
  }

  #knobs<T>(
    place: string,
    value: unknown,
    read: (at: string, name: FieldName, value: unknown) => T,
  ): Map<FieldName, T> {
    const knobs = new Map<FieldName, T>();
    for (const [named, each] of Object.entries(this.#fields(place, value))) {
      const name = currentName(named);
      const at = `${place}.${visible(named)}`;
      if (!isFieldName(name)) {
        this.#odd(at, 'no knob', `one of ${Object.keys(FIELDS).join(', ')}`, 'docs/knobs.md says what each is.');
      } else if (name === 'seed')
        this.#odd(at, 'the seed', 'it in seeds', 'Write "seeds": [1, 2] for seeds of the runs.');
      else knobs.set(name, read(at, name, each));
    }
    return knobs;
  }

  /** One value of a knob, by the knob's own rules. */
  #knob(at: string, name: FieldName, value: unknown): string | number {
    try {
      const read = parseField(name, value);
      if (name === 'env' && read === YOUR_ENVIRONMENT) {
        this.#odd(at, read, 'an environment without a file', 'Train on your file with npm run train -- --env-file.');
      } else if (name === 'env' && read === 'your-facts') {
        this.#odd(at, read, 'an environment with facts of its own', 'Train on your facts with npm run train.');
      } else return read;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.problems.push(...error.problems.map((problem) => ({ ...problem, place: at })));
    }
    return FIELDS[name].default;
  }

  #list(at: string, name: FieldName, value: unknown): readonly (string | number)[] {
    if (!Array.isArray(value) || value.length === 0) {
      this.#odd(at, gotOf(value), 'a list of values', `Write them in brackets, such as [${FIELDS[name].default}].`);
      return [];
    }
    const values = value.map((each, i) => this.#knob(`${at}[${i}]`, name, each));
    const twice = values.find((each, i) => values.indexOf(each) !== i);
    if (twice !== undefined) this.#odd(at, `${twice} twice`, 'each value once', REMOVE);
    return values;
  }

  #range(at: string, name: FieldName, value: unknown): Range {
    const field: Field = FIELDS[name];
    if (Array.isArray(value) || 'choices' in field) return this.#list(at, name, value);
    const { min, max, log = false, ...rest } = this.#fields(at, value);
    for (const other of Object.keys(rest)) this.#odd(`${at}.${visible(other)}`, 'a part', 'min, max, log', REMOVE);
    if (typeof log !== 'boolean')
      this.#odd(`${at}.log`, gotOf(log), 'true or false', 'true draws evenly over decades.');
    const low = Number(this.#knob(`${at}.min`, name, min));
    const high = Number(this.#knob(`${at}.max`, name, max));
    if (low > high) this.#odd(at, `min ${low} above max ${high}`, 'min at most max', 'Swap them.');
    if (log === true && low <= 0)
      this.#odd(`${at}.min`, String(low), 'a number above 0 with log', 'Raise it, or leave log out.');
    return { min: low, max: high, log: log === true };
  }

  #seeds(value: unknown = [1]): readonly number[] {
    if (!Array.isArray(value) || value.length === 0) {
      this.#odd('seeds', gotOf(value), 'a list of whole numbers', 'Write [1, 2] for two runs of each configuration.');
      return [];
    }
    const seeds = value.map((each, i) => Number(this.#knob(`seeds[${i}]`, 'seed', each)));
    const twice = seeds.find((each, i) => seeds.indexOf(each) !== i);
    if (twice !== undefined) this.#odd('seeds', `${twice} twice`, 'each seed once', REMOVE);
    return seeds;
  }

  /** What a clock says is no result of a configuration, and would differ each time. */
  #metric(value: unknown): MetricName {
    const names = (Object.keys(METRICS) as MetricName[]).filter((name) => !/^(time|engine)\//.test(name));
    return this.#choice('metric', value, names, 'eval/success');
  }

  #choice<T extends string>(at: string, value: unknown, choices: readonly T[], otherwise: T): T {
    if (value === undefined) return otherwise;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) this.#odd(at, gotOf(value), `one of ${choices.join(', ')}`, `Without it: ${otherwise}.`);
    return found ?? otherwise;
  }

  #count(at: string, value: unknown, least: number, most: number): number {
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
    this.#odd(at, gotOf(value), `a whole number from ${least} to ${most}`, 'Random search needs to know how many.');
    return least;
  }

  #fields(at: string, value: unknown): Readonly<Record<string, unknown>> {
    if (isRecord(value)) return value;
    this.#odd(at, gotOf(value), 'an object', 'Compare examples/sweep.json.');
    return {};
  }

  #odd(at: string, got: string, want: string, remedy: string): void {
    this.problems.push({ place: at, got, want, remedy });
  }
}

const REMOVE = 'Take it out.';

function gotOf(value: unknown): string {
  if (value === undefined || value === '') return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return visible(typeof value === 'string' ? value : JSON.stringify(value));
}
