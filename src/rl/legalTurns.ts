import type { Grammar } from '../domain/tokens.ts';

export interface TurnTokens {
  readonly tokens: ArrayLike<number>; // ids
  readonly states: ArrayLike<number>; // grammar state in which each token is drawn
}

/**
 * All turns that the grammar allows from `state`. Null if there are more than `maxTurns`, or if one doesn't end within
 * `maxTokens`: turns that are cut off would be left out.
 */
export function legalTurns(
  { next, stop, vocabulary }: Grammar,
  state: number,
  maxTokens: number,
  maxTurns: number,
): TurnTokens[] | null {
  const turns: TurnTokens[] = [];
  const walk = (at: number, tokens: readonly number[], states: readonly number[]): boolean => {
    if (stop[at]) return turns.push({ tokens, states }) <= maxTurns;
    if (tokens.length === maxTokens) return false;
    let goesOn = false;
    for (let token = 0; token < vocabulary; token++) {
      const to = next[at * vocabulary + token] ?? -1;
      if (to < 0) continue;
      if (!walk(to, [...tokens, token], [...states, at])) return false;
      goesOn = true;
    }
    return goesOn;
  };
  return walk(state, [], []) ? turns : null;
}
