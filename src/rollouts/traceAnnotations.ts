import { isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import { field, numberOrNull, numbersOrNull, objectAt, objectListAt, textOrNull } from './jsonFields.ts';

/** The lists of an annotation that have an entry for each token of a branch. */
const LISTS = ['advantages', 'trainer_logprobs', 'entropies', 'mismatch_kl'] as const;
const ANNOTATION_PATH = /^(.*?)annotations\/[^/]+\/[^/]+$/;
const STREAM_PATH = /^(.*?)stream\/[^/]+$/;

/** For prime-rl's files of annotations, `traces/annotations/<producer>/N.jsonl` beside `traces/stream/N.jsonl`; else null. */
export function annotatedRun(path: string, line: JsonRecord): string | null {
  const run = ANNOTATION_PATH.exec(path)?.[1];
  return run !== undefined && field(line, 'trace_id') !== undefined && field(line, 'nodes') === undefined ? run : null;
}

/** The key of a trace's annotations. `run` is the folder of `annotations` and `stream`. */
export function annotationKey(run: string, traceId: unknown): string {
  return JSON.stringify([run, traceId]);
}

/** The key of the annotations of a line in a stream of traces; null if the line can't have any. */
export function keyOfTrace(path: string, line: JsonRecord): string | null {
  const run = STREAM_PATH.exec(path)?.[1];
  const id = textOrNull(line, 'id');
  return run === undefined || id === null ? null : annotationKey(run, id);
}

/**
 * A trace with its annotations, oldest first. A newer one replaces the values of an older one. A node takes the values
 * at its sampled tokens, and only if none of them is null. Source: fold_trace_updates in prime-rl,
 * monitors/file/traces/update.py.
 */
export function withAnnotations(trace: JsonRecord, annotations: readonly JsonRecord[]): JsonRecord {
  const nodes = objectListAt(trace, 'nodes').map((node): Record<string, unknown> => ({ ...node }));
  const paths = branchesOf(nodes);
  let info = objectAt(trace, 'info');
  for (const annotation of annotations) {
    info = { ...info, ...objectAt(annotation, 'info') };
    for (const branch of objectListAt(annotation, 'branches')) {
      const path = paths[numberOrNull(branch, 'index') ?? 0] ?? [];
      for (const name of LISTS) setValues(path, name, numbersOrNull(branch, name));
    }
  }
  return { ...trace, nodes, info };
}

function setValues(path: readonly Record<string, unknown>[], name: string, list: readonly (number | null)[] | null) {
  let from = 0;
  for (const node of path) {
    const mask = numbersOrNull(node, 'mask') ?? [];
    const values = (list ?? []).slice(from, from + mask.length).filter((_, i) => mask[i] === 1);
    from += mask.length;
    if (values.length > 0 && values.length === mask.filter((entry) => entry === 1).length && !values.includes(null))
      node[name] = values;
  }
}

/** For each leaf, in the order of the nodes, the nodes from the root to it. */
function branchesOf(nodes: readonly Record<string, unknown>[]): (readonly Record<string, unknown>[])[] {
  const parents = nodes.map((node, i) => {
    const parent = isRecord(node) ? numberOrNull(node, 'parent') : null;
    return parent !== null && parent >= 0 && parent < i ? parent : null;
  });
  return nodes.flatMap((_, leaf) => {
    if (parents.includes(leaf)) return [];
    const path: Record<string, unknown>[] = [];
    for (let at: number | null = leaf; at !== null; at = parents[at] ?? null) path.unshift(nodes[at] ?? {});
    return [path];
  });
}
