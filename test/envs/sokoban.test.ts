import { describe, expect, it } from 'vitest';
import type { EnvView } from '../../src/domain/envView.ts';
import { expertPlay, play, seenFrom, subject } from './checker.ts';

type Grid = Extract<EnvView, { kind: 'grid' }>;
function gridOf(view: EnvView): Grid {
  if (view.kind !== 'grid') throw new Error('want a grid');
  return view;
}

/**
 * Moves of the shortest solution: a forward breadth-first search over [row, column] of agent and box, in a board drawn
 * with its ring of walls.
 */
function solve({ cells, size, start, box }: Grid): number {
  const wide = size + 2;
  const board = Array.from({ length: wide * wide }, () => '#');
  cells.forEach((cell, i) => {
    board[(Math.floor(i / size) + 1) * wide + (i % size) + 1] = cell === 'wall' ? '#' : cell === 'goal' ? 'O' : '_';
  });
  const inside = (cell: number) => (Math.floor(cell / size) + 1) * wide + (cell % size) + 1;
  let frontier: (readonly [number, number])[] = [[inside(start), inside(box ?? -1)]];
  const seen = new Set(frontier.map(String));
  for (let moves = 0; frontier.length > 0; moves++) {
    if (frontier.some(([, crate]) => board[crate] === 'O')) return moves;
    const next: (readonly [number, number])[] = [];
    for (const [agent, crate] of frontier) {
      for (const step of [1, -1, wide, -wide]) {
        const to = agent + step;
        const pushed = to === crate ? crate + step : crate;
        if (board[to] === '#' || board[pushed] === '#') continue;
        if (seen.has(String([to, pushed]))) continue;
        seen.add(String([to, pushed]));
        next.push([to, pushed]);
      }
    }
    frontier = next;
  }
  return Infinity;
}

const SEEDS = Array.from({ length: 1000 }, (_, i) => 100 + i);

describe('Sokoban', () => {
  const room = subject('sokoban');

  it.each([3, 4, 6])('of %i cells a side is solved by the expert in as many moves as an independent solver', (size) => {
    const own = subject('sokoban', { size });
    for (const seed of SEEDS) {
      const { episode, turns, success } = expertPlay(own, seed);
      expect(success).toBe(true);
      expect(turns).toHaveLength(solve(gridOf(episode.view())));
      expect(turns.length).toBeLessThanOrEqual(6);
    }
  });

  it('takes more moves out of the domain than in training, where a room has any that long', () => {
    const lengths = SEEDS.map((seed) => expertPlay(room, seed, room.env.splits.shifted.reset).turns.length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(8);
    expect(lengths.filter((length) => length >= 7).length).toBeGreaterThan(990);
  });

  it('needs from one to six moves in training, each in at least one room of fifty', () => {
    const lengths = SEEDS.map((seed) => solve(gridOf(room.env.reset(seed, room.settings).view())));
    for (let moves = 1; moves <= 6; moves++) {
      expect(lengths.filter((length) => length === moves).length).toBeGreaterThan(20);
    }
  });

  it('tells the room in its prompt, and after each move where the box is from the agent and the target from the box', () => {
    for (const seed of SEEDS.slice(0, 100)) {
      const { env } = room;
      const { episode, turns } = expertPlay(room, seed);
      const { cells, start, box, size, moves } = gridOf(episode.view());
      const name = (cell: number) => `${'abcdef'[Math.floor(cell / size)] ?? ''}${(cell % size) + 1}`;
      const walls = cells.flatMap((cell, i) => (cell === 'wall' ? [name(i)] : []));
      const target = cells.indexOf('goal');
      const outlook = (at: number, crate: number) => [...seenFrom(at, crate, size), ...seenFrom(crate, target, size)];
      const said = episode.prompt.map((id) => env.vocabulary[id]);
      const told = ['<bos>', 'walls', ...walls, 'target', name(target), 'at', name(start)];
      expect(said).toEqual([...told, 'box', ...outlook(start, box ?? -1)]);
      for (const [i, { observation }] of turns.entries()) {
        if (observation.length === 0) continue;
        const now = moves[i];
        const read = observation.map((id) => env.vocabulary[id]);
        expect(read).toEqual(['<obs>', ...outlook(now?.at ?? -1, now?.box ?? -1), '</obs>']);
      }
    }
  });

  it('gives back what a stuck box had earned, and goes on until the turns are over', () => {
    const { env, settings } = room;
    const words = (direction: string) => ['<call>', direction, '</call>'].map((word) => env.vocabulary.indexOf(word));
    let stuck = 0;
    for (const seed of SEEDS) {
      // pushes to the left and up only: the box ends in a corner unless it is solved on the way
      const ways = ['left', 'up'];
      const { turns, success, episode } = play(env.reset(seed, settings), settings, (turn) =>
        words(ways[turn % 2] ?? ''),
      );
      const { cells, size, start, moves } = gridOf(episode.view());
      const last = moves.at(-1);
      if (success || solve({ ...gridOf(episode.view()), start: last?.at ?? start, box: last?.box ?? 0 }) < Infinity)
        continue;
      stuck++;
      expect(cells).toHaveLength(size * size);
      expect(turns).toHaveLength(8);
      expect(turns.reduce((sum, { parts }) => sum + parts.process, 0)).toBeCloseTo(0, 9);
    }
    expect(stuck).toBeGreaterThan(20);
  });
});
