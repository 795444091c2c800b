import type { JsonObject } from './fields.ts';
import type { SplitPattern } from './pattern.ts';
import type { RolloutRecord } from './rollout.ts';

/** What a reader may use beside the line itself. */
export interface ReadingContext {
  readonly pattern: SplitPattern;
}

/** A format of rollouts in JSON Lines. */
export interface Format {
  readonly name: string;
  readonly label: string; // for people
  readonly keys: string; // what a line has, in words
  readonly recognises: (line: JsonObject) => boolean;
  /** The rollouts of a line. Throws BadLine. */
  readonly read: (line: JsonObject, context: ReadingContext) => readonly RolloutRecord[];
}
