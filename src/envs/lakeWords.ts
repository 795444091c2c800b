import { cellNames, DIRECTIONS, neighbour, offsetOf, offsetWords } from './board.ts';
import { type Lake, mostHoles } from './lake.ts';

/** What the agent reads after a move: the goal's direction and the cells around it (`outlook`), or only the name of its cell (`name`). */
export type CellReport = 'outlook' | 'name';

/** How lakes of one size are put into words. */
export interface LakeWords {
  readonly words: readonly string[]; // in addition to the words that all lakes share
  readonly map: (lake: Lake) => readonly string[]; // holes, goal and start
  readonly afterMove: (lake: Lake, at: number) => readonly string[]; // after a move
  readonly where: (lake: Lake, report: readonly string[]) => number; // the cell that a report of `afterMove` is about
  readonly most: { readonly map: number; readonly afterMove: number }; // largest numbers of words
}

/**
 * The words for lakes of one size. `name`: a move returns the cell's name, and the agent has to compare it with the holes that the
 * prompt lists. `outlook`: a move returns the rows and columns to the goal, and what is on the four sides. With names, 150 steps of
 * imitating an expert solved .32 of the lakes. With outlooks, 100 smaller steps of imitating a player that is right half the time
 * solved .66 (docs/journal/learning.md).
 */
export function lakeWords(size: number, sight: CellReport): LakeWords {
  const names = cellNames(size);
  const name = (cell: number) => names[cell] ?? '';
  const holesOf = ({ holes }: Lake) => names.filter((_, cell) => holes[cell]);
  const most = mostHoles(size);
  if (sight === 'name') {
    return {
      words: names,
      map: (lake) => ['at', name(lake.start), 'goal', name(lake.goal), 'holes', ...holesOf(lake)],
      afterMove: (_, at) => [name(at)],
      where: (_, [cell = '']) => names.indexOf(cell),
      most: { map: 5 + most, afterMove: 1 },
    };
  }
  const afterMove = (lake: Lake, at: number) => [...offsetOf(size, at, lake.goal), ...around(lake, at)];
  return {
    words: [...names, 'hole', 'ice', 'edge', ...offsetWords(size)],
    map: (lake) => ['holes', ...holesOf(lake), 'goal', name(lake.goal), 'at', ...afterMove(lake, lake.start)],
    afterMove,
    where: ({ goal }, [rows, columns]) =>
      names.findIndex((_, at) => offsetOf(size, at, goal).every((word, i) => word === [rows, columns][i])),
    most: { map: 10 + most, afterMove: 6 },
  };
}

/** What is on the four sides of a cell, in the order of DIRECTIONS. */
function around({ size, goal, holes }: Lake, at: number): readonly string[] {
  return DIRECTIONS.map((direction) => {
    const cell = neighbour(size, at, direction);
    return cell < 0 ? 'edge' : cell === goal ? 'goal' : holes[cell] ? 'hole' : 'ice';
  });
}
