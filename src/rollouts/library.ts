import { visible } from '../base/visible.ts';
import { type FileLine, linesOf, MOST_LINE_BYTES, type Slices } from '../formats/lines.ts';
import { openParquet, type ParquetRows } from '../formats/parquet.ts';
import { type Columns, columnsOf } from './columns.ts';
import type { JsonRecord } from '../base/jsonRecord.ts';
import { ProblemError } from '../base/problem.ts';
import type { Format, ReadingContext } from './rolloutFormat.ts';
import { formatOf } from './rolloutFormats.ts';
import { parseLine } from './jsonLine.ts';
import { Locations } from './locations.ts';
import type { SplitPattern } from './splitPattern.ts';
import type { RolloutRecord } from './rolloutRecord.ts';
import { type LineProblem, refusalOf, runOfPath, stepOfPath } from './fileRefusal.ts';

/** A file to read, with the path it has in the folder it was given in. */
export interface NamedFile {
  readonly path: string;
  readonly file: Slices;
}

/** What is known of a file by now. */
export interface FileReport {
  readonly path: string;
  readonly bytes: number;
  readonly format: string | null; // label; null: none was recognised
  readonly rollouts: number;
  readonly badLines: number;
  readonly nonFinite: number; // numbers that were NaN or infinite, read as absent
  readonly guessed: readonly string[];
}

/** What opening files has found since it was last asked. */
export interface Opened {
  readonly block: Columns;
  readonly groups: readonly string[]; // names of groups, after those that are known
  readonly problems: readonly LineProblem[];
  readonly files: readonly FileReport[]; // all so far
  readonly bytes: number; // read
  readonly of: number; // bytes there are
}

interface OpenFile extends NamedFile {
  readonly index: number;
  readonly run: string; // files of one run share it
  format: Format | null;
  parquet: ParquetRows | null;
  report: FileReport;
}

const MOST_TRIES = 20; // lines without a format before a file is given up
const SEARCHED_AT_ONCE = 1000;
const MOST_PROBLEMS = 500; // told one by one; all are counted

/** Files of rollouts, read by slices: where each rollout lies is kept, its text is read again when it is looked at. */
export class Library {
  readonly #files: OpenFile[] = [];
  readonly #locations = new Locations();
  readonly #groups = new Map<string, number>();
  #told = 0;

  /** Rollouts that are known. */
  get rows(): number {
    return this.#locations.rows;
  }

