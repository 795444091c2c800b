import type { WrittenTurn } from '../text/turnFormat.ts';
import type { ClassSettings } from './classSettings.ts';
import { type Declaration, EnvironmentFileError } from './script/declaration.ts';
import { TASK_SEED } from './openEpisodes.ts';
import { chancePlayer, EXPERT, type Move, type Play, playTasks, type TaskId, type ArgumentValues } from './plays.ts';
import { readText } from './observing.ts';
import { parameterName } from '../text/toolSchema.ts';
import type { Sandbox } from './script/sandbox.ts';

/** Texts and moves from test episodes of an environment. They show how long episodes can get and which words occur. */
export interface MeasuredTexts {
  readonly prompts: readonly string[];
  readonly turns: readonly WrittenTurn[];
  readonly observations: readonly string[];
  /** The expert's moves. Without an expert, random moves. */
  readonly moves: readonly Move[];
  /** Every episode that was played. */
  readonly plays: readonly Play[];
  /** The expert's episodes. Without an expert, the random ones. */
  readonly examplePlays: readonly Play[];
  /** Work of an episode with the expert: calls and loop turns of the class's code. */
  readonly episodeWork: number;
}

/** Number of tasks that are played in each split (fewer if the split has fewer). */
const TASKS_PER_SPLIT = 250;
/**
 * How many of the longest texts are kept. It is more than one, because only a tokenizer knows which text has the most
 * tokens.
 */
const MAX_LONGEST_TEXTS = 64;

/**
 * Plays the first tasks of each split with the environment's expert and a random player, and collects the longest
 * prompts, calls and answers. Throws EnvironmentFileError with the first fault that occurs.
 */
export function measureTexts(
  sandbox: Sandbox,
  { tools, hasExpert }: Declaration,
  settings: ClassSettings,
): MeasuredTexts {
  const { tasks, maxTurns } = settings;
  const taskIds = (['train', 'test'] as const).flatMap((split) =>
    Array.from({ length: Math.min(tasks[split], TASKS_PER_SPLIT) }, (_, index): TaskId => ({ split, index })),
  );
  const options = { seed: TASK_SEED, maxTurns };
  const { result: expertPlays, work } = sandbox.counted(() =>
    playTasks(sandbox, tools, taskIds, { ...options, player: EXPERT }),
  );
  const chancePlays = playTasks(sandbox, tools, taskIds, { ...options, player: chancePlayer(tools, TASK_SEED) });
  const plays = [...expertPlays, ...chancePlays];
  const faultyPlay = plays.find(({ problems }) => problems.length > 0);
  const [problem] = faultyPlay?.problems ?? [];
  if (faultyPlay && problem) {
    throw new EnvironmentFileError(
      `${problem.text} (${faultyPlay.task.split} task ${faultyPlay.task.index})`,
      problem.line,
    );
  }
  const examplePlays = hasExpert ? expertPlays : chancePlays;
  const moves = distinct(examplePlays.flatMap((play) => play.moves));
  return {
    prompts: longestTexts(plays.map(({ prompt }) => prompt)),
    turns: [
      ...largestBy(moves, (move) => JSON.stringify(move).length),
      ...tools.map(({ name, parameters }) => ({
        tool: name,
        values: longestValues(moves, name, parameters.map(parameterName)),
      })),
    ],
    observations: longestTexts(plays.flatMap(answersOf)),
    moves,
    plays,
    examplePlays,
    episodeWork: work / taskIds.length,
  };
}

/** What the agent reads after each turn of an episode. */
export const answersOf = ({ replies }: Play) => replies.map(readText);
const longestTexts = (texts: readonly string[]) => largestBy([...new Set(texts)], ({ length }) => length);

function largestBy<T>(list: readonly T[], size: (item: T) => number): readonly T[] {
  return list.toSorted((a, b) => size(b) - size(a)).slice(0, MAX_LONGEST_TEXTS);
}

function distinct<T>(list: readonly T[]): readonly T[] {
  return [...new Map(list.map((item) => [JSON.stringify(item), item])).values()];
}

/** The longest value of each argument of a tool, because a player may combine them in one call. */
function longestValues(moves: readonly Move[], tool: string, names: readonly string[]): ArgumentValues {
  const size = (value: unknown) => String(value).length;
  const values = moves.flatMap((move) => ('tool' in move && move.tool === tool ? [move.values] : []));
  return Object.fromEntries(
    names.map((name) => {
      const [first = '', ...rest] = values.map((each) => each[name]);
      return [
        name,
        rest.reduce((longestValue, value) => (size(value) > size(longestValue) ? value : longestValue), first),
      ];
    }),
  );
}
