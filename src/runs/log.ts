import { isCount, isRecord, jsonLines, type JsonRecord } from '../base/jsonRecord.ts';
import { ProblemError } from '../base/problem.ts';
import { visible } from '../base/visible.ts';
import { parseConfig } from '../config/config.ts';
import type { HealthState } from '../domain/health.ts';
import type { TrainingEvent } from '../domain/trainingEvent.ts';
import { metricNamed, type MetricName, type Metrics } from '../domain/metrics.ts';
import { byUpdate } from './byUpdate.ts';
import { CheckpointError } from './checkpoint.ts';
import { fieldOf, readManifest } from './manifest.ts';
import { runWithDefaults, type HealthStretch, type Run } from './run.ts';
import { addMetrics } from './runLog.ts';
import type { Series } from './series.ts';

const VERSION = 1;
const HEALTH_STATES = ['ok', 'watch', 'trap'] as const satisfies readonly HealthState[];
const MAX_UPDATE_NUMBER = 2 ** 32 - 1; // update numbers are stored in 32 bits

/** The manifest, without run ids of the browser, and the monitor's states. `extraFields` are for people; `readLog` ignores them. */
export function runLine(run: Run, extraFields: JsonRecord = {}): string {
  const { name, started, backend, kernels, begun, config, changes, arm, seconds, skipped, program } = run;
  const { kind, adapter } = backend;
  const health = run.health.map(({ update, health: { state } }) => [update, state] as const);
  const manifest = {
    name,
    started,
    backend: { kind, adapter },
    kernels,
    begun,
    config,
    changes,
    arm,
    seconds,
    program,
  };
  return JSON.stringify({ kind: 'run', version: VERSION, ...manifest, skipped, health, ...extraFields });
}

/** The line of an update: its metrics by name. Update 0 is the evaluation before training. */
export function updateLine(update: number, values: Metrics): string {
  return JSON.stringify({ kind: 'update', update, ...values });
}

/** The line of a step of imitation, or of the knobs that a run chose while it imitates. `readLog` ignores it. */
export function imitationLine(event: Extract<TrainingEvent, { type: 'imitated' | 'imitation-changed' }>): string {
  const { type: _, ...fields } = event;
  return JSON.stringify({ kind: 'imitation', ...fields });
}

/** The log of a run, with all points of its curves. `readLog` reads it back. */
export function logText(run: Run, extraFields: JsonRecord = {}): string {
  const curves = Array.from(run.series, ([name, { points }]) => [name, points] as const);
  const lines = byUpdate(curves).map(([update, values]) => updateLine(update, Object.fromEntries(values)));
  return `${[runLine(run, extraFields), ...lines].join('\n')}\n`;
}

export interface LogFile {
  readonly name: string;
  readonly written: string; // ISO 8601
  readonly run?: unknown; // the entry `run` of the playground.json in the same folder, if there is one
}

/**
 * Reads the run from a log: JSON lines as `npm run train -- --json` prints them, or metrics.jsonl of a saved folder.
 * metrics.jsonl has no knobs, so without a playground.json the run has the default knobs, and a name made of the file's
 * that says so. Ignores lines of other kinds, and a last line that was cut off. Throws ProblemError with the line that
 * is wrong.
 */
export function readLog(text: string, { name, written, run: manifestRun }: LogFile): Run {
  const series = new Map<MetricName, Series>();
  let run = manifestRun === undefined ? null : readRunFields('playground.json', manifestRun);
  let lastUpdate = -1;
  for (const { number, line, record: fields, isLast } of jsonLines(text)) {
    const place = `line ${number}`;
    // an incomplete last line: the program that wrote the log was stopped, or is still writing
    if (!fields && isLast && lastUpdate >= 0) break;
    if (!fields) throw logProblem(place, line, 'a JSON object', WHOLE_LOG);
    const { kind = 'update', update } = fields;
    if (kind === 'run') {
      if ((run && manifestRun === undefined) || lastUpdate >= 0)
        throw logProblem(place, 'the beginning of another run', 'one run', 'Take the lines apart by runs.');
      run = readRunLine(place, fields);
    }
    if (kind !== 'update') continue;
    if (!isCount(update) || update <= lastUpdate || update > MAX_UPDATE_NUMBER) {
      throw logProblem(
        place,
        `update ${update === undefined ? 'nothing' : JSON.stringify(update)} after ${lastUpdate}`,
        'updates that rise',
        WHOLE_LOG,
      );
    }
    lastUpdate = update;
    addMetrics(series, update, metricsOf(place, fields));
  }
  if (series.size === 0) throw logProblem(name, 'a file without any metric', 'lines of updates', WHOLE_LOG);
  const runWithoutKnobs = runWithDefaults({
    id: 0,
    name: `${name}, knobs unknown`,
    started: written,
    begun: parseConfig(),
  });
  return { ...(run ?? runWithoutKnobs), update: lastUpdate, series };
}

const WHOLE_LOG = 'Give metrics.jsonl of a saved folder, or all that npm run train -- --json prints.';

function readRunLine(at: string, fields: JsonRecord): Run {
  const { version } = fields;
  if (version !== VERSION)
    throw logProblem(at, `version ${JSON.stringify(version)}`, `version ${VERSION}`, 'Another version wrote it.');
  return readRunFields(at, fields);
}

/** Reads a manifest or a log's first line: no curves, and no run ids, because they belong to another browser's list. */
function readRunFields(at: string, value: unknown): Run {
  const storedFields = isRecord(value) ? value : {};
  try {
    const defaults = { changes: [], config: storedFields['begun'], update: 0, skipped: 0, health: [] };
    const allFields = { ...defaults, ...storedFields, id: 0, fork: undefined };
    return runWithDefaults({
      ...readManifest(allFields),
      skipped: fieldOf(allFields, 'skipped', isCount, 'a whole number of at least 0'),
      health: fieldOf(allFields, 'health', areHealthStates, 'pairs of an update and a state').map(healthStretch),
    });
  } catch (error) {
    if (error instanceof CheckpointError) throw new ProblemError(`${at}: ${visible(error.message, 400)} ${WHOLE_LOG}`);
    throw error;
  }
}

/** A `HealthStretch` from its first update and its state. A file stores no more of the monitor's report. */
export function healthStretch([update, state]: readonly [number, HealthState]): HealthStretch {
  return { update, health: { state, since: update, kind: null, evidence: [], remedies: [] } };
}

/** Whether a value is a list of updates, each with the monitor's state from that update on. */
export function areHealthStates(value: unknown): value is (readonly [number, HealthState])[] {
  return (
    Array.isArray(value) &&
    value.every((x) => Array.isArray(x) && isCount(x[0]) && HEALTH_STATES.some((s) => s === x[1]))
  );
}

/** The metrics of a line. Drops names of metrics that no longer exist. */
function metricsOf(at: string, fields: JsonRecord): Metrics {
  const knownEntries = Object.entries(fields).flatMap(([key, value]) => {
    const name = metricNamed(key);
    return name ? [[name, value] as const] : [];
  });
  for (const [name, value] of knownEntries) {
    // null is allowed: JSON writes NaN and infinities as null
    if (value !== null && typeof value !== 'number')
      throw logProblem(`${at}: ${name}`, JSON.stringify(value), 'a number', WHOLE_LOG);
  }
  return Object.fromEntries(knownEntries.filter(([, value]) => value !== null));
}

function logProblem(at: string, got: string, want: string, remedy: string): ProblemError {
  return new ProblemError({ place: at, got, want, remedy });
}
