import { isRecord } from '../base/jsonRecord.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import { firstHiddenCode, visible } from '../base/visible.ts';
import { Purpose, streamKey, uniform } from '../base/rng.ts';
import { type Field, type FieldName, FIELDS, isFieldName, parseField, type RunConfig } from '../config/config.ts';
import type { Problem } from '../base/problem.ts';
import { ConfigError } from '../config/configProblem.ts';
import { currentName } from '../config/fields.ts';
import { type PresetName, PRESETS } from '../config/presets.ts';
import {
  type Arm,
  type Column,
  headlineColumn,
  isRunArm,
  type Measure,
  type RunArm,
  type Search,
  type Take,
  PLAIN_MEASURES,
} from './experimentDefinition.ts';
import { chosenArms, limitRuns, MAX_RUNS, type Plan } from './experimentPlan.ts';
import { METRICS, type MetricName } from '../domain/metrics.ts';

type Value = string | number;
type FileFields = Readonly<Record<string, unknown>>; // of an object in the file, not checked yet
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
  ...(['label', 'question', 'doc', 'preset', 'set', 'arms', 'grid', 'random', 'samples', 'seed', 'seeds'] as const),
  ...(['updates', 'columns', 'metric', 'take', 'better'] as const),
];
const ARM_KEYS = ['key', 'label', 'group', 'set', 'comparedWith', 'borrowedFrom', 'cells'];
const COLUMN_KEYS = ['key', 'label', 'metric', 'take', 'digits', 'emptyText'];
const NO_PRESET = 'none'; // in a file: all knobs begin at their defaults
const MAX_LABEL = 120; // characters, also of a key
const MAX_TEXT = 2000; // characters
const MAX_DIGITS = 10;
const SECONDS_PER_UPDATE = 0.3; // a guess, as for the listed experiments
const TAKES = ['last', 'best', 'mean', 'first'] as const satisfies readonly Take[];
const DIRECTIONS = ['higher', 'lower'] as const;

/**
 * Reads the file of an experiment: its arms one by one, or a search (`grid` or `random`). Throws ConfigError with every
 * problem (its place, what was found and expected, what to do), or on more than `mostRuns` runs.
 */
export function parseSweep(text: string, { name = 'sweep', mostRuns = MAX_RUNS } = {}): Plan {
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
  const { label, question, doc, preset, set, grid, random, arms, columns, seeds, metric, take, better } = reader.sweep(value); // prettier-ignore
  if (reader.problems.length > 0) throw new ConfigError(reader.problems);
  const size = arms?.length ?? random?.samples ?? [...grid.values()].reduce((n, values) => n * values.length, 1);
  limitRuns(size * seeds.length, mostRuns); // before they are made
  const searched = arms ? [] : (random ? randomDraws(random) : combinations([...grid])).map(armOf);
  const isHeadline = ({ measure }: Column) => typeof measure === 'object' && measure.metric === metric && measure.take === take; // prettier-ignore
  const headline = columns.find(isHeadline) ?? { key: metric, label: metric, measure: { metric, take } };
  const base = preset === NO_PRESET ? null : PRESETS[preset];
  return {
    ...{ name, arms: [], seeds, set: {} },
    experiment: {
      label: label || (base?.label ?? 'Experiment'),
      question: question || (arms ? '' : `${metric}, ${take}, ${better} is better`),
      doc,
      // results of the CPU do not depend on an adapter, so they can be compared between machines
      shared: { ...base?.set, backend: 'cpu', ...set },
      arms: arms ?? [...new Map(searched.map((arm) => [arm.key, arm])).values()], // repeated draws count once
      columns: columns.includes(headline) ? columns : [...columns, headline],
      headline: headline.key,
      ...(!arms && { search: { preset, set, better, knobs: [...(random?.knobs ?? grid).keys()] } }),
      ...{ defaultSeeds: seeds.length, secondsPerUpdate: SECONDS_PER_UPDATE },
    },
  };
}

/**
 * Writes a plan as a file from which `parseSweep` reads the same runs and columns. Published numbers are left out.
 * The arms of a search are written one by one.
 */
