import { visible } from '../base/visible.ts';
import {
  FIRST_LINE,
  type FileLine,
  type LineStart,
  linesOf,
  MAX_LINE_BYTES,
  type SliceableFile,
} from '../formats/lines.ts';
import { openParquet, type ParquetRows } from '../formats/parquet.ts';
import { isCompressed, unpacked } from '../formats/compressed.ts';
import { type Columns, columnsOf } from './columns.ts';
import { type JsonRecord, isRecord } from '../base/jsonRecord.ts';
import { ProblemError } from '../base/problem.ts';
import type { RolloutFormat, ReadingContext } from './rolloutFormat.ts';
import { formatOf } from './rolloutFormats.ts';
import { field, shown } from './jsonFields.ts';
import { Locations } from './locations.ts';
import { GroupLabels } from './promptGroup.ts';
import { inReadingOrder } from './readingOrder.ts';
import { annotatedRun, annotationKey, keyOfTrace, withAnnotations } from './traceAnnotations.ts';
import type { SplitPattern } from './splitPattern.ts';
import type { RolloutRecord } from './rolloutRecord.ts';
import { type LineProblem, refusalOf, runOfPath, stepOfPath } from './fileRefusal.ts';
import { type PythonJson, readPythonJson } from './pythonJson.ts';

/** The object of a line. `nonFinite` counts its numbers that were NaN or infinite; these have become null. */
interface ParsedLine {
  readonly line: JsonRecord;
  readonly nonFinite: number;
}

const decoder = new TextDecoder('utf-8', { fatal: true });
const QUOTED_AROUND = 24; // characters shown around a fault

/** Parses a line of JSON Lines. Throws ProblemError if it is not UTF-8, not JSON or not an object. */
export function parseLine(bytes: Uint8Array): ParsedLine {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw new ProblemError({
      got: 'bytes that are not UTF-8 (perhaps Latin-1 or Windows-1252)',
      want: 'UTF-8: save the file in that encoding',
    });
  }
  const { value, nonFinite } = parse(text);
  if (!isRecord(value)) {
    const hint = Array.isArray(value) ? '; if the file is one list, write each entry on a line of its own' : '';
    throw new ProblemError({ got: shown(value), want: `one object per line${hint}` });
  }
  return { line: value, nonFinite };
}

function parse(text: string): PythonJson {
  try {
    return readPythonJson(text);
  } catch (error) {
    throw new ProblemError({
      got: `invalid JSON${placeOf(error, text)}`,
      want: 'one JSON object on a line of its own',
    });
  }
}

/** The place of a syntax error in `text`, from the JavaScript engine's message, with the text around it. */
function placeOf(error: unknown, text: string): string {
  const at = Number(/position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1] ?? NaN);
  if (Number.isNaN(at)) return ` (${shown(text.slice(0, QUOTED_AROUND))}${text.length > QUOTED_AROUND ? '…' : ''})`;
  return ` at character ${at + 1} (${shown(text.slice(Math.max(0, at - QUOTED_AROUND), at + QUOTED_AROUND))})`;
}

export interface NamedFile {
  readonly path: string;
  readonly file: SliceableFile;
  /** Of a file that a job may still be writing. A file with the key of an earlier one is that file, grown or written anew. */
  readonly key?: string;
}

export interface FileReport {
  readonly path: string;
  readonly bytes: number;
  readonly format: string | null; // label; null: not recognised (yet)
  readonly rollouts: number;
  readonly badLines: number;
  readonly nonFinite: number; // numbers that were NaN or infinite, read as absent
  readonly guessed: readonly string[];
}

export interface OpenProgress {
  readonly block: Columns;
  readonly groups: ReadonlyMap<number, string>; // by index, labels of new groups and labels that changed
  readonly problems: readonly LineProblem[];
  readonly withdrawn: readonly Withdrawn[];
  readonly files: readonly FileReport[]; // all files opened so far, without withdrawn ones
  readonly bytes: number; // read so far
  readonly totalBytes: number; // of all files
}

