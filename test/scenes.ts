import { ENV_NAMES, type EnvName, type OfferedEnv } from '../src/config/environments.ts';
import type { EnvView } from '../src/domain/envView.ts';
import type { Scene, TextSpan } from '../src/page/stage/scenes.ts';
import { expertPlay, subject } from './envs/checker.ts';

/** Seeds of the pictured tasks: the recordings' seed, or one whose task shows more of the environment. */
const SCENE_SEEDS: Readonly<Record<OfferedEnv, number>> = {
  'number-hunt': 4,
  'multi-hop': 7,
  'frozen-lake': 5,
  sokoban: 10,
  bandit: 7,
  'bandit-reversed': 7,
  calculator: 7,
  countdown: 16,
  'document-search': 11,
  'world-facts': 7,
  'your-facts': 7,
};

/** Every environment's scene worked out again: the scripted expert's episode, under the preset that has the environment's name. */
export function expertScenes(): Record<EnvName, Scene> {
  return Object.fromEntries(
    ENV_NAMES.map((env) => [env, sceneOf(expertPlay(subject(env), SCENE_SEEDS[env]).episode.view())]),
  ) as Record<EnvName, Scene>;
}

const CELLS = { floor: '.', wall: '#', hole: 'o', goal: '*' } as const;
const DIGITS = 2;

/** An environment's view without its texts. */
function sceneOf(view: EnvView): Scene {
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
