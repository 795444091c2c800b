import { contentHead, unpacked } from '../formats/compressed.ts';

/** How the message begins about a file in which no format was recognised. */
export const NO_METRICS = 'No metrics found.';

const NAMED_LOG = /tfevents|\.(?:log|out)(?=[.-]|$)/i;
const TABLE = /\.(?:csv|tsv)(?=[.-]|$)/i;
const TEXT = /\.(?:jsonl?|ndjson|txt)(?=[.-]|$)/i;
const TABLE_HEAD = /^"?(?:_?step|(?:train\/)?global_step|update)"?,/i;
/** How the output of `npm run train`, trainer_state.json, verl’s file logger and TRL’s lines begin. */
const TEXT_HEAD =
  /^\s*\{\s*(?:"(?:kind|update|best_global_step|best_metric|log_history)"\s*:|"step"\s*:\s*\d+\s*,\s*"data"|')/;

const HEAD_BYTES = 64;

/** How a file begins, unpacked if it is compressed by gzip. */
export async function logHead(file: Blob): Promise<string> {
  return (await contentHead(file, HEAD_BYTES)).text();
}

/** Whether a file is a log of metrics, by its name and its head. */
export function isMetricLog(path: string, head: string): boolean {
  if (NAMED_LOG.test(path)) return true;
  return (TABLE.test(path) && TABLE_HEAD.test(head)) || (TEXT.test(path) && TEXT_HEAD.test(head));
}

/** Whether a file is one that a job keeps beside its logs and rollouts: settings, tokenizers, indices, tables of a sweep. */
export function isBesideLogs(path: string): boolean {
  return /(?:^|\/)(?:table\.json|playground\.json|[^/]*(?:config|args|token|vocab|index|special)[^/]*\.json|\.[^/]*)$/i.test(
    path,
  );
}

/** A part of a log, which a logger has rotated: `metrics.jsonl.2` is older than `metrics.jsonl.1`, and that than `metrics.jsonl`. */
const PART = /^(.*\.(?:jsonl|ndjson|log|out|txt))\.(\d{1,3})(?:\.(?:zst|gz))?$/i;

export const logOfPart = (path: string) => path.replace(PART, '$1');

/** Which run a log is of. Each checkpoint of a Hugging Face Trainer has the log up to then, as `checkpoint-N/trainer_state.json`. */
export function runOfLog(path: string): string {
  return logOfPart(path).replace(/(^|\/)checkpoint-\d+\/(?=trainer_state\.json$)/, '$1');
}

/**
 * The files, of which the parts of a rotated log are joined to one under the log's own name, the oldest part first. A
 * part that can't be unpacked stays by itself.
 */
export async function joinedLogs<F extends { readonly path: string; readonly file: File }>(
  files: readonly F[],
): Promise<readonly (F | { readonly path: string; readonly file: File })[]> {
  const rotated = new Set(files.flatMap(({ path }) => (PART.test(path) ? logOfPart(path) : [])));
  const joined: (F | { readonly path: string; readonly file: File })[] = [];
  for (const path of rotated) {
    const ageOf = (part: F) => Number(PART.exec(part.path)?.[2] ?? -1);
    const texts: Blob[] = [];
    let lastModified = 0;
    for (const part of files.filter((each) => logOfPart(each.path) === path).toSorted((a, b) => ageOf(b) - ageOf(a))) {
      const text = await unpacked(part.file).catch(() => null);
      if (text) texts.push(text);
      else joined.push(part);
      lastModified = Math.max(lastModified, part.file.lastModified);
    }
    joined.push({ path, file: new File(texts, path, { lastModified }) });
  }
  return [...files.filter(({ path }) => !rotated.has(logOfPart(path))), ...joined];
}
