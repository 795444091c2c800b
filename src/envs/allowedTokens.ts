import type { Grammar } from '../domain/tokens.ts';

const known = new WeakMap<Grammar, Map<number, readonly number[]>>();

/** Ids that may be written in a state of a grammar, in their order. */
export function allowedIn(grammar: Grammar, state: number): readonly number[] {
  const states = known.get(grammar) ?? new Map<number, readonly number[]>();
  known.set(grammar, states);
  const before = states.get(state);
  if (before) return before;
  const { next, vocabulary } = grammar;
  const row = Array.from(next.subarray(state * vocabulary, (state + 1) * vocabulary));
  const allowed = row.flatMap((to, id) => (to >= 0 ? [id] : []));
  states.set(state, allowed);
  return allowed;
}
