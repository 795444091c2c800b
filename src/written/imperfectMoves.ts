import type { Random } from '../base/rng.ts';
import type { Move, Values } from './plays.ts';

/**
 * Moves of an imperfect player: one of the given moves, which the expert made in some task. Texts in it that were not said
 * in this episode are replaced by texts of the same argument that were said, if there are any.
 */
export function imperfectMoves(moves: readonly Move[]): (said: string, draw: Random) => Move {
  const texts = new Map<string, Set<string>>(); // by the argument's name
  for (const move of moves) {
    for (const [name, value] of 'tool' in move ? Object.entries(move.values) : []) {
      if (typeof value === 'string') texts.set(name, (texts.get(name) ?? new Set()).add(value));
    }
  }
  return (said, draw) => {
    const move = draw.pick(moves);
    if ('answer' in move) return move;
    const values = Object.entries(move.values).map(([name, value]) => {
      if (typeof value !== 'string' || said.includes(value)) return [name, value];
      const known = [...(texts.get(name) ?? [])].filter((other) => said.includes(other));
      return [name, known.length > 0 ? draw.pick(known) : value];
    });
    return { tool: move.tool, values: Object.fromEntries(values) as Values };
  };
}