/** A file whose rollouts no longer count, because it was written anew. Those in view can still be read. */
export interface Withdrawn {
  readonly index: number; // as in the column `file`
  readonly path: string;
}

interface OpenFile {
  readonly path: string;
  readonly key: string | null;
  file: SliceableFile; // unpacked, if it was compressed
  readonly index: number;
  readonly run: string; // files of one run share it
  format: RolloutFormat | null;
  parquet: ParquetRows | null;
  readTo: LineStart; // of a file that grows: the first line that has not been read
  withdrawn: boolean;
  report: FileReport;
}

const ANNOTATIONS_LABEL = 'prime-rl annotations';
const HEAD_BYTES = 256; // that show the kind of a file
const COMPARED_BYTES = 256; // before the first unread line, to tell a file that grew from one that was written anew
const MAX_FAILED_LINES = 20; // unreadable lines at the start, after which a file is given up
const ROWS_PER_RESULT = 1000; // a search yields its hits after this many rows
const MAX_LISTED_PROBLEMS = 500; // listed one by one; further ones are only counted

/** Only the place of each rollout is kept in memory; the text is read again when the rollout is shown. */
export class Library {
  readonly #files: OpenFile[] = [];
  readonly #locations = new Locations();
  readonly #groups = new Map<string, number>();
  readonly #groupLabels = new Map<string, GroupLabels>(); // by run
  #problemCount = 0;

  get rows(): number {
    return this.#locations.rows;
  }

  /**
   * Reads files and yields what it found after each chunk. Of a file that it knows by its key, it reads what was added.
   * `gone`: the keys of files whose rollouts no longer count. Never throws because of a file's content.
   */
  async *open(
    files: readonly NamedFile[],
    pattern: SplitPattern,
    gone: readonly string[] = [],
  ): AsyncGenerator<OpenProgress> {
    const sorted = inReadingOrder(files);
    const totalBytes = sorted.reduce((sum, { file }) => sum + file.size, 0);
    const progress = (found: Found, bytes: number): OpenProgress => ({
      ...found,
      withdrawn: this.#newlyWithdrawn.splice(0),
      files: this.#files.filter((each) => !each.withdrawn && !isOther(each)).map(({ report }) => report),
      ...{ bytes, totalBytes },
    });
    for (const key of gone) this.#withdraw(this.#known(key));
    if (this.#newlyWithdrawn.length > 0) yield progress({ ...this.#emptyBlock(), problems: [] }, 0);
    let [bytesBefore, samePathCount] = [0, 0];
    let pathBefore: string | null = null;
    for (const named of sorted) {
      // files with the same path belong to different runs: dropped one by one, they lose the names of their folders
      samePathCount = named.path === pathBefore ? samePathCount + 1 : 0;
      pathBefore = named.path;
      const run = `${samePathCount} ${runOfPath(named.path)}`;
      const openFile = (await this.#carriedOn(named)) ?? this.#newFile(named, run);
      for await (const found of this.#readFile(openFile, pattern)) yield progress(found, bytesBefore + found.bytes);
      bytesBefore += named.file.size;
    }
  }

  readonly #newlyWithdrawn: Withdrawn[] = [];

  #known(key: string | undefined): OpenFile | undefined {
    return key === undefined ? undefined : this.#files.findLast((each) => each.key === key && !each.withdrawn);
  }

  #withdraw(openFile: OpenFile | undefined): void {
    if (!openFile) return;
    openFile.withdrawn = true;
    this.#newlyWithdrawn.push({ index: openFile.index, path: visible(openFile.path) });
  }

  #newFile({ path, file, key }: NamedFile, run: string): OpenFile {
    const report = { path, bytes: file.size, format: null, rollouts: 0, badLines: 0, nonFinite: 0, guessed: [] };
    const unread = { format: null, parquet: null, readTo: FIRST_LINE, withdrawn: false };
    const openFile: OpenFile = { path, key: key ?? null, file, index: this.#files.length, run, ...unread, report };
    this.#files.push(openFile);
    return openFile;
  }

  /** The file of this key, if its lines carry on where reading stopped. Otherwise it is withdrawn: it was written anew. */
  async #carriedOn({ file, key }: NamedFile): Promise<OpenFile | null> {
    const known = this.#known(key);
    if (!known) return null;
    const { offset } = known.readTo;
    const tail = async (of: SliceableFile) =>
      new Uint8Array(await of.slice(Math.max(0, offset - COMPARED_BYTES), offset).arrayBuffer());
    const content = await unpacked(file).catch(() => file);
    const [before, now] = [await tail(known.file), await tail(content)];
    if (offset > 0 && now.length === before.length && now.every((byte, i) => byte === before[i])) {
      known.file = content;
      known.report = { ...known.report, bytes: file.size };
      return known;
    }
    this.#withdraw(known);
    return null;
  }

