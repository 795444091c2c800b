import { isCount, isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import { ProblemError } from '../base/problem.ts';
import { visible } from '../base/visible.ts';
import { parseConfig } from '../config/config.ts';
import type { HealthState } from '../domain/health.ts';
import { METRICS, type MetricName, type Metrics } from '../domain/metrics.ts';
import { byUpdate } from './byUpdate.ts';
import { CheckpointError } from './checkpoint.ts';
import { fieldOf, readManifest } from './manifest.ts';
import { bareRun, type HealthAt, type Run } from './run.ts';
import { measure } from './runLog.ts';
import type { Series } from './series.ts';

const VERSION = 1;
const STATES = ['ok', 'watch', 'trap'] as const satisfies readonly HealthState[];
const MAX_UPDATE_NUMBER = 2 ** 32 - 1; // update numbers are stored in 32 bits

/**
 * The first line of a log: the manifest, without run ids of the browser, and the monitor's states. `beside` are
 * further fields for people; `readLog` ignores them.
 */
export function runLine(run: Run, beside: JsonRecord = {}): string {
  const { name, started, backend, kernels, begun, config, changes, arm, seconds, skipped } = run;
  const { kind, adapter } = backend;
  const health = run.health.map(({ update, health: { state } }) => [update, state] as const);
  const manifest = { name, started, backend: { kind, adapter }, kernels, begun, config, changes, arm, seconds };
  return JSON.stringify({ kind: 'run', version: VERSION, ...manifest, skipped, health, ...beside });
}

/** The line of an update: its metrics by name. Update 0 is the evaluation before training. */
export function updateLine(update: number, values: Metrics): string {
  return JSON.stringify({ kind: 'update', update, ...values });
}

/** The log of a run, with all points of its curves. `readLog` reads it back. */
export function logText(run: Run, beside: JsonRecord = {}): string {
  const curves = Array.from(run.series, ([name, { points }]) => [name, points] as const);
  const lines = byUpdate(curves).map(([update, values]) => updateLine(update, Object.fromEntries(values)));
  return `${[runLine(run, beside), ...lines].join('\n')}\n`;
}

/** A log file. */
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
export function readLog(text: string, { name, written, run: beside }: LogFile): Run {
  const lines = text.split('\n');
  const series = new Map<MetricName, Series>();
  let run = beside === undefined ? null : readHead('playground.json', beside);
  let last = -1;
  for (const [i, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const fields = fieldsOf(line);
    const at = `line ${i + 1}`;
    // the program that wrote the log was stopped, or is still writing
    if (!fields && i === lines.length - 1 && last >= 0) break;
    if (!fields) throw odd(at, line, 'a JSON object', WHOLE);
    const { kind = 'update', update } = fields;
    if (kind === 'run') {
      if ((run && beside === undefined) || last >= 0)
        throw odd(at, 'the beginning of another run', 'one run', 'Take the lines apart by runs.');
      run = readRunLine(at, fields);
    }
    if (kind !== 'update') continue;
    if (!isCount(update) || update <= last || update > MAX_UPDATE_NUMBER) {
      throw odd(
        at,
        `update ${update === undefined ? 'nothing' : JSON.stringify(update)} after ${last}`,
        'updates that rise',
        WHOLE,
      );
    }
    last = update;
    measure(series, update, metricsOf(at, fields));
  }
  if (series.size === 0) throw odd(name, 'a file without any metric', 'lines of updates', WHOLE);
  const unknown = bareRun({ id: 0, name: `${name}, knobs unknown`, started: written, begun: parseConfig() });
  return { ...(run ?? unknown), update: last, series };
}

const WHOLE = 'Give metrics.jsonl of a saved folder, or all that npm run train -- --json prints.';

function readRunLine(at: string, fields: JsonRecord): Run {
  const { version } = fields;
  if (version !== VERSION)
    throw odd(at, `version ${JSON.stringify(version)}`, `version ${VERSION}`, 'Another version wrote it.');
  return readHead(at, fields);
}

/**
 * Reads a run without curves from a manifest or from a log's first line. Drops run ids: they belong to another
 * browser's list.
 */
function readHead(at: string, value: unknown): Run {
  const head = isRecord(value) ? value : {};
  try {
    const missing = { changes: [], config: head['begun'], update: 0, skipped: 0, health: [] };
    const whole = { ...missing, ...head, id: 0, fork: undefined };
    return bareRun({
      ...readManifest(whole),
      skipped: fieldOf(whole, 'skipped', isCount, 'a whole number of at least 0'),
      health: fieldOf(whole, 'health', areStates, 'pairs of an update and a state').map(healthAt),
    });
  } catch (error) {
    if (error instanceof CheckpointError) throw new ProblemError(`${at}: ${visible(error.message, 400)} ${WHOLE}`);
    throw error;
  }
}

/** The monitor's report from a pair of an update and the state that began there. A file stores no more of a report. */
export function healthAt([update, state]: readonly [number, HealthState]): HealthAt {
  return { update, health: { state, since: update, kind: null, evidence: [], remedies: [] } };
}

/** Whether a value is a list of updates, each with the state that began there. */
export function areStates(value: unknown): value is (readonly [number, HealthState])[] {
  return (
    Array.isArray(value) && value.every((x) => Array.isArray(x) && isCount(x[0]) && STATES.some((s) => s === x[1]))
  );
}

/** The metrics of a line. Drops names of metrics that no longer exist. */
function metricsOf(at: string, fields: JsonRecord): Metrics {
  const known = Object.entries(fields).filter(([name]) => Object.hasOwn(METRICS, name));
  for (const [name, value] of known) {
    // null is allowed: JSON writes NaN and infinities as null
    if (value !== null && typeof value !== 'number')
      throw odd(`${at}: ${name}`, JSON.stringify(value), 'a number', WHOLE);
  }
  return Object.fromEntries(known.filter(([, value]) => value !== null));
}

function fieldsOf(line: string): JsonRecord | null {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

function odd(at: string, got: string, want: string, remedy: string): ProblemError {
  return new ProblemError({ place: at, got, want, remedy });
}
