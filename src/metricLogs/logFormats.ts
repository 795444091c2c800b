import Papa from 'papaparse';
import { field, isRecord, jsonLines, type JsonRecord } from '../base/jsonRecord.ts';
import { ProblemError } from '../base/problem.ts';
import { visible } from '../base/visible.ts';
import { isEventFile, readScalars } from '../formats/tfevents.ts';
import { FORMATS } from '../rollouts/rolloutFormats.ts';
import { readPythonJson } from '../rollouts/pythonJson.ts';
import { NO_METRICS } from './logFiles.ts';
import type { LogEntry } from './metricLog.ts';

/** Names of a step, the best first: wandb counts calls of its own in `_step`. */
const STEP_NAMES = [
  ...['train/global_step', 'training/global_step', 'global_step', 'step', 'Step'],
  ...['update', '_step', 'iteration'],
];
const NOT_METRICS = new Set([...STEP_NAMES, '_runtime', '_timestamp', 'timestamp', 'time']);
const READABLE =
  'Readable are trainer_state.json, JSON Lines, console logs of TRL and verl, CSV with a column “step”, and TensorBoard’s event files.';

/** Reads a log of metrics in any of the formats. Throws ProblemError with the line that can't be read. */
export function readEntries(bytes: Uint8Array): readonly LogEntry[] {
  if (isEventFile(bytes)) {
    return Array.from(readScalars(bytes), ([step, scalars]) => ({ step, values: new Map(scalars) }));
  }
  const text = new TextDecoder().decode(bytes); // drops a byte order mark
  if (text.includes('\0')) throw new ProblemError(`This isn’t text. ${READABLE}`);
  const entries = /^\s*[[{]\s*["\]}{[]/.test(text) ? jsonEntries(text) : (consoleEntries(text) ?? tableEntries(text));
  if (!entries || entries.length === 0) throw new ProblemError(`${NO_METRICS} ${READABLE}`);
  return entries;
}

/** `trainer_state.json`, a list of records, or JSON Lines. */
function jsonEntries(text: string): readonly LogEntry[] {
  const whole = parsedOrNull(text);
  const history = isRecord(whole) ? field(whole, 'log_history') : whole;
  if (Array.isArray(history)) {
    const at = history.findIndex((record) => !isRecord(record));
    if (at >= 0) throw new ProblemError(`Entry ${at + 1} of log_history isn’t an object. Give the file as it was written.`); // prettier-ignore
    return entriesOf(history as JsonRecord[]);
  }
  if (/^\s*\{[^{]*"log_history"/.test(text)) readPythonJson(text); // throws SyntaxError with the position
  const records: JsonRecord[] = [];
  for (const { number, line, record, isLast } of jsonLines(text)) {
    const value = record ?? parsedOrNull(line);
    if (isRecord(value)) records.push(value);
    else if (!(isLast && records.length > 0)) {
      // a last line may be cut off: the program was stopped, or is still writing
      throw new ProblemError({ line: number, got: line, want: 'a JSON object', remedy: 'Give the file as it was written.' }); // prettier-ignore
    }
  }
  return entriesOf(records);
}

function parsedOrNull(text: string): unknown {
  try {
    return readPythonJson(text).value;
  } catch {
    return null;
  }
}

/** verl's file logger has the metrics under `data`. Records without a step are left out; if none has one, they are counted. */
function entriesOf(records: readonly JsonRecord[]): readonly LogEntry[] {
  const rollouts = records[0] && FORMATS.find(({ recognises }) => recognises(records[0]!));
  if (rollouts)
    throw new ProblemError(`These are rollouts (${rollouts.label}), not metrics. Open them under Rollouts.`);
  const flat = records.map((record) => {
    const data = field(record, 'data');
    return new Map(Object.entries(isRecord(data) ? { ...record, ...data } : record));
  });
  return numbered(
    flat.map((fields) => new Map(Array.from(fields, ([name, value]) => [name, numberOf(value)] as const))),
  );
}

/** A number, or a text that is one as Python writes it; null for anything else, NaN if it isn't finite. */
function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return null;
  const bare = /^(?:np\.float\d+|np\.int\d+|tensor)\(([^,)]+).*\)$/.exec(value.trim())?.[1] ?? value.trim();
  if (/^[-+]?(?:nan|inf(?:inity)?)$/i.test(bare)) return NaN;
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(bare) ? Number(bare) : null;
}

/** Gives each record its step. The best name that any record has counts for all. */
function numbered(records: readonly ReadonlyMap<string, number | null>[]): readonly LogEntry[] {
  const stepName = STEP_NAMES.find((name) => records.some((fields) => typeof fields.get(name) === 'number'));
  let count = 0;
  return records.flatMap((fields) => {
    const values = new Map(Array.from(fields).filter((pair): pair is [string, number] => pair[1] !== null && !NOT_METRICS.has(pair[0]))); // prettier-ignore
    if (values.size === 0) return [];
    // Trainer prints evaluations and its last summary in dicts of their own, which belong to the entry before
    if (stepName === undefined) return [{ step: [...values.keys()].every((name) => BESIDE_ENTRY.test(name)) ? count : ++count, values }]; // prettier-ignore
    const step = fields.get(stepName);
    return typeof step === 'number' ? [{ step, values }] : [];
  });
}

const BESIDE_ENTRY = /^(?:eval_|train_|epoch$|num_tokens$|step_time$)/;
const VERL_LINE = /\bstep:(\d+) - (\S.*)$/; // verl/utils/logger/aggregate_logger.py; Ray writes the process before it
const PYTHON_DICT = /\{\s*'[^{}\n]*\}/g; // PrinterCallback, or beside tqdm's bar
const DICT_PAIR = /(["'])([^"']+)\1:\s*(?:(["'])([^"']*)\3|([^,{}"']+(?:\([^)]*\))?))/g;
const COLOUR = /\p{Cc}\[[\d;]*m/gu; // ANSI: an escape character, then this

/** Lines that verl or TRL printed, among others; null if there are none. */
function consoleEntries(text: string): readonly LogEntry[] | null {
  const lines = text.replaceAll(COLOUR, '').split(/[\n\r]+/);
  const ofVerl = lines.flatMap((line): ReadonlyMap<string, number | null>[] => {
    const [, step, pairs = ''] = VERL_LINE.exec(line) ?? [];
    if (step === undefined) return [];
    const fields = pairs.split(' - ').map((pair) => {
      const colon = pair.lastIndexOf(':');
      return [pair.slice(0, Math.max(0, colon)), numberOf(pair.slice(colon + 1))] as const;
    });
    return [new Map<string, number | null>([...fields, ['step', Number(step)]])];
  });
  if (ofVerl.length > 0) return numbered(ofVerl);
  const dicts = lines.flatMap((line) => Array.from(line.matchAll(PYTHON_DICT), ([dict]) => dict));
  const fields = dicts.map(
    (dict) =>
      new Map(Array.from(dict.matchAll(DICT_PAIR), (match) => [match[2] ?? '', numberOf(match[4] ?? match[5])])),
  );
  // Trainer writes the epoch into each of its dicts; without one it is a model's settings or another print
  const ofTrainer = fields.filter((each) => each.has('epoch'));
  return fields.length > 0 ? numbered(ofTrainer.length > 0 ? ofTrainer : fields) : null;
}

/** CSV that wandb, trackio or the page wrote: a column with the step, and a column for each metric; null for other text. */
function tableEntries(text: string): readonly LogEntry[] | null {
  const { data, errors } = Papa.parse<readonly string[]>(text.trimEnd(), { skipEmptyLines: true });
  const [head = [], ...rows] = data;
  const isCut = !/\n\s*$/.test(text) && rows.length > 0 && rows.at(-1)!.length < head.length;
  if (isCut) rows.pop(); // the program was stopped, or is still writing
  const stepName = STEP_NAMES.find((name) => head.includes(name));
  if (stepName === undefined || head.length < 2) return null;
  const badQuote = errors.find(({ type }) => type === 'Quotes');
  const bad = rows.findIndex((cells) => cells.length !== head.length);
  if (badQuote || bad >= 0) {
    const line = (badQuote?.row ?? bad + 1) + 1;
    const got = badQuote ? 'a quote that isn’t closed' : `${rows[bad]!.length} cells`;
    throw new ProblemError({ line, got, want: `${head.length} cells, as in the first line`, remedy: 'Export it again.' }); // prettier-ignore
  }
  const stepColumn = head.indexOf(stepName);
  for (const [i, cells] of rows.entries()) {
    const cell = cells[stepColumn] ?? '';
    if (cell !== '' && numberOf(cell) === null)
      throw new ProblemError({ line: i + 2, place: stepName, got: visible(cell), want: 'a step', remedy: 'Export it again.' }); // prettier-ignore
  }
  return numbered(rows.map((cells) => new Map(cells.map((cell, i) => [head[i] ?? '', numberOf(cell)]))));
}
