import type { BatchView } from './batch.ts';
import { Role } from './tokens.ts';

/** Who wrote each token of a batch. */
interface Roles {
  readonly roles: Uint8Array; // (B,T)
  readonly length: number; // T
}

/**
 * The mask (B,T) of response tokens. It is 1 on tokens that the policy drew (role 2) and, unless `agentOnly`, on
 * observations (role 3). It is 0 on prompt and padding, in rows whose group is −1, and on tokens that `leftOut` (B,T)
 * marks.
 */
export function responseMask(
  { roles, length }: Roles,
  groups: ArrayLike<number>,
  agentOnly: boolean,
  leftOut?: ArrayLike<number>,
): Float32Array {
  const response = (role: number) => role === Role.action || (!agentOnly && role === Role.observation);
  return Float32Array.from(roles, (role, at) =>
    groups[Math.floor(at / length)]! >= 0 && response(role) && !leftOut?.[at] ? 1 : 0,
  );
}

/**
 * The mask (B,T) of turn ends. A turn is a sequence of consecutive tokens drawn by the agent; its end is the last of
 * them for which `mask` is not 0. A turn without such a token has no end. Without `mask`, all tokens count.
 */
export function turnEnds({ roles, length }: Roles, mask: ArrayLike<number> = roles): Uint8Array {
  const ends = new Uint8Array(roles.length);
  let ended = false; // whether the end of the current turn was found
  for (let at = roles.length - 1; at >= 0; at--) {
    ended = ended && roles[at] === Role.action && (at + 1) % length !== 0;
    if (ended || roles[at] !== Role.action || mask[at] === 0) continue;
    ends[at] = 1;
    ended = true;
  }
  return ends;
}

/**
 * The mask (B,T) of turn starts: the first token of each turn for which `mask` is not 0. Turns are those of `turnEnds`.
 * With rows per turn, each training row has one.
 */
export function turnStarts({ roles, length }: Roles, mask: ArrayLike<number> = roles): Uint8Array {
  const starts = new Uint8Array(roles.length);
  let started = false;
  for (let at = 0; at < roles.length; at++) {
    started = started && roles[at] === Role.action && at % length !== 0;
    if (started || roles[at] !== Role.action || mask[at] === 0) continue;
    starts[at] = 1;
    started = true;
  }
  return starts;
}

/**
 * The flat index of the first token of the sequence that a token belongs to. A sequence is what the means over sequences
 * count and what has one ratio in GSPO: a row, or, if the rows hold a context for each turn, a context.
 */
export function sequenceOf(
  { length, contextStarts }: { readonly length: number; readonly contextStarts?: ArrayLike<number> },
  at: number,
): number {
  return at - (at % length) + (contextStarts?.[at] ?? 0);
}

/** (B). It is −1 if the group filter dropped the row's prompt, so that the update didn't learn from the row. */
export function learnedGroups({ rows, kept, episodes }: Pick<BatchView, 'rows' | 'kept' | 'episodes'>): Int32Array {
  const groups = new Int32Array(rows).fill(-1);
  for (const { row, group } of episodes) if (kept[row] !== 0) groups[row] = group;
  return groups;
}
