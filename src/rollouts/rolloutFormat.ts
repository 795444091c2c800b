import type { JsonRecord } from '../base/jsonRecord.ts';
import type { SplitPattern } from './splitPattern.ts';
import type { RolloutRecord } from './rolloutRecord.ts';

export interface ReadingContext {
  readonly pattern: SplitPattern;
  readonly wholeNumbers: ReadonlySet<string>; // columns that a Parquet file declares as integers; empty for JSON Lines
}

/** A format of rollouts, in the lines of a JSON Lines file or the rows of a Parquet file. */
export interface RolloutFormat {
  readonly name: string;
  readonly label: string; // for people
  readonly keys: string; // the keys of a line, for messages
  /** Whether a line is of this format. Decides by keys, because any value may be null in a line. */
  readonly recognises: (line: JsonRecord) => boolean;
  /** The rollouts of a line. Throws ProblemError. */
  readonly read: (line: JsonRecord, context: ReadingContext) => readonly RolloutRecord[];
}
