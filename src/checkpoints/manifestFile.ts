import { metricNamed, type MetricName } from '../domain/metrics.ts';
import { field, isCount, isRecord, valueText } from '../base/jsonRecord.ts';
import { jsonText, readJson } from '../formats/jsonFile.ts';
import { lineRanges } from '../formats/lines.ts';
import { ProblemError } from '../base/problem.ts';
import { byUpdate } from '../runs/byUpdate.ts';
import type { PackedRun } from '../runs/packed.ts';
import type { Points } from '../runs/series.ts';
import { manifestOf, withChecksum } from '../runs/storedRun.ts';
import { utf8Bytes, environmentFileName, FILE_NAMES } from './checkpointFolder.ts';

/** playground.json: the manifest of a run, with a checksum of it and of metrics.jsonl, whose text is `metrics`. */
export function manifestFile(run: PackedRun, metrics: string): string {
  // compute the checksum of the values that a reader will get
  const manifest = JSON.parse(jsonText(manifestOf(run))) as object;
  return jsonText(withChecksum(manifest, utf8Bytes(metrics)));
}

/** The file of the environment that a run trains on; empty unless a person wrote the environment. */
export function environmentFiles({ environment }: PackedRun): readonly (readonly [string, string])[] {
  return environment ? [[environmentFileName(environment), environment.text]] : [];
}

/** metrics.jsonl: one line per update, such as `{"update": 3, "rollout/success": 0.5, …}`, ready for data frames. */
export function metricsFile(points: PackedRun['points']): string {
  const lines = byUpdate(points).map(([update, values]) => jsonText({ update, ...Object.fromEntries(values) }, 0));
  return lines.join('');
}

/** Names that are no longer metrics are left out. Throws ProblemError with the first bad line. */
export function readMetrics(bytes: Uint8Array): Map<MetricName, Points> {
  const curves = new Map<MetricName, { x: number[]; y: number[] }>();
  let last = -1;
  let line = 0;
  for (const { from, to } of lineRanges(bytes)) {
    line++;
    const values = readJson(FILE_NAMES.metrics, bytes.subarray(from, to), `line ${line}`);
    const update = isRecord(values) ? field(values, 'update') : undefined;
    if (!isRecord(values) || !isCount(update) || update <= last) {
      throw unreadable(`line ${line}`, update, 'rising updates');
    }
    last = update;
    for (const [key, value] of Object.entries(values)) {
      if (key === 'update') continue;
      if (typeof value !== 'number') throw unreadable(`line ${line}, ${key}`, value, 'a number');
      const name = metricNamed(key);
      if (!name) continue;
      const curve = curves.get(name) ?? { x: [], y: [] };
      curves.set(name, curve);
      curve.x.push(update);
      curve.y.push(value);
    }
  }
  return new Map(Array.from(curves, ([name, { x, y }]) => [name, { x: Uint32Array.from(x), y: Float64Array.from(y) }]));
}

const unreadable = (place: string, got: unknown, want: string) =>
  new ProblemError([{ file: FILE_NAMES.metrics, place, got: valueText(got), want, remedy: EXPORT_AGAIN_REMEDY }]);

/** The advice for a stored run that cannot be read. */
export const EXPORT_AGAIN_REMEDY = 'It is damaged or of another version: export the run again.';
