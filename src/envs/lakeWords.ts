import { cellNames, DIRECTIONS, neighbour, offsetOf, offsetWords } from './board.ts';
import { type Lake, mostHoles } from './lake.ts';

/** What a walker is told after a move: what is to be seen from there, or just the name of the cell. */
export type Sight = 'outlook' | 'name';

/** How lakes of one size are put into words. */
export interface LakeWords {
  readonly words: readonly string[]; // beside those all lakes share
  readonly map: (lake: Lake) => readonly string[]; // holes, goal and start
  readonly told: (lake: Lake, at: number) => readonly string[]; // after a move
  readonly where: (lake: Lake, told: readonly string[]) => number; // the cell that was told of
  readonly most: { readonly map: number; readonly told: number }; // words
}

/**
 * `name`: each cell has a name, and what lies around it is looked up among the holes of the prompt. `outlook`: where the goal
 * lies as seen from there, rows and columns, and what lies left, below, to the right and above. By
 * names, 150 steps of imitating an expert left the model at .32 of the lakes; by outlooks, 100 smaller steps of imitating one who is
 * right half the time brought .66 (docs/journal/learning.md).
 */
export function lakeWords(size: number, sight: Sight): LakeWords {
  const names = cellNames(size);
  const name = (cell: number) => names[cell] ?? '';
  const holesOf = ({ holes }: Lake) => names.filter((_, cell) => holes[cell]);
  const most = mostHoles(size);
  if (sight === 'name') {
    return {
      words: names,
      map: (lake) => ['at', name(lake.start), 'goal', name(lake.goal), 'holes', ...holesOf(lake)],
      told: (_, at) => [name(at)],
      where: (_, [told = '']) => names.indexOf(told),
      most: { map: 5 + most, told: 1 },
    };
  }
  const told = (lake: Lake, at: number) => [...offsetOf(size, at, lake.goal), ...around(lake, at)];
  return {
    words: [...names, 'hole', 'ice', 'edge', ...offsetWords(size)],
    map: (lake) => ['holes', ...holesOf(lake), 'goal', name(lake.goal), 'at', ...told(lake, lake.start)],
    told,
    where: ({ goal }, [rows, columns]) =>
      names.findIndex((_, at) => offsetOf(size, at, goal).every((word, i) => word === [rows, columns][i])),
    most: { map: 10 + most, told: 6 },
  };
}

/** What lies around a cell, in the order of DIRECTIONS. */
function around({ size, goal, holes }: Lake, at: number): readonly string[] {
  return DIRECTIONS.map((direction) => {
    const cell = neighbour(size, at, direction);
    return cell < 0 ? 'edge' : cell === goal ? 'goal' : holes[cell] ? 'hole' : 'ice';
  });
}
