import type { Grammar } from '../../domain/tokens.ts';
import type { ExpertTokens } from '../policy.ts';
import type { Batch } from './batchArrays.ts';

/**
 * Share of the expert's distribution that isn't on its token, but spread over the other legal ones. With 0 the reverse
 * KL would be infinite. With little more, a policy that follows the expert stays nearly as sure as it is.
 */
export const EXPERT_DOUBT = 0.05;

/** Writes the expert's log-probabilities to the rows (V) of the tokens at which its next token is known, and marks them. */
export function writeExpertRows(
  { teacherTable, teacherMask }: Pick<Batch, 'teacherTable' | 'teacherMask'>,
  { expertTokens, states }: ExpertTokens,
  { next, vocabulary }: Grammar,
): void {
  const rows = new Map<number, Float64Array>(); // without the expert's token, by grammar state
  const rowOf = (state: number) => {
    const legal = next.subarray(state * vocabulary, (state + 1) * vocabulary);
    const others = legal.reduce((count, to) => count + Number(to >= 0), -1);
    return Float64Array.from(legal, (to) => (to >= 0 && others > 0 ? Math.log(EXPERT_DOUBT / others) : 0));
  };
  for (const [at, marked] of expertTokens.entries()) {
    teacherMask[at] = marked > 0 ? 1 : 0;
    if (marked === 0) continue;
    const state = states[at]!;
    const row = rows.get(state) ?? rowOf(state);
    rows.set(state, row);
    teacherTable.set(row, at * vocabulary);
    const isOnly = row[marked - 1] === 0; // no other token is legal
    teacherTable[at * vocabulary + marked - 1] = isOnly ? 0 : Math.log(1 - EXPERT_DOUBT);
  }
}
