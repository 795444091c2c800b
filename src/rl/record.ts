import { Role, type TokenRecord } from '../tokens.ts';

/** Where and by whom one token was written. */
export interface TokenOrigin {
  readonly role: Role;
  readonly turn: number; // from 1; 0 in the prompt
  readonly state: number; // grammar state it was drawn in; 0 for forced tokens
  readonly logprob: number; // as drawn; 0 for forced tokens
}

/** The record of B episodes of at most T tokens, written token by token; ids are the record. All arrays (B,T). */
export interface EpisodeRecord extends TokenRecord {
  readonly rows: number;
  readonly length: number;
  readonly turns: Uint8Array;
  readonly lengths: Int32Array; // (B) tokens written
  readonly logprobs: Float32Array; // as drawn
  readonly rewards: Float32Array;
  /** Appends one token to a row. Throws when the row is full. */
  readonly push: (row: number, token: number, origin: TokenOrigin) => void;
}

/** An empty record. */
export function episodeRecord(rows: number, length: number): EpisodeRecord {
  const cells = rows * length;
  const tokens = new Int32Array(cells);
  const roles = new Uint8Array(cells);
  const states = new Uint8Array(cells);
  const turns = new Uint8Array(cells);
  const logprobs = new Float32Array(cells);
  const lengths = new Int32Array(rows);
  return {
    rows,
    length,
    tokens,
    roles,
    states,
    turns,
    lengths,
    logprobs,
    rewards: new Float32Array(cells),
    push(row, token, origin) {
      const at = lengths[row] ?? length;
      if (at >= length) {
        throw new RangeError(`EpisodeRecord.push: row ${row} holds ${at} tokens; want fewer than ${length}.`);
      }
      const i = row * length + at;
      tokens[i] = token;
      roles[i] = origin.role;
      turns[i] = origin.turn;
      states[i] = origin.state;
      logprobs[i] = origin.logprob;
      lengths[row] = at + 1;
    },
  };
}

/** Adds a reward to the last action token of a row. Throws when the row has none. */
export function payLastAction(record: EpisodeRecord, row: number, reward: number): void {
  const start = row * record.length;
  for (let i = start + (record.lengths[row] ?? 0) - 1; i >= start; i--) {
    if (record.roles[i] === Role.action) {
      record.rewards[i] = (record.rewards[i] ?? 0) + reward;
      return;
    }
  }
  throw new Error(`payLastAction: row ${row} has no action token; want one before a reward is paid.`);
}