  /** Reads files through and tells what it finds on the way, after each chunk. Never throws for what a file holds. */
  async *open(files: readonly NamedFile[], pattern: SplitPattern): AsyncGenerator<Opened> {
    const sorted = [...files].sort((a, b) => a.path.localeCompare(b.path, 'en', { numeric: true }));
    const all = sorted.reduce((sum, { file }) => sum + file.size, 0);
    let [before, alike] = [0, 0];
    for (const { path, file } of sorted) {
      const report = { path, bytes: file.size, format: null, rollouts: 0, badLines: 0, nonFinite: 0, guessed: [] };
      // files of one path are of different runs: dropped one by one, they have lost their folders
      alike = path === this.#files.at(-1)?.path ? alike + 1 : 0;
      const known = { index: this.#files.length, run: `${alike} ${runOfPath(path)}` };
      const open: OpenFile = { path, file, ...known, format: null, parquet: null, report };
      this.#files.push(open);
      for await (const found of this.#read(open, pattern)) {
        yield { ...found, files: this.#files.map((each) => each.report), bytes: before + found.bytes, of: all };
      }
      before += file.size;
    }
  }

  /** A rollout, read again from its place. Throws ProblemError where it cannot be read any more. */
  async read(row: number, pattern: SplitPattern): Promise<RolloutRecord> {
    const { file: index, offset, length, part } = this.#locations.at(row);
    const open = this.#files[index];
    if (!open) throw new ProblemError({ got: `rollout ${row}`, want: `one of 0 to ${this.rows - 1}` });
    if (open.parquet) {
      const [line] = await open.parquet.read(offset, offset + 1);
      return recordOf(open, line ?? {}, part, contextOf(pattern, open.parquet));
    }
    const bytes = new Uint8Array(await open.file.slice(offset, offset + length).arrayBuffer());
    return recordOf(open, parseLine(bytes).line, part, contextOf(pattern));
  }

  /** Finds the rows whose text contains `words`, ignoring case, one file after another. `share` is the progress, 0 to 1. Throws if a file is gone. */
  async *search(
    words: string,
    pattern: SplitPattern,
  ): AsyncGenerator<{ readonly rows: number[]; readonly share: number }> {
    const wanted = words.toLowerCase();
    // letters and digits in a row stand in the line as they are; blanks and signs around them may be of this page, or escaped
    const literal = wanted.match(/[a-z0-9]+/g) ?? [];
    const decoder = new TextDecoder();
    let found: number[] = [];
    for (let row = 0; row < this.rows; row++) {
      const { file: index, offset, length } = this.#locations.at(row);
      const lines = literal.length > 0 && this.#files[index]?.parquet === null;
      const line = lines ? decoder.decode(await this.#bytes(index, offset, length)).toLowerCase() : null;
      if (line === null || literal.every((part) => line.includes(part))) {
        const record = await this.read(row, pattern).catch((error: unknown) => {
          if (error instanceof ProblemError) return null; // a line that has changed says nothing
          throw error;
        });
        if (record && says(record, wanted)) found.push(row);
      }
      if (row % SEARCHED_AT_ONCE !== SEARCHED_AT_ONCE - 1) continue;
      yield { rows: found, share: row / this.rows };
      found = [];
    }
    yield { rows: found, share: 1 };
  }

  #window: { readonly file: number; readonly from: number; readonly bytes: Uint8Array } | null = null;

  /** Bytes of a line, out of a window that moves along the file: a search reads each megabyte once. */
  async #bytes(file: number, offset: number, length: number): Promise<Uint8Array> {
    const window = this.#window;
    if (window?.file === file && offset >= window.from && offset + length <= window.from + window.bytes.length) {
      return window.bytes.subarray(offset - window.from, offset - window.from + length);
    }
    const slices = this.#files[file]?.file;
    const to = Math.min(slices?.size ?? 0, offset + Math.max(length, 4 * 2 ** 20));
    const bytes = new Uint8Array((await slices?.slice(offset, to).arrayBuffer()) ?? new ArrayBuffer(0));
    this.#window = { file, from: offset, bytes };
    return bytes.subarray(0, length);
  }

  async *#read(open: OpenFile, pattern: SplitPattern): AsyncGenerator<Omit<Opened, 'files' | 'of'>> {
    try {
      const head = new Uint8Array(await open.file.slice(0, Math.min(open.file.size, 16)).arrayBuffer());
      const refusal = refusalOf(head, open.file.size);
      if (refusal) yield { ...this.#nothing(), problems: this.#tell(open, null, refusal), bytes: open.file.size };
      else if (isParquet(head)) yield* this.#readParquet(open, pattern);
      else yield* this.#readLines(open, pattern);
      if (open.report.rollouts === 0 && !refusal && open.report.badLines === 0) {
        const nothing = { got: 'no rollout', want: 'a line or a row for each' };
        yield { ...this.#nothing(), problems: this.#tell(open, null, nothing), bytes: open.file.size };
      }
    } catch (error) {
      // a file that cannot be read any more: removed, or changed on the disk
      yield {
        ...this.#nothing(),
        problems: this.#tell(open, null, badLine(error, 'a file that can be read')),
        bytes: open.file.size,
      };
    }
  }

  async *#readLines(open: OpenFile, pattern: SplitPattern): AsyncGenerator<Omit<Opened, 'files' | 'of'>> {
    let tries = 0;
    for await (const lines of linesOf(open.file)) {
      const taken: Taken[] = [];
      const problems: LineProblem[] = [];
      for (const line of lines) {
        try {
          taken.push(...this.#take(open, line, pattern));
        } catch (error) {
          const fault = line.ended ? badLine(error, 'a rollout') : cutOff(error);
          problems.push(...this.#tell(open, line.number, fault));
          if (!open.format) tries++;
        }
        if (!open.format && tries >= MOST_TRIES) break;
      }
      const end = lines.at(-1);
      yield { ...this.#note(taken), problems, bytes: end ? end.offset + end.length : 0 };
      if (!open.format && tries >= MOST_TRIES) {
        const given = {
          got: `no rollout in its first ${tries} lines`,
          want: 'JSON Lines of a format that is known; the rest was not read',
        };
        yield { ...this.#nothing(), problems: this.#tell(open, null, given), bytes: open.file.size };
        return;
      }
    }
  }

  #take(open: OpenFile, line: FileLine, pattern: SplitPattern): Taken[] {
    if (!line.bytes) {
      const most = MOST_LINE_BYTES / 2 ** 20;
      throw new ProblemError({ got: `a line of ${(line.length / 2 ** 20).toFixed(0)} MB`, want: `${most} MB at most` });
    }
    const { line: object, nonFinite } = parseLine(line.bytes);
    const taken = this.#takeObject(open, object, line, contextOf(pattern));
    open.report = { ...open.report, nonFinite: open.report.nonFinite + nonFinite };
    return taken;
  }

  /** The rollouts of a line or a row; the first that can be read settles the format of its file. */
  #takeObject(
    open: OpenFile,
    object: JsonRecord,
    { offset, length }: Pick<FileLine, 'offset' | 'length'>,
    context: ReadingContext,
  ): Taken[] {
    const format = open.format ?? formatOf(object);
    const records = format.read(object, context);
    const [first] = records;
    open.format = format;
    const { report } = open;
    open.report = {
      ...report,
      format: format.label,
      rollouts: report.rollouts + records.length,
      guessed: report.guessed.length > 0 ? report.guessed : (first?.guessed ?? []),
    };
    const file = open.index;
    return records.map((record, part) => ({
      ...{ record: withStep(record, open.path), file, part, offset, length },
    }));
  }

  async *#readParquet(open: OpenFile, pattern: SplitPattern): AsyncGenerator<Omit<Opened, 'files' | 'of'>> {
    const parquet = await openParquet(open.file);
    const context = contextOf(pattern, parquet);
    for (const [from, to] of parquet.blocks) {
      const taken: Taken[] = [];
      const problems: LineProblem[] = [];
      const rows = await parquet.read(from, to);
      rows.forEach((row, i) => {
        try {
          taken.push(...this.#takeObject(open, row, { offset: from + i, length: 1 }, context));
        } catch (error) {
          problems.push(...this.#tell(open, from + i + 1, badLine(error, 'a rollout')));
        }
      });
      open.parquet = parquet;
      yield { ...this.#note(taken), problems, bytes: open.file.size };
    }
  }

  #note(taken: readonly Taken[]): Pick<Opened, 'block' | 'groups'> {
    const groups: string[] = [];
    const groupOf = ({ record: { group, step }, file }: Taken) => {
      if (group === null) return -1;
      // group names are only unique within a run and a step
      const key = `${step} ${group} ${this.#files[file]?.run ?? ''}`;
      const known = this.#groups.get(key);
      if (known !== undefined) return known;
      this.#groups.set(key, this.#groups.size);
      groups.push(visible(group));
      return this.#groups.size - 1;
    };
    for (const place of taken) this.#locations.append(place);
    return { block: columnsOf(taken, groupOf), groups };
  }

  #nothing(): Pick<Opened, 'block' | 'groups'> {
    return { block: columnsOf([], () => -1), groups: [] };
  }

  #tell(open: OpenFile, line: number | null, { got, want }: Found): LineProblem[] {
    open.report = { ...open.report, badLines: open.report.badLines + Number(line !== null) };
    return ++this.#told > MOST_PROBLEMS ? [] : [{ file: visible(open.path), line, got, want }];
  }
}

interface Taken {
  readonly record: RolloutRecord;
  readonly file: number;
  readonly offset: number; // in bytes; in rows of a Parquet file
  readonly length: number;
  readonly part: number; // which rollout of the line
}

/** Whether a rollout has these words, all in lower case, in anything it says. */
function says({ segments, task, id }: RolloutRecord, words: string): boolean {
  return [...segments.map(({ text }) => text), task, id].some((text) => text?.toLowerCase().includes(words) ?? false);
}

function isParquet(head: Uint8Array): boolean {
  return String.fromCharCode(...head.subarray(0, 4)) === 'PAR1';
}

/** What a reader may use beside a line, or beside a row of that file. */
function contextOf(pattern: SplitPattern, parquet: ParquetRows | null = null): ReadingContext {
  return { pattern, wholeNumbers: parquet?.wholeNumbers ?? NONE };
}
const NONE: ReadonlySet<string> = new Set();

/** The rollout of a line or a row that was read before. Throws ProblemError where it has changed. */
function recordOf(open: OpenFile, line: JsonRecord, part: number, context: ReadingContext): RolloutRecord {
  const record = open.format?.read(line, context)[part];
  if (!record)
    throw new ProblemError({
      got: `a file that has changed`,
      want: 'the file as it was when it was opened: open it again',
    });
  return withStep(record, open.path);
}

/** A record with the step that its file's path names, where it has none itself. */
function withStep(record: RolloutRecord, path: string): RolloutRecord {
  return record.step === null ? { ...record, step: stepOfPath(path) } : record;
}

type Found = Pick<LineProblem, 'got' | 'want'>;

function badLine(error: unknown, want: string): Found {
  const [problem] = error instanceof ProblemError ? error.problems : [];
  if (problem) return problem;
  // no reader means to throw anything else; what it stumbled over is told, and the next line read
  return { got: `what no reader can take (${error instanceof Error ? error.message : String(error)})`, want };
}

/** What is said of a last line that cannot be read and that nothing ends. */
function cutOff(error: unknown): Found {
  const { got, want } = badLine(error, 'a rollout');
  return { got: `${got}, where the file ends: its last line is cut off, perhaps`, want: `${want}, and a line’s end` };
}
