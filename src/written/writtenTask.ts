import type { Random } from '../base/rng.ts';
import type { EnvView } from '../domain/envView.ts';
import type { Outcome, Task, OutOfTurnsResult } from '../envs/episodeRules.ts';
import { type ClassSettings, isSolved, rewardProblem, weightedReward } from './classSettings.ts';
import { type Declaration, EnvironmentFileError } from './declaration.ts';
import { TASK_SEED, type WrittenEpisode } from './openEpisodes.ts';
import type { MoveLanguage } from './moveLanguage.ts';
import { callProblem, randomKeyOf, type Move, parameterName, type ArgumentValues } from './plays.ts';
import type { Reply } from './sandbox.ts';

/** The rules and data that all tasks of a person's environment share. */
export interface WrittenRules {
  readonly declaration: Declaration;
  readonly settings: ClassSettings;
  /** Mean number of moves in an episode of the expert. */
  readonly expertMoves: number;
  /** A move of the imperfect player, given the texts of the episode so far. */
  readonly imperfectMove: (textsSoFar: string, draw: Random) => Move;
  readonly shorten: (text: string) => string; // cuts a tool's answer to the longest length that episodes allow
  readonly language: MoveLanguage; // of this episode
}

/** A task of a person's environment. Throws EnvironmentFileError if the environment has a fault. */
export function writtenTask(episode: WrittenEpisode, rules: WrittenRules): Task {
  const { declaration, settings, expertMoves, imperfectMove, shorten, language } = rules;
  const { task, prompt, shown } = episode;
  const textsSoFar = [prompt];
  const steps: (EnvView & { kind: 'calls' })['steps'][number][] = [];
  let earned: Readonly<Record<string, number>> | null = null;
  const rewardSoFar = (): OutOfTurnsResult => {
    const [{ parts = {} } = {}] = episode.ask([{ op: 'reward' }]);
    earned = parts;
    const problem = rewardProblem(parts, settings);
    if (problem !== null) throw new EnvironmentFileError(`${problem} (${task.split} task ${task.index})`, null);
    return { success: isSolved(parts, settings), outcomeShare: weightedReward(parts, settings) };
  };
  const outcome = ({ text, refused, paid = 0, over = false }: Reply, stop: 'found' | 'answered'): Outcome => ({
    observation: language.observation(shorten(text ?? refused ?? '')),
    progress: paid,
    ...(over ? { stop, ...rewardSoFar() } : { stop: null, success: false }),
    ...(refused !== undefined && { refused: true }),
  });
  const expert = (turn: number): Move | null => {
    const [reply = {}] = episode.ask([{ op: 'expert', chance: randomKeyOf(TASK_SEED + turn, task) }]);
    if (reply.none) return null;
    if (reply.answer !== undefined) return { answer: reply.answer };
    const call = { tool: reply.tool ?? '', values: (reply.values ?? {}) as ArgumentValues };
    const problem = callProblem(declaration.tools, call.tool, call.values);
    if (problem === null) return call;
    throw new EnvironmentFileError(`expert() makes a wrong call: ${problem} (${task.split} task ${task.index}).`, null);
  };
  return {
    key: `${task.split} ${task.index}`,
    prompt: language.prompt(prompt),
    question: prompt,
    ...(language.names && { names: language.names }),
    call(words, turn) {
      const call = language.call(words);
      if (call === null) return null;
      const { tool: name, values } = call;
      const tool = declaration.tools.find((each) => each.name === name);
      const argumentValues = (tool?.parameters ?? []).map((parameter) => values[parameterName(parameter)]);
      const [reply = {}] = episode.ask([{ op: 'call', tool: name, values: argumentValues }]);
      const result = reply.text ?? reply.refused ?? '';
      textsSoFar.push(result);
      steps.push({
        turn,
        text: `${name}(${argumentValues.map((value) => JSON.stringify(value)).join(', ')})`,
        result,
        shown: reply.shown ?? null,
      });
      return outcome(reply, 'found');
    },
    answer(words, turn) {
      const text = language.answer(words);
      const [reply = {}] = episode.ask([{ op: 'answer', text }]);
      steps.push({ turn, text, result: '', shown: reply.shown ?? null });
      return outcome(reply, 'answered');
    },
    neededWords: (turn) => language.turn(expert(turn) ?? NO_NEXT_CALL).slice(1, -1),
    outOfTurns: rewardSoFar,
    expert: (turn) => language.turn(expert(turn) ?? NO_NEXT_CALL),
    demonstrate: (quality, draw, turn) =>
      language.turn(
        (draw.next() < moveQuality(quality, expertMoves) ? expert(turn) : null) ??
          imperfectMove(textsSoFar.join(' '), draw),
      ),
    view: () => ({ kind: 'calls', title: declaration.name, prompt, shown, steps: [...steps], earned }),
  };
}

/** The lowest probability that the demonstrator makes the expert's move. With less there is little to imitate. */
const MIN_MOVE_QUALITY = 0.6;

/**
 * Probability that the demonstrator makes the expert's move, so that it makes no mistake in this share of the episodes
 * (`quality`). In long episodes it may err less often, or the agent that imitates it would never solve a task.
 */
function moveQuality(quality: number, expertMoves: number): number {
  return Math.max(MIN_MOVE_QUALITY, quality ** (1 / Math.max(1, expertMoves)));
}

/** The move to use if the class has no expert, or no move was measured. It ends the episode. */
export const NO_NEXT_CALL = { answer: '?' } as const satisfies Move;
