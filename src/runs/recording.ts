import { parseConfig } from '../config/config.ts';
import type { BatchView } from '../domain/batch.ts';
import type { EpisodeView, RewardPart } from '../domain/episode.ts';
import type { MetricName } from '../domain/metrics.ts';
import { Role } from '../domain/tokens.ts';
import type { RecordedPlays } from './recordedPlays.ts';
import { type Plain, type PlainReadings, playedOf, readingsOf, type RecordedReadings } from './recordedReadings.ts';
import { bareRun, type Run } from './run.ts';
import { type Points, Series } from './series.ts';

const VERSION = 4;
const CURVE_DIGITS = 4; // one more than a chart writes
const DIGITS = 5; // of what stands once a token; advantages stay within 1e-3 of what their rewards give
const PART_DIGITS = 6; // of parts that are summed up

/** A run that is shipped: its curves, the rollouts of a task of some of its updates, what it said of those, and tasks followed through training. */
export interface Recording extends Run {
  readonly readings: ReadonlyMap<number, RecordedReadings>; // by update; of some of `batches`, or of all
  readonly plays: readonly RecordedPlays[]; // by rising update; empty where none were recorded
}

/** The rollouts of one task of a batch, as a batch of its own: the same numbers, rows counted from 0. */
export function taskOf(batch: BatchView, group: number): BatchView {
  const members = batch.episodes.filter((episode) => episode.group === group);
  const length = Math.max(...members.map(({ row }) => batch.lengths[row] ?? 0));
  const cut = (from: ArrayLike<number>) =>
    members.flatMap(({ row }) => Array.from({ length }, (_, t) => from[row * batch.length + t] ?? 0));
  const each = (from: ArrayLike<number>) => members.map(({ row }) => from[row] ?? 0);
  return {
    ...arraysOf(batch, cut, each),
    update: batch.update,
    rows: members.length,
    length,
    episodes: members.map((episode, row) => ({ ...episode, row, group: 0 })),
  };
}

/** A run as the text that is shipped with the page: JSON, curves and arrays as plain lists, no checkpoint. */
export function recordingText(run: Recording): string {
  const { name, started, backend, begun, config, update, series, vocabulary, readings, plays } = run;
  const batches = run.batches.map(({ batch }) => batch);
  const curves = Object.fromEntries(Array.from(series, ([metric, { points }]) => [metric, curveOf(points)] as const));
  const head = { version: VERSION, name, started, backend, begun, config, update };
  // version 4 of the file calls the previews of switches `ghosts`
  const answers = [...readings].map(([of, { switchPreviews, ...rest }]) => [of, { ...rest, ghosts: switchPreviews }]);
  const written = { ...head, curves, vocabulary, batches, readings: answers, plays };
  return JSON.stringify(written, (_, value: unknown) => {
    if (value instanceof Map) return [...value];
    if (value instanceof Float32Array) return Array.from(value, (x) => Number(x.toPrecision(DIGITS)));
    if (value instanceof Float64Array) return Array.from(value, (x) => Number(x.toPrecision(PART_DIGITS)));
    return ArrayBuffer.isView(value) ? Array.from(value as Int32Array) : value;
  });
}

function curveOf({ x, y }: Points): Curve {
  return { x: [...x], y: Array.from(y, (value) => Number(value.toPrecision(CURVE_DIGITS))) };
}

/** Reads what `recordingText` wrote. Throws for any other version, and ConfigError for knobs that are none. */
export function readRecording(text: string): Recording {
  const { version, curves, batches, begun, config, readings, plays = [], ...read } = JSON.parse(text) as Written;
  if (version !== VERSION) throw new Error(`The recording is of version ${version}, want ${VERSION}.`);
  const same = (list: ArrayLike<number>) => list;
  const series = Object.entries(curves).map(([metric, { x, y }]) => {
    return [metric as MetricName, Series.of({ x: Uint32Array.from(x), y: Float64Array.from(y) })] as const;
  });
  const run = bareRun({
    ...read,
    id: 0,
    begun: parseConfig(begun),
    config: parseConfig(config),
    series: new Map(series),
    batches: batches.map((batch) => ({
      config: parseConfig(begun),
      batch: {
        ...batch,
        ...arraysOf({ ...batch, singles: batch.singles ?? undecided(batch) }, same, same),
        episodes: batch.episodes.map((episode) => ({ ...episode, names: new Map(episode.names) })),
      },
    })),
  });
  return {
    ...run,
    readings: new Map(readings.map(([update, plain]) => [update, readingsOf(plain)])),
    plays: plays.map(({ update, batch }) => ({ update, batch: playedOf(batch) })),
  };
}

interface Curve {
  readonly x: readonly number[];
  readonly y: readonly number[];
}

/** A recording as JSON has it. */
interface Written extends Pick<Run, 'name' | 'started' | 'backend' | 'update' | 'vocabulary'> {
  readonly version: number;
  readonly begun: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
  readonly curves: Readonly<Record<string, Curve>>;
  readonly batches: readonly PlainBatch[];
  readonly readings: readonly (readonly [update: number, PlainReadings])[];
  readonly plays?: Plain<readonly RecordedPlays[]>;
}

/** Choices of one in a recording that does not name them: nothing was open where the agent's entropy is exactly 0. */
function undecided({ roles, entropies }: Pick<Lists, 'roles' | 'entropies'>): number[] {
  return Array.from(roles, (role, i) => (role === Role.action && entropies[i] === 0 ? 1 : 0));
}

/** The lists of a batch, typed arrays or what JSON made of them. */
type Lists = {
  readonly [K in keyof BatchView as BatchView[K] extends ArrayBufferView ? K : never]: ArrayLike<number>;
} & { readonly parts: Readonly<Partial<Record<RewardPart, ArrayLike<number>>>> };
type PlainBatch = Omit<Lists, 'singles'> & { readonly singles?: ArrayLike<number> } & Pick<
    BatchView,
    'update' | 'rows' | 'length'
  > & {
    readonly episodes: readonly (Omit<EpisodeView, 'names'> & { readonly names: readonly [number, string][] })[];
  };
type Taken = (from: ArrayLike<number>) => ArrayLike<number>;

/** A batch's arrays; `cut` says what is taken of those with an entry a token, `each` of those with an entry a row. */
function arraysOf(batch: Lists, cut: Taken, each: Taken): Omit<BatchView, 'update' | 'rows' | 'length' | 'episodes'> {
  const bytes = (from: ArrayLike<number>) => Uint8Array.from(cut(from));
  const floats = (from: ArrayLike<number>) => Float32Array.from(cut(from));
  return {
    tokens: Int32Array.from(cut(batch.tokens)),
    roles: bytes(batch.roles),
    states: bytes(batch.states),
    singles: bytes(batch.singles),
    turns: bytes(batch.turns),
    lengths: Int32Array.from(each(batch.lengths)),
    kept: Uint8Array.from(each(batch.kept)),
    sampledLogprobs: floats(batch.sampledLogprobs),
    logprobs: floats(batch.logprobs),
    entropies: floats(batch.entropies),
    values: floats(batch.values),
    rewards: floats(batch.rewards),
    parts: Object.fromEntries(Object.entries(batch.parts).map(([part, list]) => [part, floats(list)])),
    refLogprobs: floats(batch.refLogprobs),
    advantages: floats(batch.advantages),
    returns: floats(batch.returns),
    lossMask: floats(batch.lossMask),
    advantageMask: floats(batch.advantageMask),
    gradWeights: floats(batch.gradWeights),
    policyWeights: floats(batch.policyWeights),
  };
}