  /** Reads a rollout again from its place. Throws ProblemError if that is no longer possible. */
  async read(row: number, pattern: SplitPattern): Promise<RolloutRecord> {
    const { file: index, offset, length, indexInLine } = this.#locations.at(row);
    const openFile = this.#files[index];
    if (!openFile) throw new ProblemError({ got: `rollout ${row}`, want: `one of 0 to ${this.rows - 1}` });
    if (openFile.parquet) {
      const [line] = await openFile.parquet.read(offset, offset + 1);
      return recordOf(openFile, line ?? {}, indexInLine, contextOf(pattern, openFile.parquet));
    }
    const { line } = await parsedLine(openFile, { offset, length });
    return recordOf(openFile, await this.#annotated(openFile, line), indexInLine, contextOf(pattern));
  }

  /** Ignores case. `share` is the progress, 0 to 1. Throws if a file is gone. */
  async *search(
    words: string,
    pattern: SplitPattern,
    from = 0,
  ): AsyncGenerator<{ readonly rows: number[]; readonly share: number }> {
    const needle = words.toLowerCase();
    // ASCII letters and digits appear in the line unchanged; blanks and other signs may be escaped there, or added by this page
    const alphanumerics = needle.match(/[a-z0-9]+/g) ?? [];
    const decoder = new TextDecoder();
    let found: number[] = [];
    for (let row = from; row < this.rows; row++) {
      const { file: index, offset, length } = this.#locations.at(row);
      const searchable = alphanumerics.length > 0 && this.#files[index]?.parquet === null;
      const line = searchable ? decoder.decode(await this.#lineBytes(index, offset, length)).toLowerCase() : null;
      if (line === null || alphanumerics.every((part) => line.includes(part))) {
        const record = await this.read(row, pattern).catch((error: unknown) => {
          if (error instanceof ProblemError) return null; // a line that has changed contains no hits
          throw error;
        });
        if (record && contains(record, needle)) found.push(row);
      }
      if (row % ROWS_PER_RESULT !== ROWS_PER_RESULT - 1) continue;
      yield { rows: found, share: row / this.rows };
      found = [];
    }
    yield { rows: found, share: 1 };
  }

  /** The places of the annotations of traces, by `annotationKey`; they are read again, because they can be large. */
  readonly #annotations = new Map<
    string,
    { readonly openFile: OpenFile; readonly line: Pick<FileLine, 'offset' | 'length'> }[]
  >();

  /** The object of a line, with the annotations that were read for it. */
  async #annotated({ path }: OpenFile, object: JsonRecord): Promise<JsonRecord> {
    const allPlaces = this.#annotations.get(keyOfTrace(path, object) ?? '') ?? [];
    const places = allPlaces.filter(({ openFile }) => !openFile.withdrawn);
    if (places.length === 0) return object;
    const annotations = await Promise.all(places.map(({ openFile, line }) => parsedLine(openFile, line)));
    return withAnnotations(
      object,
      annotations.map(({ line }) => line),
    );
  }

  #readWindow: { readonly file: number; readonly from: number; readonly bytes: Uint8Array } | null = null;

  /** The bytes of a line, from a window that moves along the file so that a search reads each megabyte once. */
  async #lineBytes(file: number, offset: number, length: number): Promise<Uint8Array> {
    const window = this.#readWindow;
    if (window?.file === file && offset >= window.from && offset + length <= window.from + window.bytes.length) {
      return window.bytes.subarray(offset - window.from, offset - window.from + length);
    }
    const slices = this.#files[file]?.file;
    const to = Math.min(slices?.size ?? 0, offset + Math.max(length, 4 * 2 ** 20));
    const bytes = new Uint8Array((await slices?.slice(offset, to).arrayBuffer()) ?? new ArrayBuffer(0));
    this.#readWindow = { file, from: offset, bytes };
    return bytes.subarray(0, length);
  }

