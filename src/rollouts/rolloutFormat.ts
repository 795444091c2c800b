import type { JsonRecord } from '../base/jsonRecord.ts';
import type { SplitPattern } from './splitPattern.ts';
import type { RolloutRecord } from './rolloutRecord.ts';

/** What a reader may use beside the line itself. */
export interface ReadingContext {
  readonly pattern: SplitPattern;
  readonly wholeNumbers: ReadonlySet<string>; // columns that a Parquet file declares as such; none of lines of JSON, which declare nothing
}

/** A format of rollouts: of the lines of JSON Lines, or of the rows of a Parquet file. */
export interface Format {
  readonly name: string;
  readonly label: string; // for people
  readonly keys: string; // what a line has, in words
  /** Whether a line is of this format, by the keys that it has: their values may be null in any line. */
  readonly recognises: (line: JsonRecord) => boolean;
  /** The rollouts of a line. Throws ProblemError. */
  readonly read: (line: JsonRecord, context: ReadingContext) => readonly RolloutRecord[];
}
