import { CheckpointError } from '../../runs/checkpoint.ts';
import { parseConfig } from '../../config/config.ts';
import type { RunConfig } from '../../config/fields.ts';
import { METRICS, type MetricName, type Metrics } from '../../domain/metrics.ts';
import { type Flag, live } from '../run/liveStore.ts';
import { isRunStart } from '../runs/record.ts';
import { currentRecord, type RunStart } from '../runs/recorder.ts';
import { type Points, Series } from '../run/series.ts';

/** What the page shows of a run and the worker does not know: its curves at full length, flags, and the record it goes on in. */
export interface PageState {
  readonly points: ReadonlyMap<string, Points>; // by metric
  readonly flags: readonly Flag[];
  readonly metrics: Metrics; // the newest
  readonly config: RunConfig | null; // they were measured under
  readonly record: RunStart | null;
}

/** The page as it is after `update`, to be copied when it is asked for: a run is noted after each update, and few notes are read. */
export function notePage(update: number): () => PageState {
  const { series, flags, metrics, config } = live;
  const record = currentRecord();
  return () => ({
    points: new Map(Array.from(series, ([name, { points }]) => [name, upTo(update, points)] as const)),
    ...{ flags: flags.filter((flag) => flag.update <= update), metrics, config, record },
  });
}

function upTo(update: number, { x, y }: Points): Points {
  const end = x.findLastIndex((at) => at <= update) + 1;
  return { x: x.slice(0, end), y: y.slice(0, end) };
}

/** Curves drawn anew from their points; what is no metric any more is left out. Throws RangeError where points do not read. */
export function readSeries({ points }: PageState): Map<MetricName, Series> {
  const series = new Map<MetricName, Series>();
  for (const [name, own] of points) if (name in METRICS) series.set(name as MetricName, Series.of(own));
  return series;
}

/** Reads what a browser kept. Throws CheckpointError, saying what does not read. */
export function readPage(value: unknown): PageState {
  const page = (value ?? {}) as Readonly<Partial<Record<keyof PageState, unknown>>>;
  const { points, flags, metrics, config, record } = page;
  const want = (holds: boolean, words: string) => {
    if (!holds) throw new CheckpointError(words);
  };
  want(points instanceof Map, 'Its curves are no set of curves.');
  for (const [name, curve] of points as ReadonlyMap<string, Points | null>) {
    const { x, y } = curve ?? {};
    const reads = x instanceof Uint32Array && y instanceof Float64Array && x.length === y.length;
    want(reads, `Its curve ${name} is no list of points.`);
    try {
      Series.of(curve!);
    } catch (error) {
      want(false, `Its curve ${name}: ${error instanceof Error ? error.message : ''}`);
    }
  }
  want(Array.isArray(flags) && flags.every(isFlag), 'Its marks of changed knobs do not read.');
  want(
    typeof metrics === 'object' && metrics !== null && Object.values(metrics).every(Number.isFinite),
    'Its newest numbers do not read.',
  );
  want(record === null || isRunStart(record), 'The record it goes on in does not read.');
  try {
    if (config !== null) parseConfig(config as Record<string, unknown>);
  } catch (error) {
    want(false, `The knobs its numbers were measured under: ${error instanceof Error ? error.message : ''}`);
  }
  return value as PageState;
}

function isFlag(value: unknown): value is Flag {
  const { update, text } = (value ?? {}) as Partial<Readonly<Record<keyof Flag, unknown>>>;
  return typeof update === 'number' && typeof text === 'string';
}
