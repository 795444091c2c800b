import { describe, expect, it } from 'vitest';
import type { EnvView } from '../../src/domain/envView.ts';
import { expertPlay, play, seenFrom, type Subject, subject } from './checker.ts';

type Grid = Extract<EnvView, { kind: 'grid' }>;
function gridOf(view: EnvView): Grid {
  if (view.kind !== 'grid') throw new Error('want a grid');
  return view;
}

/** Moves on the shortest way, found by flooding: the set of cells within n moves grows until it holds the goal. */
function flood({ cells, size, start }: Grid): number {
  const goal = cells.indexOf('goal');
  let reached = new Set([start]);
  for (let moves = 0; moves <= cells.length; moves++) {
    if (reached.has(goal)) return moves;
    const grown = new Set(reached);
    for (let cell = 0; cell < cells.length; cell++) {
      const column = cell % size;
      const beside = [
        cell - size,
        cell + size,
        ...(column > 0 ? [cell - 1] : []),
        ...(column < size - 1 ? [cell + 1] : []),
      ];
      if (cells[cell] !== 'hole' && beside.some((other) => reached.has(other))) grown.add(cell);
    }
    reached = grown;
  }
  return Infinity;
}

/** Chance of the best walker to arrive in `turns`, by recursion over what may happen; columns and rows apart. */
function bestChance({ cells, size, start }: Grid, slip: number, turns: number): number {
  const known = new Map<string, number>();
  const clamp = (x: number) => Math.min(size - 1, Math.max(0, x));
  const value = (row: number, column: number, left: number): number => {
    const cell = cells[row * size + column];
    if (cell === 'goal') return 1;
    if (cell === 'hole' || left === 0) return 0;
    const key = `${row},${column},${left}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const to = (down: number, right: number) => value(clamp(row + down), clamp(column + right), left - 1);
    const [north, south, west, east] = [to(-1, 0), to(1, 0), to(0, -1), to(0, 1)];
    const vertical = (slip / 2) * (west + east);
    const horizontal = (slip / 2) * (north + south);
    const best = Math.max(
      (1 - slip) * Math.max(north, south) + vertical,
      (1 - slip) * Math.max(west, east) + horizontal,
    );
    known.set(key, best);
    return best;
  };
  return value(Math.floor(start / size), start % size, turns);
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const SEEDS = Array.from({ length: 1000 }, (_, i) => 100 + i);

describe('FrozenLake', () => {
  const still = subject('frozen-lake', { slip: 0 });
  const slippery = subject('frozen-lake', { slip: 0.2 });

  it.each([3, 4, 6])('of %i cells a side is solved by the expert in as many moves as flooding says', (size) => {
    const lake = subject('frozen-lake', { slip: 0, size });
    for (const seed of SEEDS) {
      const { episode, turns, success } = expertPlay(lake, seed);
      expect(success).toBe(true);
      expect(turns).toHaveLength(flood(gridOf(episode.view())));
    }
  });

  it.each([
    ['as trained', 0.2, (s: Subject) => s.env.reset],
    ['out of the domain', 2 / 3, (s: Subject) => s.env.splits.shifted.reset],
  ])('lets the expert arrive as often as any walker can, %s', (_name, slip, begin) => {
    const arrived = SEEDS.map((seed) => (expertPlay(slippery, seed, begin(slippery)).success ? 1 : 0));
    const chances = SEEDS.map((seed) =>
      bestChance(gridOf(slippery.env.reset(seed, slippery.settings).view()), slip, slippery.config.maxTurns),
    );
    // standard error at most .016
    expect(Math.abs(mean(arrived) - mean(chances))).toBeLessThan(0.05);
  });

  it('starts and ends in opposite corners where asked to, over hundreds of maps', () => {
    const corners = subject('frozen-lake', { slip: 0, ends: 'corners' });
    const maps = SEEDS.map((seed) => {
      const grid = gridOf(expertPlay(corners, seed).episode.view());
      expect([grid.start, grid.cells.indexOf('goal')]).toEqual([0, 15]);
      expect(flood(grid)).toBeLessThanOrEqual(corners.config.maxTurns);
      return grid.cells.join();
    });
    expect(new Set(maps).size).toBeGreaterThan(400);
  });

  it.each([
    ['the name of the cell', 'name'],
    ['where the goal is and what lies left, below, right and above', 'outlook'],
  ])('tells the whole map in its prompt, and at each place %s', (_told, sight) => {
    const { env, settings, config } = subject('frozen-lake', { slip: 0.2, sight });
    const words = (ids: readonly number[]) => ids.map((id) => env.vocabulary[id] ?? '');
    for (const seed of SEEDS.slice(0, 100)) {
      const { episode, turns } = expertPlay({ env, settings, config }, seed);
      const { cells, start, size, moves } = gridOf(episode.view());
      const goal = cells.indexOf('goal');
      const name = (cell: number) => `${'abcdef'[Math.floor(cell / size)] ?? ''}${(cell % size) + 1}`;
      const seen = (row: number, column: number) => {
        const outside = row < 0 || row >= size || column < 0 || column >= size;
        return outside ? 'edge' : (cells[row * size + column] ?? '').replace('floor', 'ice');
      };
      const told = (cell: number) => {
        if (sight === 'name') return [name(cell)];
        const [row, column] = [Math.floor(cell / size), cell % size];
        const around = [seen(row, column - 1), seen(row + 1, column), seen(row, column + 1), seen(row - 1, column)];
        return [...seenFrom(cell, goal, size), ...around];
      };
      const said = words(env.reset(seed, settings).prompt);
      const after = (word: string) => said.slice(said.indexOf(word) + 1);
      expect(after('at').slice(0, told(start).length)).toEqual(told(start));
      expect(after('goal')[0]).toBe(name(goal));
      const holes = cells.flatMap((cell, i) => (cell === 'hole' ? [name(i)] : []));
      expect(after('holes').slice(0, holes.length)).toEqual(holes);
      for (const [i, { observation }] of turns.entries()) {
        if (observation.length === 0) continue;
        expect(words(observation)).toEqual(['<obs>', ...told(moves[i]?.at ?? -1), '</obs>']);
      }
    }
  });

  it('slips to each side in one move of ten at slip .2', () => {
    const { env, settings } = slippery;
    const left = ['<call>', 'left', '</call>'].map((word) => env.vocabulary.indexOf(word));
    const aside = [0, 0, 0];
    for (const seed of SEEDS) {
      const { episode } = play(env.reset(seed, settings), settings, () => left);
      let from = gridOf(episode.view()).start;
      for (const { at } of gridOf(episode.view()).moves) {
        // only where both sides are open to it
        if (from >= 4 && from < 12) aside[at === from + 4 ? 0 : at === from - 4 ? 1 : 2]! += 1;
        from = at;
      }
    }
    const total = mean(aside) * 3;
    expect(total).toBeGreaterThan(2000);
    expect(aside[0]! / total).toBeCloseTo(0.1, 1);
    expect(aside[1]! / total).toBeCloseTo(0.1, 1);
  });

  it('pays progress that adds up to 1 at the goal and to 0 in a hole', () => {
    for (const seed of SEEDS.slice(0, 200)) {
      const { turns } = expertPlay(slippery, seed, slippery.env.splits.shifted.reset);
      const process = turns.reduce((sum, { parts }) => sum + parts.process, 0);
      const stop = turns.at(-1)?.stop;
      if (stop === 'found') expect(process).toBeCloseTo(0.5, 9);
      if (stop === 'lost') expect(process).toBeCloseTo(0, 9);
    }
    expect(expertPlay(still, 3).total).toBeCloseTo(1.5, 9);
  });
});