  async *#readFile(openFile: OpenFile, pattern: SplitPattern): AsyncGenerator<Found & Pick<OpenProgress, 'bytes'>> {
    const grows = openFile.key !== null;
    try {
      if (openFile.readTo.offset > 0) {
        yield* this.#readLines(openFile, pattern);
        return;
      }
      const readHead = async () =>
        new Uint8Array(await openFile.file.slice(0, Math.min(openFile.file.size, HEAD_BYTES)).arrayBuffer());
      let head = await readHead();
      // names the file before it is decoded, in case that never ends
      if (isCompressed(head) || isParquet(head)) yield { ...this.#emptyBlock(), problems: [], bytes: 0 };
      if (isCompressed(head)) {
        openFile.file = await unpacked(openFile.file);
        head = await readHead();
      }
      const refusal = refusalOf(head, openFile.file.size);
      if (refusal)
        yield {
          ...this.#emptyBlock(),
          problems: this.#noteProblem(openFile, null, refusal),
          bytes: openFile.file.size,
        };
      else if (isParquet(head)) yield* this.#readParquet(openFile, pattern);
      else yield* this.#readLines(openFile, pattern);
      const { rollouts, badLines, format } = openFile.report;
      if (rollouts === 0 && !refusal && badLines === 0 && !grows && format !== ANNOTATIONS_LABEL) {
        const noRollouts = { got: 'no rollouts', want: 'one line or row for each rollout' };
        yield {
          ...this.#emptyBlock(),
          problems: this.#noteProblem(openFile, null, noRollouts),
          bytes: openFile.file.size,
        };
      }
    } catch (error) {
      // the file was removed or changed on disk
      yield {
        ...this.#emptyBlock(),
        problems: this.#noteProblem(openFile, null, complaintOf(error, 'a file that can be read')),
        bytes: openFile.file.size,
      };
    }
  }

