import type { Reset, Split, ToolEnv } from '../envs/env.ts';
import { beginEpisode } from '../envs/episodeRules.ts';
import type { TextFace } from '../envs/textFace.ts';
import { tokenCount } from '../envs/textMistakes.ts';
import { textTurns } from '../envs/textTurns.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { classSettings } from './classSettings.ts';
import { type Declaration, EnvironmentFileError } from './declaration.ts';
import { measureTexts, type MeasuredTexts } from './measuredTexts.ts';
import { openEpisodes } from './openEpisodes.ts';
import { nameOf, type TaskOf, type Values } from './plays.ts';
import type { Sandbox } from './sandbox.ts';
import { imperfectMoves } from './imperfectMoves.ts';
import { NOTHING_LEFT, writtenTask } from './writtenTask.ts';

/** Tokens an episode may have: more take too much memory and time. */
const MOST_TOKENS = 4096;

/**
 * An environment that a person wrote, to be trained on in text: its tools, tasks and rewards are those of the class that
 * the sandbox holds. A seed chooses a task by its index; a task is the same in every run. Throws EnvironmentFileError where
 * the class has a fault, or its episodes are too long.
 */
export function writtenEnvironment(declaration: Declaration, sandbox: Sandbox, chatTokenizer: ChatTokenizer): ToolEnv {
  const settings = classSettings(sandbox.statics);
  const { tasks, maxTurns } = settings;
  const measured = measureTexts(sandbox, declaration, settings);
  const tokens = tokenCount(chatTokenizer.codec);
  const face = faceOf(declaration, measured);
  const text = textTurns({ chatTokenizer, face }, maxTurns);
  if (text.maxTokens > MOST_TOKENS) throw tooLong(text.maxTokens, measured, maxTurns, tokens);
  const most = measured.observations.reduce((longest, each) => Math.max(longest, tokens(each)), 1);
  const shortened = (said: string) => (tokens(said) <= most ? said : cut(said, (part) => tokens(part) <= most));
  const begin = openEpisodes(sandbox);
  const moves = measured.moves.length > 0 ? measured.moves : [NOTHING_LEFT];
  const rules = { declaration, settings, imperfect: imperfectMoves(moves), shortened };
  const resetTo =
    (split: TaskOf['split']): Reset =>
    (seed, now, luck = seed) => {
      const task = writtenTask(begin({ split, index: seed % tasks[split] }), rules);
      const speech = { speech: text.speech, maxTurns, think: false, stateOf: () => text.state };
      return beginEpisode(task, speech, luck, now);
    };
  const test: Split = { reset: resetTo('test'), doc: 'The test tasks of the class, which training never plays.' };
  return {
    name: YOUR_ENVIRONMENT,
    description: declaration.description,
    vocabulary: text.vocabulary,
    tools: declaration.tools.map((tool) => ({ ...tool, parameters: tool.parameters.map(nameOf) })),
    maxTokens: text.maxTokens,
    maxTurnTokens: text.maxTurnTokens,
    grammar: () => text.grammar,
    reset: resetTo('train'),
    demonstration: resetTo('train'),
    splits: { heldOut: test, shifted: test },
    allTasks: null,
    rule: null,
    retrieved: null,
  };
}

function faceOf({ name, description, tools }: Declaration, { prompts, turns, observations }: MeasuredTexts): TextFace {
  return {
    system: description || name,
    tools,
    question: (_, question) => question,
    callWords: (values, _, tool) => [tool, JSON.stringify(values)],
    call: ([tool = '', json = '{}']) => ({ tool, values: JSON.parse(json) as Values }),
    answerWords: (text) => [text],
    answerText: (words) => words.join(' '),
    observation: (words) => words.join(' '),
    longest: () => ({ questions: prompts, turns: [...turns, NOTHING_LEFT], observations }),
  };
}

function tooLong(
  all: number,
  { prompts, observations }: MeasuredTexts,
  maxTurns: number,
  tokens: (text: string) => number,
): EnvironmentFileError {
  const most = (texts: readonly string[]) => texts.reduce((longest, text) => Math.max(longest, tokens(text)), 0);
  return new EnvironmentFileError(
    `An episode may have ${all} tokens: ${maxTurns} turns, a prompt of ${most(prompts)} tokens, answers of up to ${most(observations)}. At most ${MOST_TOKENS} can be trained on. Make the prompt or the tools’ answers shorter, or maxTurns smaller.`,
    null,
  );
}

/** As much of a text as fits, with a mark at its end. */
function cut(text: string, fits: (part: string) => boolean): string {
  const letters = Array.from(text);
  let [some, all] = [0, letters.length];
  while (some < all) {
    const half = Math.ceil((some + all) / 2);
    if (fits(`${letters.slice(0, half).join('')}…`)) some = half;
    else all = half - 1;
  }
  return `${letters.slice(0, some).join('')}…`;
}
