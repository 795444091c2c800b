import { parseConfig } from '../config/config.ts';
import type { BatchView } from '../domain/batch.ts';
import type { EpisodeView, RewardPart } from '../domain/episode.ts';
import { metricNamed } from '../domain/metrics.ts';
import { Role } from '../domain/tokens.ts';
import type { RecordedPlays } from './recordedPlays.ts';
import { type Plain, playsFromJson, readingsFromJson, type RecordedReadings } from './recordedReadings.ts';
import { runWithDefaults, type Run } from './run.ts';
import { type Points, Series } from './series.ts';

const VERSION = 5;
const CURVE_DIGITS = 4; // one more than charts show
const DIGITS = 5; // of numbers per token; advantages then differ by less than 1e-3 from those computed from the rewards
const PART_DIGITS = 6; // of `Float64Array`s, whose numbers are added up

/** It ships with the page: curves, one task's rollouts at some updates, answers about them, and tasks played throughout training. */
export interface Recording extends Run {
  readonly readings: ReadonlyMap<number, RecordedReadings>; // by update, for some or all of `batches`
  readonly plays: readonly RecordedPlays[]; // by ascending update; empty if none were recorded
}

/** The rollouts of one task as a separate batch, with the same numbers. Rows count from 0. */
export function taskBatch(batch: BatchView, group: number): BatchView {
  const members = batch.episodes.filter((episode) => episode.group === group);
  const length = Math.max(...members.map(({ row }) => batch.lengths[row] ?? 0));
  const perToken = (from: ArrayLike<number>) =>
    members.flatMap(({ row }) => Array.from({ length }, (_, t) => from[row * batch.length + t] ?? 0));
  const perRow = (from: ArrayLike<number>) => members.map(({ row }) => from[row] ?? 0);
  return {
    ...arraysOf(batch, perToken, perRow),
    update: batch.update,
    rows: members.length,
    length,
    episodes: members.map((episode, row) => ({ ...episode, row, group: 0 })),
  };
}

/** A recording as JSON text, with curves and arrays as plain lists and without the checkpoint. */
export function recordingText(run: Recording): string {
  const { name, started, backend, begun, config, update, series, vocabulary, readings, plays } = run;
  const batches = run.batches.map(({ batch }) => batch);
  const curves = Object.fromEntries(Array.from(series, ([metric, { points }]) => [metric, curveOf(points)] as const));
  const head = { version: VERSION, name, started, backend, begun, config, update };
  const json = { ...head, curves, vocabulary, batches, readings: [...readings], plays };
  return JSON.stringify(json, (_, value: unknown) => {
    if (value instanceof Map) return [...value];
    if (value instanceof Float32Array) return Array.from(value, (x) => Number(x.toPrecision(DIGITS)));
    if (value instanceof Float64Array) return Array.from(value, (x) => Number(x.toPrecision(PART_DIGITS)));
    return ArrayBuffer.isView(value) ? Array.from(value as Int32Array) : value;
  });
}

function curveOf({ x, y }: Points): CurveJson {
  return { x: [...x], y: Array.from(y, (value) => Number(value.toPrecision(CURVE_DIGITS))) };
}

/** Reads the output of `recordingText`. Throws for any other version, and ConfigError for invalid knobs. */
export function readRecording(text: string): Recording {
  const {
    version,
    curves,
    batches,
    begun,
    config,
    readings,
    plays = [],
    ...otherFields
  } = JSON.parse(text) as RecordingJson;
  if (version !== VERSION)
    throw new Error(`The recording has version ${version}, and this page reads version ${VERSION}.`);
  const unchanged = (list: ArrayLike<number>) => list;
  const series = Object.entries(curves).flatMap(([key, { x, y }]) => {
    const metric = metricNamed(key);
    return metric ? [[metric, Series.of({ x: Uint32Array.from(x), y: Float64Array.from(y) })] as const] : [];
  });
  const run = runWithDefaults({
    ...otherFields,
    id: 0,
    begun: parseConfig(begun),
    config: parseConfig(config),
    series: new Map(series),
    batches: batches.map(({ contextStarts, ...batch }) => ({
      config: parseConfig(begun),
      batch: {
        ...{ update: batch.update, rows: batch.rows, length: batch.length },
        ...arraysOf(
          { ...batch, ...(contextStarts && { contextStarts }), singles: batch.singles ?? forcedTokens(batch) },
          unchanged,
          unchanged,
        ),
        episodes: batch.episodes.map((episode) => ({ ...episode, names: new Map(episode.names) })),
      },
    })),
  });
  return {
    ...run,
    readings: new Map(readings.map(([update, plain]) => [update, readingsFromJson(plain)])),
    plays: plays.map(({ update, batch }) => ({ update, batch: playsFromJson(batch) })),
  };
}