  async *#readLines(openFile: OpenFile, pattern: SplitPattern): AsyncGenerator<Found & Pick<OpenProgress, 'bytes'>> {
    const isGivenUp = () => !openFile.format && openFile.report.badLines >= MAX_FAILED_LINES;
    if (isGivenUp()) return; // before it grew
    for await (const lines of linesOf(openFile.file, undefined, openFile.readTo)) {
      const foundRollouts: FoundRollout[] = [];
      const problems: LineProblem[] = [];
      for (const line of lines) {
        try {
          foundRollouts.push(...(await this.#readLine(openFile, line, pattern)));
        } catch (error) {
          if (openFile.key !== null && !line.hasLineEnd) break; // the rest of the line is still to come
          const complaint = line.hasLineEnd ? complaintOf(error, 'a rollout') : cutOffComplaint(error);
          problems.push(...this.#noteProblem(openFile, line.number, complaint));
        }
        const { number, offset, length, hasLineEnd } = line;
        openFile.readTo = { number: number + Number(hasLineEnd), offset: offset + length + Number(hasLineEnd) };
        if (isGivenUp()) break;
      }
      const end = lines.at(-1);
      yield { ...this.#addRollouts(foundRollouts), problems, bytes: end ? end.offset + end.length : 0 };
      if (isGivenUp()) {
        const noFormat = {
          got: `no rollout in its first ${MAX_FAILED_LINES} lines`,
          want: 'JSON Lines of a known format; the rest was not read',
        };
        yield {
          ...this.#emptyBlock(),
          problems: this.#noteProblem(openFile, null, noFormat),
          bytes: openFile.file.size,
        };
        return;
      }
    }
  }

  async #readLine(openFile: OpenFile, line: FileLine, pattern: SplitPattern): Promise<FoundRollout[]> {
    if (!line.bytes) {
      const maxMegabytes = MAX_LINE_BYTES / 2 ** 20;
      throw new ProblemError({
        got: `a line of ${(line.length / 2 ** 20).toFixed(0)} MB`,
        want: `at most ${maxMegabytes} MB`,
      });
    }
    const { line: object, nonFinite } = parseLine(line.bytes);
    const run = annotatedRun(openFile.path, object);
    if (run !== null) {
      const key = annotationKey(run, field(object, 'trace_id'));
      this.#annotations.set(key, [...(this.#annotations.get(key) ?? []), { openFile, line }]);
      openFile.report = { ...openFile.report, format: ANNOTATIONS_LABEL };
      return [];
    }
    const annotated = this.#annotations.size > 0 ? await this.#annotated(openFile, object) : object;
    const foundRollouts = this.#readObject(openFile, annotated, line, contextOf(pattern));
    openFile.report = { ...openFile.report, nonFinite: openFile.report.nonFinite + nonFinite };
    return foundRollouts;
  }

  /** The rollouts of a line or a row. The first one that can be read determines the file's format. */
  #readObject(
    openFile: OpenFile,
    object: JsonRecord,
    { offset, length }: Pick<FileLine, 'offset' | 'length'>,
    context: ReadingContext,
  ): FoundRollout[] {
    const format = openFile.format ?? formatOf(object);
    const records = format.read(object, context);
    const [first] = records;
    openFile.format = format;
    const { report } = openFile;
    openFile.report = {
      ...report,
      format: format.label,
      rollouts: report.rollouts + records.length,
      guessed: report.guessed.length > 0 ? report.guessed : (first?.guessed ?? []),
    };
    const file = openFile.index;
    return records.map((record, indexInLine) => ({
      ...{ record: withStep(record, openFile.path), file, indexInLine, offset, length },
    }));
  }

  async *#readParquet(openFile: OpenFile, pattern: SplitPattern): AsyncGenerator<Found & Pick<OpenProgress, 'bytes'>> {
    const parquet = await openParquet(openFile.file);
    const context = contextOf(pattern, parquet);
    for (const [from, to] of parquet.rowGroups) {
      const foundRollouts: FoundRollout[] = [];
      const problems: LineProblem[] = [];
      const rows = await parquet.read(from, to);
      rows.forEach((row, i) => {
        try {
          foundRollouts.push(...this.#readObject(openFile, row, { offset: from + i, length: 1 }, context));
        } catch (error) {
          problems.push(...this.#noteProblem(openFile, from + i + 1, complaintOf(error, 'a rollout')));
        }
      });
      openFile.parquet = parquet;
      yield { ...this.#addRollouts(foundRollouts), problems, bytes: openFile.file.size };
    }
  }

  #addRollouts(foundRollouts: readonly FoundRollout[]): Pick<OpenProgress, 'block' | 'groups'> {
    const newGroups = new Map<number, RolloutRecord>();
    const run = this.#files[foundRollouts[0]?.file ?? -1]?.run ?? ''; // found in one file
    const groupOf = ({ record }: FoundRollout) => {
      if (record.group === null) return -1;
      // group names are only unique within a run and a step
      const key = `${record.step} ${record.group} ${run}`;
      const index = this.#groups.get(key) ?? this.#groups.size;
      if (!this.#groups.has(key)) newGroups.set(index, record);
      this.#groups.set(key, index);
      return index;
    };
    for (const place of foundRollouts) this.#locations.append(place);
    const block = columnsOf(foundRollouts, groupOf);
    const labels = this.#groupLabels.get(run) ?? new GroupLabels();
    this.#groupLabels.set(run, labels);
    return { block, groups: labels.label(newGroups) };
  }

  #emptyBlock(): Pick<OpenProgress, 'block' | 'groups'> {
    return { block: columnsOf([], () => -1), groups: new Map() };
  }

  #noteProblem(openFile: OpenFile, line: number | null, { got, want }: Complaint): LineProblem[] {
    openFile.report = { ...openFile.report, badLines: openFile.report.badLines + Number(line !== null) };
    if (isOther(openFile)) return [];
    return ++this.#problemCount > MAX_LISTED_PROBLEMS ? [] : [{ file: visible(openFile.path), line, got, want }];
  }
}

/** Whether a file is one of JSON that a job in a watched folder keeps for itself, as far as it has been read. */
function isOther({ key, path, format }: OpenFile): boolean {
  return key !== null && format === null && /\.json(?:\.(?:zst|gz))?$/i.test(path);
}

type Found = Pick<OpenProgress, 'block' | 'groups' | 'problems'>;

interface FoundRollout {
  readonly record: RolloutRecord;
  readonly file: number;
  readonly offset: number; // in bytes; in a Parquet file, the row
  readonly length: number;
  readonly indexInLine: number; // index among the rollouts of the line
}

/** Whether a rollout's segments, task or id contain `words`, which are in lower case. */
function contains({ segments, task, id }: RolloutRecord, words: string): boolean {
  return [...segments.map(({ text }) => text), task, id].some((text) => text?.toLowerCase().includes(words) ?? false);
}

async function parsedLine(
  { file }: OpenFile,
  { offset, length }: Pick<FileLine, 'offset' | 'length'>,
): Promise<ParsedLine> {
  return parseLine(new Uint8Array(await file.slice(offset, offset + length).arrayBuffer()));
}

function isParquet(head: Uint8Array): boolean {
  return String.fromCharCode(...head.subarray(0, 4)) === 'PAR1';
}

/** The context for reading lines, or the rows of a Parquet file. */
function contextOf(pattern: SplitPattern, parquet: ParquetRows | null = null): ReadingContext {
  return { pattern, wholeNumbers: parquet?.wholeNumbers ?? NO_COLUMNS };
}
const NO_COLUMNS: ReadonlySet<string> = new Set();

/** The rollout of a line or a row that is read again. Throws ProblemError if the file has changed. */
function recordOf(openFile: OpenFile, line: JsonRecord, indexInLine: number, context: ReadingContext): RolloutRecord {
  const record = openFile.format?.read(line, context)[indexInLine];
  if (!record)
    throw new ProblemError({
      got: `a file that has changed`,
      want: 'the file as it was when it was opened: open it again',
    });
  return withStep(record, openFile.path);
}

/** The record; if it has no step, with the step that the file's path names. */
function withStep(record: RolloutRecord, path: string): RolloutRecord {
  return record.step === null ? { ...record, step: stepOfPath(path) } : record;
}

type Complaint = Pick<LineProblem, 'got' | 'want'>;

function complaintOf(error: unknown, want: string): Complaint {
  const [problem] = error instanceof ProblemError ? error.problems : [];
  if (problem) return problem;
  // any other error, for example of a damaged Parquet file: show its message and go on
  return { got: `something unreadable (${error instanceof Error ? error.message : String(error)})`, want };
}

/** The complaint about an unreadable last line that has no line end. */
function cutOffComplaint(error: unknown): Complaint {
  const { got, want } = complaintOf(error, 'a rollout');
  return { got: `${got}, where the file ends (its last line may be cut off)`, want: `${want} and a line end` };
}
