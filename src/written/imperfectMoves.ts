import type { Random } from '../base/rng.ts';
import type { Move, Values } from './plays.ts';

/**
 * Makes an imperfect player. Its move is one of the given moves, which the expert made in some task. If a text argument of the move does
 * not occur in `said`, the texts of this episode, it is replaced by another text of the same argument that does, if there is one.
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
