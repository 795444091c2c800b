import type { EnvView } from '../../domain/envView.ts';

/** A stretch of a text, as shares of its length. */
type TextSpan = readonly [from: number, to: number];

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

const CELLS = { floor: '.', wall: '#', hole: 'o', goal: '*' } as const;
const DIGITS = 2;

export function sceneOf(view: EnvView): Scene {
  switch (view.kind) {
    case 'number-line':
      return { kind: 'line', range: view.range, target: view.target, guesses: view.guesses.map(({ value }) => value) };
    case 'graph': {
      const facts = view.edges.flatMap((targets) =>
        targets.flatMap((to, from) => (to === null ? [] : [[from, to] as const])),
      );
      const first = view.searched[0]?.entity ?? 0;
      return {
        ...{ kind: 'graph', nodes: view.entities.length, facts },
        path: [first, ...view.searched.flatMap(({ to }) => to ?? [])],
      };
    }
    case 'grid':
      return {
        ...{ kind: 'board', size: view.size, cells: view.cells.map((cell) => CELLS[cell]).join('') },
        walk: [view.start, ...view.moves.map(({ at }) => at)],
        box: view.box,
      };
    case 'sum':
      return {
        kind: 'sum',
        task: view.task,
        wanted: view.wanted,
        steps: view.steps.map(({ text, result }) => `${text} = ${result}`),
      };
    case 'calls':
      return { kind: 'sum', task: view.title, wanted: 0, steps: view.steps.map(({ text }) => text) };
    case 'bandit':
      return { kind: 'arms', arms: view.arms, risky: view.arms.indexOf(view.risky) };
    case 'passages': {
      const passages = view.searches.flatMap((search) => search.passages);
      return {
        kind: 'passages',
        passages: passages.map(({ text, marks, answer }) => {
          const share = ([from, to]: TextSpan): TextSpan => [rounded(from / text.length), rounded(to / text.length)];
          return { marks: marks.map(share), answer: answer && share(answer) };
        }),
      };
    }
    default:
      return view satisfies never;
  }
}

function rounded(x: number): number {
  return Number(x.toFixed(DIGITS));
}