export function planText({ experiment, arms: chosen, seeds, set }: Plan): string {
  const { label, question, doc, columns } = experiment;
  const { updates, ...shared } = { ...experiment.shared, ...set };
  const arms = chosenArms(experiment, chosen);
  const keys = arms.map(({ key }) => key);
  const measureKeys = (measure: Column['measure']) => (typeof measure === 'string' ? { metric: measure } : measure);
  const file = {
    ...{ label, question, doc, preset: NO_PRESET, set: shared, updates, seeds },
    // JSON leaves out what is undefined
    arms: arms.map(({ comparedWith, ...arm }) => ({
      ...arm,
      published: undefined,
      comparedWith: comparedWith !== undefined && keys.includes(comparedWith) ? comparedWith : undefined,
      ...('set' in arm && { set: Object.fromEntries(Object.entries(arm.set).filter(([knob]) => !(knob in set))) }),
    })),
    columns: columns.map(({ measure, ...column }) => ({ ...column, ...measureKeys(measure) })),
    ...measureKeys(headlineColumn(experiment)?.measure ?? 'trap'),
  };
  return JSON.stringify(file, null, 2);
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
  readonly label: string;
  readonly question: string;
  readonly doc: string;
  readonly arms: readonly Arm[] | null; // null: those of the search
  readonly columns: readonly Column[];
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
    this.#refuseOthers('', file, FILE_KEYS);
    const entry = (name: (typeof FILE_KEYS)[number]) => (Object.hasOwn(file, name) ? file[name] : undefined);
    const presets = [...(Object.keys(PRESETS) as PresetName[]), NO_PRESET] as const;
    const preset = this.#choice('preset', entry('preset'), presets, 'number-hunt');
    const set = this.#knobs('set', entry('set') ?? {}, (at, name, each) => this.#knob(at, name, each));
    if (entry('updates') !== undefined) {
      if (set.has('updates')) this.#report('updates', 'it also in set', 'it in one place', 'Leave out set.updates.');
      set.set('updates', this.#knob('updates', 'updates', entry('updates')));
    }
    const columns = this.#columns(entry('columns'));
    const arms = entry('arms') === undefined ? null : this.#arms(entry('arms'), columns);
    const { grid, random } = this.#search(entry);
    for (const name of (random?.knobs ?? grid).keys()) {
      const at = `${random ? 'random' : 'grid'}.${name}`;
      if (set.has(name)) this.#report(at, 'a knob that is also in set', 'it in one place', REMOVE_IT);
    }
    return {
      ...{ preset, grid, random, arms, columns, set: Object.fromEntries(set) as Partial<RunConfig> },
      label: this.#text('label', entry('label'), MAX_LABEL),
      question: this.#text('question', entry('question')),
      doc: this.#text('doc', entry('doc')),
      seeds: this.#seeds(entry('seeds')),
      metric: this.#metric(entry('metric')),
      take: this.#choice('take', entry('take'), TAKES, 'last'),
      better: this.#choice('better', entry('better'), DIRECTIONS, 'higher'),
    };
  }

  #search(entry: (name: (typeof FILE_KEYS)[number]) => unknown): Pick<SweepFile, 'grid' | 'random'> {
    const [grid, random] = [entry('grid'), entry('random')];
    const ways = (['arms', 'grid', 'random'] as const).filter((name) => entry(name) !== undefined);
    if (ways.length !== 1) {
      const found = ways.length === 0 ? 'neither arms nor grid nor random' : ways.join(' and ');
      this.#report(ways[1] ?? 'grid', found, 'one of arms, grid, random', 'Keep one of them.');
    }
    if (random === undefined) {
      for (const name of ['samples', 'seed'] as const) {
        if (entry(name) !== undefined) this.#report(name, 'it without random', 'it only in a random search', REMOVE_IT);
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

  #columns(value: unknown): readonly Column[] {
    if (value === undefined) return [];
    const columns = this.#records('columns', value, COLUMN_KEYS, (at, fields): Column => {
      const { digits, emptyText } = fields;
      const measure = PLAIN_MEASURES.find((each) => each === fields['metric']) ?? this.#measure(at, fields);
      const automatic = typeof measure === 'string' ? measure : `${measure.metric}, ${measure.take}`;
      const label = this.#text(`${at}.label`, fields['label'], MAX_LABEL) || automatic;
      return {
        ...{ key: this.#text(`${at}.key`, fields['key'], MAX_LABEL) || label, label, measure },
        ...(digits !== undefined && { digits: this.#count(`${at}.digits`, digits, 0, MAX_DIGITS) }),
        ...(emptyText !== undefined && { emptyText: this.#text(`${at}.emptyText`, emptyText, MAX_LABEL) }),
      };
    });
    this.#refuseTwice('columns', columns);
    return columns;
  }

  #arms(value: unknown, columns: readonly Column[]): readonly Arm[] {
    const arms = this.#records('arms', value, ARM_KEYS, (at, fields) => this.#arm(at, fields, columns));
    this.#refuseTwice('arms', arms);
    const running = arms.filter(isRunArm).map(({ key }) => key);
    for (const [i, arm] of arms.entries()) {
      for (const name of ['comparedWith', 'borrowedFrom'] as const) {
        const other = name in arm ? (arm as Partial<Record<typeof name, string>>)[name] : undefined;
        const known = name === 'comparedWith' ? arms.map(({ key }) => key) : running;
        if (other !== undefined && (!known.includes(other) || other === arm.key))
          this.#report(`arms[${i}].${name}`, foundText(other), 'the key (without one: the label) of another arm', `There is ${known.join(', ')}.`); // prettier-ignore
      }
    }
    return arms;
  }

  #arm(at: string, fields: FileFields, columns: readonly Column[]): Arm {
    const text = (name: string) => this.#text(`${at}.${name}`, fields[name], MAX_LABEL);
    const knobs = this.#knobs(`${at}.set`, fields['set'] ?? {}, (place, name, each) => this.#knob(place, name, each));
    const set: Partial<RunConfig> = Object.fromEntries(knobs);
    const label = text('label') || armOf(Object.fromEntries(knobs)).label;
    const [group, comparedWith, borrowedFrom] = [text('group'), text('comparedWith'), text('borrowedFrom')];
    const arm = { key: text('key') || label, label, ...(group && { group }), ...(comparedWith && { comparedWith }) };
    if (borrowedFrom === '') return { ...arm, set };
    if (knobs.size > 0)
      this.#report(`${at}.set`, 'it in an arm without runs of its own', 'set or borrowedFrom', REMOVE_IT);
    if (fields['cells'] === undefined) return { ...arm, borrowedFrom };
    const cells = this.#fields(`${at}.cells`, fields['cells']);
    const columnKeys = columns.map(({ key }) => key);
    this.#refuseOthers(`${at}.cells.`, cells, columnKeys);
    const measures = Object.entries(cells).map(([column, each]) => {
      const place = `${at}.cells.${visible(column)}`;
      return [column, this.#measure(place, this.#fields(place, each))] as const;
    });
    return { ...arm, borrowedFrom, cells: Object.fromEntries(measures) };
  }

  #measure(at: string, { metric, take }: FileFields): Measure {
    return { metric: this.#metric(metric, `${at}.metric`), take: this.#choice(`${at}.take`, take, TAKES, 'last') };
  }

  /** Reads a list of objects with some of the `known` keys. */
  #records<T>(at: string, value: unknown, known: readonly string[], read: (at: string, fields: FileFields) => T): T[] {
    if (!Array.isArray(value) || value.length === 0) {
      this.#report(at, foundText(value), 'a list of objects', 'docs/experiments.md has an example.');
      return [];
    }
    return value.map((each: unknown, i) => {
      const fields = this.#fields(`${at}[${i}]`, each);
      this.#refuseOthers(`${at}[${i}].`, fields, known);
      return read(`${at}[${i}]`, fields);
    });
  }

  #refuseOthers(prefix: string, fields: object, known: readonly string[]): void {
    for (const key of Object.keys(fields)) {
      if (!known.includes(key))
        this.#report(`${prefix}${visible(key)}`, 'an unknown key', `one of ${known.join(', ')}`, REMOVE_IT);
    }
  }

  #refuseTwice(at: string, items: readonly { readonly key: string }[]): void {
    const keys = items.map(({ key }) => key);
    const second = keys.findIndex((key, i) => keys.indexOf(key) !== i);
    if (second >= 0) this.#report(`${at}[${second}]`, `${foundText(keys[second])} twice`, 'each key or label once', 'Give it another key.'); // prettier-ignore
  }

  /** Reads a text; without one, ''. */
  #text(at: string, value: unknown = '', most = MAX_TEXT): string {
    if (typeof value === 'string' && value.length <= most && firstHiddenCode(value) === null) return value;
    this.#report(at, foundText(value), `a text of at most ${most} visible characters`, 'Shorten it, or leave it out.');
    return '';
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
    const fields = this.#fields(at, value);
    const { min, max, log = false } = fields;
    this.#refuseOthers(`${at}.`, fields, ['min', 'max', 'log']);
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
  #metric(value: unknown, at = 'metric'): MetricName {
    const names = (Object.keys(METRICS) as MetricName[]).filter((name) => !/^(time|engine)\//.test(name));
    return this.#choice(at, value, names, 'eval/success');
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

  #fields(at: string, value: unknown): FileFields {
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
