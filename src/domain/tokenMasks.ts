import type { RunConfig } from '../config/fields.ts';
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
 * Marks (B,T) the tokens of turns that `trainTurns` leaves out of the loss; undefined if it leaves out none. An
 * observation belongs to the turn that it answers. A row's last turn is the last one in which the agent drew a token.
 */
export function untrainedTurns(
  { roles, turns, length }: Roles & { readonly turns: ArrayLike<number> },
  trainTurns: RunConfig['trainTurns'],
): Uint8Array | undefined {
  if (trainTurns === 'all') return undefined;
  const lastTurns = new Uint8Array(Math.ceil(roles.length / length));
  roles.forEach((role, at) => {
    const row = Math.floor(at / length);
    if (role === Role.action) lastTurns[row] = Math.max(lastTurns[row]!, turns[at]!);
  });
  return Uint8Array.from(turns, (turn, at) =>
    turn > 0 && turn !== (trainTurns === 'first' ? 1 : lastTurns[Math.floor(at / length)]) ? 1 : 0,
  );
}

/**
 * The mask (B,T) of the words of observations that the policy is to predict: `bodies` (B,T) marks them. It is 0 before
 * the agent's first token, in rows whose group is −1, and everywhere without `bodies`.
 */
export function observationMask(
  { roles, length }: Roles,
  groups: ArrayLike<number>,
  bodies: ArrayLike<number> | undefined,
): Float32Array {
  const mask = new Float32Array(roles.length);
  if (!bodies) return mask;
  let responded = false; // the agent has drawn a token in this row
  for (let at = 0; at < roles.length; at++) {
    responded = (responded && at % length !== 0) || roles[at] === Role.action;
    const isWord = roles[at] === Role.observation && bodies[at] !== 0;
    if (isWord && responded && groups[Math.floor(at / length)]! >= 0) mask[at] = 1;
  }
  return mask;
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
