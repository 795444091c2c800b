import type { Grammar } from '../domain/tokens.ts';

const known = new WeakMap<Grammar, Uint8Array>();

/** 1 for the states of a grammar in which exactly one token is legal, (states): whoever draws there chooses nothing. */
export function singleStates(grammar: Grammar): Uint8Array {
  const before = known.get(grammar);
  if (before) return before;
  const { states, vocabulary, next } = grammar;
  const single = Uint8Array.from({ length: states }, (_, state) => {
    let legal = 0;
    for (let v = 0; v < vocabulary && legal < 2; v++) if (next[state * vocabulary + v]! >= 0) legal++;
    return legal === 1 ? 1 : 0;
  });
  known.set(grammar, single);
  return single;
}
