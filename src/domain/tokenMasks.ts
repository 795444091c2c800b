import type { BatchView } from './batch.ts';
import { Role } from './tokens.ts';

/** Who wrote each token of a batch. */
interface Roles {
  readonly roles: Uint8Array; // (B,T)
  readonly length: number; // T
}

/**
 * 1 on response tokens of rows that are in the batch, (B,T): with `agentOnly` those the policy drew (role 2), else
 * observations too (roles 2 and 3). Prompt and padding are always 0, and so are a row whose group is −1 and what
 * `leftOut` (B,T) marks.
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
 * 1 at the last token of each turn, (B,T): of the tokens the agent drew in a row, the last that `mask` holds. A turn of which it
 * holds none has no end. Without a mask all count.
 */
export function turnEnds({ roles, length }: Roles, mask: ArrayLike<number> = roles): Uint8Array {
  const ends = new Uint8Array(roles.length);
  let ended = false; // the end of the turn that `at` is in was met
  for (let at = roles.length - 1; at >= 0; at--) {
    ended = ended && roles[at] === Role.action && (at + 1) % length !== 0;
    if (ended || roles[at] !== Role.action || mask[at] === 0) continue;
    ends[at] = 1;
    ended = true;
  }
  return ends;
}

/** The group of each row that its update learned from, (B); −1: the group filter left its prompt out. */
export function learnedGroups({ rows, kept, episodes }: Pick<BatchView, 'rows' | 'kept' | 'episodes'>): Int32Array {
  const groups = new Int32Array(rows).fill(-1);
  for (const { row, group } of episodes) if (kept[row] !== 0) groups[row] = group;
  return groups;
}
