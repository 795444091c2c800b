import { Purpose, random, type Random } from '../base/rng.ts';
import type { Reset, Split, ToolEnv } from '../envs/env.ts';
import { beginEpisode, type Outcome, type Task, type OutOfTurnsResult } from '../envs/episodeRules.ts';
import type { AgentLanguage } from '../envs/turnCodec.ts';
import { type TextFace, callFace, cutToFit } from '../envs/textFace.ts';
import { tokenCount } from '../envs/textMistakes.ts';
import { textTurns } from '../envs/textTurns.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { classSettings, type ClassSettings, isSolved, rewardProblem, weightedReward } from './classSettings.ts';
import { type Declaration, EnvironmentFileError } from './script/declaration.ts';
import { measureTexts, type MeasuredTexts } from './measuredTexts.ts';
import { TEXT_MOVES, type MoveLanguage } from './moveLanguage.ts';
import { observing, readText } from './observing.ts';
import { openEpisodes, TASK_SEED, type WrittenEpisode } from './openEpisodes.ts';
import { type TaskId, type Move, type ArgumentValues, callProblem, randomKeyOf } from './plays.ts';
import { parameterName } from '../text/toolSchema.ts';
import type { Sandbox, Reply } from './script/sandbox.ts';
import { type WordTurns, wordTurns } from './wordMoves.ts';
import type { EnvView } from '../domain/envView.ts';