interface CurveJson {
  readonly x: readonly number[];
  readonly y: readonly number[];
}

interface RecordingJson extends Pick<Run, 'name' | 'started' | 'backend' | 'update' | 'vocabulary'> {
  readonly version: number;
  readonly begun: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
  readonly curves: Readonly<Record<string, CurveJson>>;
  readonly batches: readonly BatchJson[];
  readonly readings: readonly (readonly [update: number, Plain<RecordedReadings>])[];
  readonly plays?: Plain<readonly RecordedPlays[]>;
}

/** Marks tokens with one legal choice, for recordings that don't list them: the agent's entropy is exactly 0 there. */
function forcedTokens({ roles, entropies }: Pick<BatchLists, 'roles' | 'entropies'>): number[] {
  return Array.from(roles, (role, i) => (role === Role.action && entropies[i] === 0 ? 1 : 0));
}

/** The lists of a batch, as typed arrays or as plain lists from JSON. */
type BatchLists = {
  readonly contextStarts?: ArrayLike<number>;
} & {
  readonly [K in keyof BatchView as BatchView[K] extends ArrayBufferView ? K : never]: ArrayLike<number>;
} & { readonly parts: Readonly<Partial<Record<RewardPart, ArrayLike<number>>>> };
/** The lists that a batch may lack. */
type OptionalLists = Partial<Readonly<Record<'bodies' | 'drifted' | 'observationMask', ArrayLike<number>>>>;
type BatchJson = OptionalLists &
  Omit<BatchLists, 'singles'> & { readonly singles?: ArrayLike<number> } & Pick<
    BatchView,
    'update' | 'rows' | 'length'
  > & {
    readonly episodes: readonly (Omit<EpisodeView, 'names'> & { readonly names: readonly [number, string][] })[];
  };
type SelectFrom = (from: ArrayLike<number>) => ArrayLike<number>;

/** `perToken` selects from arrays with one entry for each token, `perRow` from arrays with one entry for each row. */
function arraysOf(
  batch: BatchLists & OptionalLists,
  perToken: SelectFrom,
  perRow: SelectFrom,
): Omit<BatchView, 'update' | 'rows' | 'length' | 'episodes'> {
  const bytes = (from: ArrayLike<number>) => Uint8Array.from(perToken(from));
  const floats = (from: ArrayLike<number>) => Float32Array.from(perToken(from));
  return {
    tokens: Int32Array.from(perToken(batch.tokens)),
    roles: bytes(batch.roles),
    states: bytes(batch.states),
    ...(batch.contextStarts && { contextStarts: Int32Array.from(perToken(batch.contextStarts)) }),
    singles: bytes(batch.singles),
    ...(batch.bodies && { bodies: bytes(batch.bodies) }),
    ...(batch.drifted && { drifted: bytes(batch.drifted) }),
    turns: bytes(batch.turns),
    lengths: Int32Array.from(perRow(batch.lengths)),
    kept: Uint8Array.from(perRow(batch.kept)),
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
    ...(batch.observationMask && { observationMask: floats(batch.observationMask) }),
    gradWeights: floats(batch.gradWeights),
    policyWeights: floats(batch.policyWeights),
  };
}
