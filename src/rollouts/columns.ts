import { type RolloutRecord, textLength } from './rolloutRecord.ts';

/** The numbers of each rollout that lists and curves show. NaN or −1 means that the file does not have the number. */
export interface Columns {
  readonly file: Int32Array; // −1: the rollout was withdrawn
  readonly step: Float64Array; // NaN: none
  readonly group: Int32Array; // index of the group's name; −1: none
  readonly reward: Float64Array; // NaN: none
  readonly success: Int8Array; // 1 solved, 0 failed, −1 unknown
  readonly turns: Float32Array; // NaN: none
  readonly toolCalls: Float32Array; // NaN: none
  readonly tokens: Float32Array; // NaN: the file has no ids
  readonly characters: Float32Array;
}
export type ColumnName = keyof Columns;

const COLUMN_TYPES = {
  file: Int32Array,
  step: Float64Array,
  group: Int32Array,
  reward: Float64Array,
  success: Int8Array,
  turns: Float32Array,
  toolCalls: Float32Array,
  tokens: Float32Array,
  characters: Float32Array,
} as const;
const COLUMN_NAMES = Object.keys(COLUMN_TYPES) as ColumnName[];
type MutableColumns = { -readonly [K in ColumnName]: Columns[K] };

function emptyColumns(rows: number): MutableColumns {
  return {
    ...{ file: new Int32Array(rows), step: new Float64Array(rows), group: new Int32Array(rows) },
    ...{ reward: new Float64Array(rows), success: new Int8Array(rows), turns: new Float32Array(rows) },
    ...{ toolCalls: new Float32Array(rows), tokens: new Float32Array(rows), characters: new Float32Array(rows) },
  };
}

export class RolloutTable {
  rows = 0;
  withdrawnRows = 0;
  #columns = emptyColumns(0);

  /** The columns. Ignore entries from index `rows` on. `append` may replace the arrays by larger ones. */
  get columns(): Columns {
    return this.#columns;
  }

  append(block: Columns): void {
    const rows = this.rows + block.step.length;
    if (rows > this.#columns.step.length) {
      const grown = emptyColumns(Math.max(1024, 2 * rows));
      for (const name of COLUMN_NAMES) grown[name].set(this.#columns[name].subarray(0, this.rows));
      this.#columns = grown;
    }
    for (const name of COLUMN_NAMES) this.#columns[name].set(block[name], this.rows);
    this.rows = rows;
  }

  /** Takes the rollouts of files out of the list. Their rows stay, so that other rows keep their numbers. */
  withdraw(files: ReadonlySet<number>): void {
    const { file } = this.#columns;
    for (let row = 0; row < this.rows; row++) {
      if (!files.has(file[row]!)) continue;
      file[row] = -1;
      this.withdrawnRows++;
    }
  }
}

/** Columns of records, in their order. `groupOf` gives the index of a record's group name, −1 for none. */
export function columnsOf<T extends { readonly record: RolloutRecord; readonly file: number }>(
  records: readonly T[],
  groupOf: (found: T) => number,
): Columns {
  const columns = emptyColumns(records.length);
  records.forEach((found, i) => {
    const { record, file } = found;
    columns.file[i] = file;
    columns.step[i] = record.step ?? NaN;
    columns.group[i] = groupOf(found);
    columns.reward[i] = record.reward ?? NaN;
    columns.success[i] = record.success === null ? -1 : Number(record.success);
    columns.turns[i] = record.turns ?? NaN;
    columns.toolCalls[i] = record.toolCalls ?? NaN;
    columns.tokens[i] = record.tokens?.ids.length ?? NaN;
    columns.characters[i] = textLength(record);
  });
  return columns;
}
