import type { OfferedEnv } from '../../config/environments.ts';

/** A stretch of a text, as shares of its length. */
export type TextSpan = readonly [from: number, to: number];

/** The data of a small drawing of a task: an environment's view without its texts. */
export type Scene =
  | { readonly kind: 'line'; readonly range: number; readonly target: number; readonly guesses: readonly number[] }
  | {
      readonly kind: 'graph';
      readonly nodes: number;
      readonly facts: readonly (readonly [from: number, to: number])[];
      readonly path: readonly number[]; // what was looked up, from the question's entity to the answer
    }
  | {
      readonly kind: 'board';
      readonly size: number;
      readonly cells: string; // row by row: . floor, # wall, o hole, * goal
      readonly walk: readonly number[]; // cells in order, from the start
      readonly box: number | null; // its first cell
    }
  | { readonly kind: 'sum'; readonly task: string; readonly wanted: number; readonly steps: readonly string[] }
  | { readonly kind: 'arms'; readonly arms: readonly string[]; readonly risky: number }
  | {
      readonly kind: 'passages';
      readonly passages: readonly { readonly marks: readonly TextSpan[]; readonly answer: TextSpan | null }[];
    };

/** A task of each environment as the scripted expert solves it. A test plays these tasks again. */
export const SCENES: Readonly<Record<OfferedEnv, Scene>> = {
  'number-hunt': { kind: 'line', range: 16, target: 4, guesses: [7, 3, 5, 4] },
  'multi-hop': {
    kind: 'graph',
    nodes: 12,
    facts: [
      [0, 1],
      [1, 5],
      [2, 5],
      [3, 10],
      [4, 11],
      [5, 4],
      [6, 9],
      [7, 9],
      [8, 0],
      [9, 2],
      [10, 8],
      [11, 4],
      [0, 3],
      [1, 8],
      [2, 1],
      [3, 11],
      [4, 7],
      [5, 8],
      [6, 1],
      [7, 3],
      [8, 4],
      [9, 4],
      [10, 0],
      [11, 4],
      [0, 7],
      [1, 6],
      [2, 10],
      [3, 11],
      [4, 7],
      [5, 4],
      [6, 8],
      [7, 2],
      [8, 5],
      [9, 2],
      [10, 0],
      [11, 5],
    ],
    path: [8, 4, 11],
  },
  'frozen-lake': { kind: 'board', size: 4, cells: '..*ooo...o..o...', walk: [13, 13, 14, 10, 6, 2], box: null },
  sokoban: { kind: 'board', size: 4, cells: '*..#..#..#.....#', walk: [11, 10, 14, 13, 12, 8, 4], box: 8 },
  bandit: { kind: 'arms', arms: ['pilot', 'gardener'], risky: 0 },
  'bandit-reversed': { kind: 'arms', arms: ['gardener', 'pilot'], risky: 0 },
  calculator: { kind: 'sum', task: '29 + 38 - 39', wanted: 28, steps: ['29 + 38 = 67', '67 - 39 = 28', 'answer = 28'] },
  countdown: { kind: 'sum', task: '5, 8', wanted: 40, steps: ['8 × 5 = 40'] },
  'document-search': {
    kind: 'passages',
    passages: [
      { marks: [[0.88, 1]], answer: null },
      { marks: [], answer: [0.67, 1] },
    ],
  },
  'world-facts': {
    kind: 'graph',
    nodes: 12,
    facts: [
      [4, 5],
      [5, 4],
      [7, 1],
      [8, 1],
      [11, 5],
      [1, 0],
      [2, 6],
      [7, 9],
      [10, 3],
      [1, 8],
      [5, 11],
      [7, 8],
    ],
    path: [7, 1, 8],
  },
  'your-facts': {
    kind: 'graph',
    nodes: 12,
    facts: [
      [2, 7],
      [4, 5],
      [6, 5],
      [0, 4],
      [3, 6],
      [8, 6],
      [9, 1],
      [10, 1],
      [11, 2],
    ],
    path: [3, 6, 5],
  },
};
