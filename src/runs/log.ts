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
const MOST_UPDATES = 2 ** 32 - 1; // they are held in 32 bits

/**
 * The line that a log begins with: the manifest, without numbers of runs in the browser, and what the monitor said. `beside` are fields for
 * people; reading passes over them.
 */
export function runLine(run: Run, beside: JsonRecord = {}): string {
  const { name, started, backend, kernels, begun, config, changes, arm, seconds, skipped } = run;
  const { kind, adapter } = backend;
  const health = run.health.map(({ update, health: { state } }) => [update, state] as const);
  const manifest = { name, started, backend: { kind, adapter }, kernels, begun, config, changes, arm, seconds };
  return JSON.stringify({ kind: 'run', version: VERSION, ...manifest, skipped, health, ...beside });
}

/** The line of an update: its numbers by their names. Update 0 is the evaluation before training. */
export function updateLine(update: number, values: Metrics): string {
  return JSON.stringify({ kind: 'update', update, ...values });
}

/** The log of a run as it is: what `readLog` reads, with every number of its curves. */
export function logText(run: Run, beside: JsonRecord = {}): string {
  const curves = Array.from(run.series, ([name, { points }]) => [name, points] as const);
  const lines = byUpdate(curves).map(([update, values]) => updateLine(update, Object.fromEntries(values)));
  return `${[runLine(run, beside), ...lines].join('\n')}\n`;
}

/** A log's file. */
export interface LogFile {
  readonly name: string;
  readonly written: string; // ISO 8601
  readonly run?: unknown; // what playground.json beside it says of the run
}

/**
 * The run that a log tells of: lines of JSON as `npm run train -- --json` prints them, or metrics.jsonl of a saved folder, which says
 * nothing of knobs: it is then known by its file. Lines of another kind are passed over, so is a last line that was cut off.
 * Throws ProblemError with the line that is wrong.
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
    if (!fields && i === lines.length - 1 && last >= 0) break; // what wrote it was ended, or is still at it
    if (!fields) throw odd(at, line, 'a JSON object', WHOLE);
    const { kind = 'update', update } = fields;
    if (kind === 'run') {
      if ((run && beside === undefined) || last >= 0)
        throw odd(at, 'the beginning of another run', 'one run', 'Take the lines apart by runs.');
      run = readRunLine(at, fields);
    }
    if (kind !== 'update') continue;
    if (!isCount(update) || update <= last || update > MOST_UPDATES) {
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

/** The run of a manifest, or of the line that a log begins with. It was made elsewhere, so its numbers of runs are left out. */
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

/** The state that a run was in from an update on. A file has no more of what the monitor said. */
export function healthAt([update, state]: readonly [number, HealthState]): HealthAt {
  return { update, health: { state, since: update, kind: null, evidence: [], remedies: [] } };
}

/** Whether a value is a list of updates, each with the state that began there. */
export function areStates(value: unknown): value is (readonly [number, HealthState])[] {
  return (
    Array.isArray(value) && value.every((x) => Array.isArray(x) && isCount(x[0]) && STATES.some((s) => s === x[1]))
  );
}

/** The metrics of a line; names that are none any more are left out. */
function metricsOf(at: string, fields: JsonRecord): Metrics {
  const known = Object.entries(fields).filter(([name]) => Object.hasOwn(METRICS, name));
  for (const [name, value] of known) {
    // JSON has no other way to write a number that is not finite
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
