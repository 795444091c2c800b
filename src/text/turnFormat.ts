import type { BodyRange } from '../domain/tokens.ts';
import type { JsonRecord } from '../base/jsonRecord.ts';
import type { Codec } from './codec.ts';

/** The arguments of a call, by name. */
export type CallValues = JsonRecord;

/** The texts at the beginning of an episode. */
export interface EpisodeStart {
  readonly system: string | null; // describes the agent's role and task
  readonly question: string;
}

/** Shortens the agent's words, if they are too long, for a message about a mistake. */
export type Quote = (words: string) => string;

export interface TurnMistake {
  readonly kind: 'format' | 'json' | 'tool' | 'arguments';
  readonly message: string; // description for the agent
}

export type ReadTurn =
  | {
      readonly kind: 'call';
      readonly tool: string;
      readonly values: CallValues;
      readonly thought: string;
    }
  | { readonly kind: 'answer'; readonly answer: string; readonly thought: string }
  | { readonly kind: 'mistake'; readonly mistake: TurnMistake; readonly thought: string };

/** The content of a turn that an expert or a demonstrator writes. */
export type WrittenTurn =
  | { readonly tool: string; readonly values: CallValues; readonly thought?: string }
  | { readonly answer: string; readonly thought?: string };

/**
 * Encodes prompts, calls, answers and observations, and reads turns. Ids are only appended: sampled ids are kept as
 * they are, and only the text after them is encoded. Ids of prompts and observations are forced; a turn's ids,
 * including its stop id, are sampled by the agent.
 */
export interface TurnFormat {
  readonly codec: Codec;
  readonly stops: readonly number[]; // ids that end a turn
  /** The ids before the first turn. */
  readonly promptIds: (beginning: EpisodeStart) => readonly number[];
  /**
   * The ids between a turn and the next one. `stopped` says whether the agent ended the turn with a stop id; otherwise
   * a stop id is forced first.
   */
  readonly observationIds: (observation: string, stopped: boolean) => readonly number[];
  /** The place of the words in the ids that `observationIds` returned. A token that joins words and markup is in it. */
  readonly bodyOf: (observationIds: readonly number[]) => BodyRange;
  /** The ids of a turn as the agent would sample them, with a stop id at the end. */
  readonly turnIds: (turn: WrittenTurn) => readonly number[];
  /**
   * Reads a turn, ignoring a stop id at its end. Returns a mistake of the agent instead of throwing it; `quote`
   * shortens the agent's words in its description.
   */
  readonly read: (turn: readonly number[], quote?: Quote) => ReadTurn;
}

/** A turn's ids without the stop id at its end. */
export function withoutStop(turn: readonly number[], stops: readonly number[]): readonly number[] {
  const last = turn.at(-1);
  return last !== undefined && stops.includes(last) ? turn.slice(0, -1) : turn;
}
