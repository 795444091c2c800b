import type { JsonRecord } from '../formats/jsonFile.ts';
import type { Codec } from './codec.ts';

/** The arguments of a call, by name. */
export type CallValues = JsonRecord;

/** How an episode begins. */
export interface Beginning {
  readonly system: string | null; // the agent's role and its job
  readonly question: string;
}

/** Shortens the agent's words if they are too long, to repeat them in a message about a mistake. */
export type Quote = (words: string) => string;

/** What is wrong with a turn, by kind, and in words for the agent. */
export interface TurnMistake {
  readonly kind: 'format' | 'json' | 'tool' | 'arguments';
  readonly said: string;
}

/** The content of a turn. */
export type ReadTurn =
  | {
      readonly kind: 'call';
      readonly tool: string;
      readonly values: CallValues;
      readonly thought: string;
    }
  | { readonly kind: 'answer'; readonly answer: string; readonly thought: string }
  | { readonly kind: 'mistake'; readonly mistake: TurnMistake; readonly thought: string };

/** A turn to be written: what an expert or a demonstrator would say. */
export type WrittenTurn =
  | { readonly tool: string; readonly values: CallValues; readonly thought?: string }
  | { readonly answer: string; readonly thought?: string };

/**
 * How a prompt, a call, an answer and an observation are written, and how a turn is read back. Ids only grow: what was drawn is kept, and
 * only what follows is encoded. Prompt and observation ids are forced; a turn's ids, its stop id with them, are the agent's.
 */
export interface TurnFormat {
  readonly codec: Codec;
  readonly stops: readonly number[]; // ids that end a turn
  /** The ids before the first turn. */
  readonly promptIds: (beginning: Beginning) => readonly number[];
  /** What follows a turn, up to where the next begins. `stopped` says whether the turn ended with a stop id of its own; without one it is forced first. */
  readonly observationIds: (observation: string, stopped: boolean) => readonly number[];
  /** A turn as the agent would draw it, its stop id at the end. */
  readonly turnIds: (turn: WrittenTurn) => readonly number[];
  /** Reads a turn. A stop id at its end is not part of its text. A mistake of the agent is returned, not thrown; `quote` shortens the agent's words in it. */
  readonly read: (turn: readonly number[], quote?: Quote) => ReadTurn;
}

/** A turn's ids without the stop id at its end. */
export function withoutStop(turn: readonly number[], stops: readonly number[]): readonly number[] {
  const last = turn.at(-1);
  return last !== undefined && stops.includes(last) ? turn.slice(0, -1) : turn;
}
