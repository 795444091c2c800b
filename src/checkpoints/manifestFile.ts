import { isCount } from '../base/jsonRecord.ts';
import { METRICS, type MetricName } from '../domain/metrics.ts';
import { field, isRecord, jsonText, readJson, shown } from '../formats/jsonFile.ts';
import { ProblemError } from '../base/problem.ts';
import { byUpdate } from '../runs/byUpdate.ts';
import type { PackedRun } from '../runs/packed.ts';
import type { Points } from '../runs/series.ts';
import { manifestOf, sealed } from '../runs/storedRun.ts';
import { bytesOf, environmentFileName, FILES } from './checkpointFolder.ts';

/** playground.json: the manifest of a run, sealed with the bytes of its curves' file. */
export function manifestFile(run: PackedRun, metrics: string): string {
  const manifest = JSON.parse(jsonText(manifestOf(run))) as object; // sealed as it will be read
  return jsonText(sealed(manifest, bytesOf(metrics)));
}

/** The text of the environment that a run trains on, as a file; none where no person wrote it. */
export function environmentFiles({ environment }: PackedRun): readonly (readonly [string, string])[] {
  return environment ? [[environmentFileName(environment), environment.text]] : [];
}

/** metrics.jsonl: a line an update, `{"update": 3, "rollout/success": 0.5, …}`, as data frames read them. */
export function metricsFile(points: PackedRun['points']): string {
  const lines = byUpdate(points).map(([update, values]) => jsonText({ update, ...Object.fromEntries(values) }, 0));
  return lines.join('');
}

/** Curves from those lines; what is no metric any more is left out. Throws ProblemError with the line that does not read. */
export function readMetrics(bytes: Uint8Array): Map<MetricName, Points> {
  const curves = new Map<MetricName, { x: number[]; y: number[] }>();
  let last = -1;
  let line = 0;
  for (const part of linesOf(bytes)) {
    line++;
    const values = readJson(FILES.metrics, part, `line ${line}`);
    const update = isRecord(values) ? field(values, 'update') : undefined;
    if (!isRecord(values) || !isCount(update) || update <= last) {
      throw unreadable(`line ${line}`, update, 'rising updates');
    }
    last = update;
    for (const [name, value] of Object.entries(values)) {
      if (name === 'update') continue;
      if (typeof value !== 'number') throw unreadable(`line ${line}, ${name}`, value, 'a number');
      if (!isMetric(name)) continue;
      const curve = curves.get(name) ?? { x: [], y: [] };
      curves.set(name, curve);
      curve.x.push(update);
      curve.y.push(value);
    }
  }
  return new Map(Array.from(curves, ([name, { x, y }]) => [name, { x: Uint32Array.from(x), y: Float64Array.from(y) }]));
}

const NEWLINE = 10;
function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length;) {
    const found = bytes.indexOf(NEWLINE, at);
    const end = found < 0 ? bytes.length : found;
    yield bytes.subarray(at, end);
    at = end + 1;
  }
}

const unreadable = (place: string, got: unknown, want: string) =>
  new ProblemError([{ file: FILES.metrics, place, got: shown(got), want, remedy: EXPORT_AGAIN }]);

/** What to do about a stored run that cannot be read. */
export const EXPORT_AGAIN = 'It is damaged or of another version: export the run again.';

const isMetric = (name: string): name is MetricName => Object.hasOwn(METRICS, name);
