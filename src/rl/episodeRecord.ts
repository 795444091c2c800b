import { REWARD_PARTS, type RewardPart } from '../domain/episode.ts';
import { Role, type TokenRecord } from '../domain/tokens.ts';

export interface TokenOrigin {
  readonly role: Role;
  readonly turn: number; // from 1; 0 in the prompt; see `EpisodeToken`
  readonly grammarState: number; // grammar state it was drawn in; 0 for forced tokens
  readonly logprob: number; // the policy's log-probability when it drew the token; 0 for forced tokens; a share if it drifted
  readonly drawnLogprob?: number; // log-probability under the distribution after top-k and top-p; default: `logprob`
  readonly contextStart?: number; // index in the row of the first token of its context; default: 0
  readonly onlyLegal?: boolean; // the agent drew it where only one token was legal
  readonly inBody?: boolean; // a word of an observation, not its markup
  readonly expertToken?: number; // as in `EpisodeToken`; default: 0
  readonly drifted?: boolean; // other tokens of the same text were drawn in its place (`EpisodeToken`)
}

/** The record of B episodes of at most T tokens, written token by token. It stores token ids, not text. Arrays are (B,T) unless marked. */
export interface EpisodeRecord extends Omit<TokenRecord, 'contextStarts'> {
  readonly rows: number;
  readonly length: number;
  readonly turns: Uint8Array;
  readonly contextStarts: Int32Array | undefined; // as in `TokenRecord`; undefined while every row is one context
  readonly lengths: Int32Array; // (B) tokens written
  readonly logprobs: Float32Array; // the policy's log-probabilities when it drew the tokens
  /** Log-probabilities after top-k and top-p: higher than `logprobs` where these removed other tokens. */
  readonly drawnLogprobs: Float32Array;
  readonly singles: Uint8Array; // 1 where the agent drew the only legal token
  readonly bodies: Uint8Array; // 1 at words of observations, without markup
  readonly drifted: Uint8Array; // 1 at tokens of the agent in whose place others of the same text were drawn
  readonly expertTokens: Int32Array; // as in `ExpertTokens`; 0 everywhere if the expert wasn't asked
  readonly rewards: Float32Array; // sum of the parts at each token, added in double precision and rounded once
  readonly parts: Readonly<Record<RewardPart, Float32Array>>;
  /** Throws if the row is full. */
  readonly push: (row: number, token: number, origin: TokenOrigin) => void;
  /** Empties a row from a token on; default: from its first. */
  readonly clear: (row: number, from?: number) => void;
  readonly pay: (row: number, at: number, part: RewardPart, reward: number) => void;
}

export function episodeRecord(rows: number, length: number): EpisodeRecord {
  const size = rows * length;
  const lengths = new Int32Array(rows);
  const partArrays = REWARD_PARTS.map((part) => [part, new Float32Array(size)] as const);
  const parts = Object.fromEntries(partArrays) as Record<RewardPart, Float32Array>;
  const tokenArrays = {
    tokens: new Int32Array(size),
    roles: new Uint8Array(size),
    states: new Uint8Array(size),
    turns: new Uint8Array(size),
    logprobs: new Float32Array(size),
    drawnLogprobs: new Float32Array(size),
    singles: new Uint8Array(size),
    bodies: new Uint8Array(size),
    drifted: new Uint8Array(size),
    expertTokens: new Int32Array(size),
    rewards: new Float32Array(size),
  };
  const contextStarts = new Int32Array(size);
  let hasContexts = false;
  return {
    ...{ rows, length, lengths, parts },
    ...tokenArrays,
    get contextStarts() {
      return hasContexts ? contextStarts : undefined;
    },
    push(row, token, origin) {
      const at = lengths[row] ?? length;
      if (at >= length) {
        throw new RangeError(`EpisodeRecord.push: row ${row} is full: it holds ${at} of ${length} tokens.`);
      }
      const i = row * length + at;
      tokenArrays.tokens[i] = token;
      tokenArrays.roles[i] = origin.role;
      tokenArrays.turns[i] = origin.turn;
      tokenArrays.states[i] = origin.grammarState;
      tokenArrays.logprobs[i] = origin.logprob;
      tokenArrays.drawnLogprobs[i] = origin.drawnLogprob ?? origin.logprob;
      tokenArrays.singles[i] = origin.onlyLegal ? 1 : 0;
      tokenArrays.bodies[i] = origin.inBody ? 1 : 0;
      tokenArrays.expertTokens[i] = origin.expertToken ?? 0;
      tokenArrays.drifted[i] = origin.drifted ? 1 : 0;
      contextStarts[i] = origin.contextStart ?? 0;
      hasContexts ||= contextStarts[i] !== 0;
      lengths[row] = at + 1;
    },
    clear(row, from = 0) {
      lengths[row] = from;
      const rowArrays = [...Object.values(tokenArrays), contextStarts, ...partArrays.map(([, paid]) => paid)];
      for (const array of rowArrays) array.fill(0, row * length + from, (row + 1) * length);
    },
    pay(row, at, part, reward) {
      const i = row * length + at;
      parts[part][i] = (parts[part][i] ?? 0) + reward;
      tokenArrays.rewards[i] = partArrays.reduce((sum, [, paid]) => sum + (paid[i] ?? 0), 0);
    },
  };
}

/** Throws if the row has none. */
export function payLastAction(record: EpisodeRecord, row: number, part: RewardPart, reward: number): void {
  record.pay(row, lastAction(record, row), part, reward);
}

/** Throws if there is none. */
function lastAction({ roles, length, lengths }: EpisodeRecord, row: number): number {
  for (let t = (lengths[row] ?? 0) - 1; t >= 0; t--) if (roles[row * length + t] === Role.action) return t;
  throw new Error(`lastAction: row ${row} has no action token that a reward could be paid for.`);
}