/** The rules and data that all tasks of a person's environment share. */
interface WrittenRules {
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
function writtenTask(episode: WrittenEpisode, rules: WrittenRules): Task {
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
  const outcome = ({ paid = 0, over = false, ...reply }: Reply, stop: 'found' | 'answered'): Outcome => ({
    observation: language.observation(shorten(readText(reply))),
    progress: paid,
    ...(over ? { stop, ...rewardSoFar() } : { stop: null, success: false }),
    ...(reply.refused !== undefined && { refused: true }),
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
      textsSoFar.push(readText(reply));
      steps.push({
        turn,
        text: `${name}(${argumentValues.map((value) => JSON.stringify(value)).join(', ')})`,
        result,
        shown: reply.shown ?? null,
        ...(reply.state !== undefined && { state: reply.state }),
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
const NO_NEXT_CALL = { answer: '?' } as const satisfies Move;

/** Limit on the tokens of an episode. More would take too much memory and time. */
const MAX_EPISODE_TOKENS = 4096;

/**
 * An environment that a person wrote, ready for training. Tools, tasks and rewards come from the class in the sandbox.
 * A seed chooses a task by its index, and a task is the same in every run. Throws EnvironmentFileError if the class has
 * a fault, or its episodes are too long.
 */
export function writtenEnvironment(
  declaration: Declaration,
  classSandbox: Sandbox,
  { chatTokenizer, think, observes }: AgentLanguage,
): ToolEnv {
  const sandbox = observes ? observing(classSandbox, declaration.tools) : classSandbox;
  const settings = classSettings(sandbox.statics);
  const { tasks, maxTurns } = settings;
  const measured = measureTexts(sandbox, declaration, settings);
  const turns = chatTokenizer
    ? textAgentTurns(chatTokenizer, declaration, measured, maxTurns)
    : wordTurns(declaration, measured, settings, think);
  if (turns.maxTokens > MAX_EPISODE_TOKENS) throw tooLongError(turns.maxTokens, measured, maxTurns, turns.countTokens);
  const openEpisode = openEpisodes(sandbox);
  const moves = measured.moves.length > 0 ? measured.moves : [NO_NEXT_CALL];
  const { examplePlays } = measured;
  const expertMoves = examplePlays.reduce((sum, play) => sum + play.moves.length, 0) / Math.max(1, examplePlays.length);
  const rules = { declaration, settings, expertMoves, imperfectMove: imperfectMoves(moves), shorten: turns.shorten };
  const resetFor =
    (split: TaskId['split']): Reset =>
    (seed, currentSettings, environmentSeed = seed) => {
      const language = turns.language(random(seed, Purpose.environment, 0));
      const task = writtenTask(openEpisode({ split, index: seed % tasks[split] }), { ...rules, language });
      const episodeRules = {
        turnCodec: turns.turnCodec,
        maxTurns,
        think,
        grammarStateOf: () => turns.grammarState(currentSettings.grammar),
      };
      return beginEpisode(task, episodeRules, environmentSeed, currentSettings);
    };
  const test: Split = {
    reset: resetFor('test'),
    doc: 'The test tasks of the class. Some of them may also occur in training.',
  };
  return {
    name: YOUR_ENVIRONMENT,
    description: declaration.description,
    vocabulary: turns.vocabulary,
    tools: declaration.tools.map((tool) => ({ ...tool, parameters: tool.parameters.map(parameterName) })),
    ...{ maxTokens: turns.maxTokens, maxTurns },
    hasExpert: declaration.hasExpert,
    maxTurnTokens: turns.maxTurnTokens,
    grammar: turns.grammar,
    reset: resetFor('train'),
    demonstration: resetFor('train'),
    demonstrationWork: measured.episodeWork,
    splits: { heldOut: test, shifted: test },
  };
}

/** The turns of an agent that reads and writes text. */
function textAgentTurns(
  chatTokenizer: ChatTokenizer,
  declaration: Declaration,
  measured: MeasuredTexts,
  maxTurns: number,
): WordTurns {
  const countTokens = tokenCount(chatTokenizer.codec);
  const { turnCodec, vocabulary, grammar, grammarState, maxTurnTokens, maxTokens } = textTurns(
    { chatTokenizer, face: textFaceOf(declaration, measured) },
    maxTurns,
  );
  const maxObservation = measured.observations.reduce((longest, each) => Math.max(longest, countTokens(each)), 1);
  return {
    ...{ turnCodec, vocabulary, maxTurnTokens, maxTokens, countTokens },
    grammar: () => grammar,
    grammarState: () => grammarState,
    language: () => TEXT_MOVES,
    shorten: (text) => cutToFit(text, (part) => countTokens(part) <= maxObservation),
  };
}

function textFaceOf(
  { name, description, tools }: Declaration,
  { prompts, turns, observations }: MeasuredTexts,
): TextFace {
  const longest = () => ({ questions: prompts, turns: [...turns, NO_NEXT_CALL], observations });
  return callFace({ system: description || name, tools, longestTexts: longest });
}

function tooLongError(
  all: number,
  { prompts, observations }: MeasuredTexts,
  maxTurns: number,
  countTokens: (text: string) => number,
): EnvironmentFileError {
  const maxTokensOf = (texts: readonly string[]) =>
    texts.reduce((longest, text) => Math.max(longest, countTokens(text)), 0);
  return new EnvironmentFileError(
    `An episode can have ${all} tokens, and the limit is ${MAX_EPISODE_TOKENS}. It has up to ${maxTurns} turns, a prompt of ${maxTokensOf(prompts)} tokens, and tool answers of up to ${maxTokensOf(observations)} tokens. Shorten the prompt or the tools’ answers, or lower maxTurns.`,
    null,
  );
}

/**
 * Makes an imperfect player. Its move is one of the given moves, which the expert (if there is none, a random player)
 * made in some task. If a text argument of the move does not occur in `textsSoFar`, the texts of this episode, it is
 * replaced by another value of the same argument that does occur there, if possible.
 */
function imperfectMoves(moves: readonly Move[]): (textsSoFar: string, draw: Random) => Move {
  const texts = new Map<string, Set<string>>(); // by the argument's name
  for (const move of moves) {
    for (const [name, value] of 'tool' in move ? Object.entries(move.values) : []) {
      if (typeof value === 'string') texts.set(name, (texts.get(name) ?? new Set()).add(value));
    }
  }
  return (textsSoFar, draw) => {
    const move = draw.pick(moves);
    if ('answer' in move) return move;
    const values = Object.entries(move.values).map(([name, value]) => {
      if (typeof value !== 'string' || textsSoFar.includes(value)) return [name, value];
      const readable = [...(texts.get(name) ?? [])].filter((otherValue) => textsSoFar.includes(otherValue));
      return [name, readable.length > 0 ? draw.pick(readable) : value];
    });
    return { tool: move.tool, values: Object.fromEntries(values) as ArgumentValues };
  };
}
