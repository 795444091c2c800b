import type { EnvView } from '../domain/envView.ts';
import { checkedAnswers } from '../domain/taskForm.ts';
import type { TaskForm, Reset, Tool, ToolEnv } from './env.ts';
import type { Task } from './episodeRules.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { buildTurns } from './turnRules.ts';
import { buildVocabulary, FAILURE_WORD } from './vocab.ts';
import { longestOf, type TextFace } from './textFace.ts';

/** Words without information that make an observation longer and harder to read. */
const FILLERS = ['well', 'so', 'now', 'hmm', 'then', 'okay', 'right', 'look'] as const;

const SHIFTED_FAILURE_RATE = 0.2;

export interface NumberHuntOptions {
  readonly range: number;
  readonly distractors: number; // filler words in each observation
  readonly maxTurns: number;
  readonly think: boolean;
  readonly chatTokenizer?: ChatTokenizer | null; // if given, the agent plays in text with this tokenizer
}

interface HiddenNumber {
  readonly target: number;
  readonly distractors: number;
}

/** Compares a number with the hidden number. Answers `higher`, `lower` or `found`, mixed with filler words. */
const compare: Tool<HiddenNumber> = {
  name: 'compare',
  description: 'Says whether the hidden number is higher or lower than n.',
  parameters: ['n'],
  execute([n], { target, distractors }, draw) {
    const value = Number(n);
    const verdict = value === target ? 'found' : target > value ? 'higher' : 'lower';
    const words: string[] = Array.from({ length: distractors }, () => draw.pick(FILLERS));
    words.splice(draw.int(words.length + 1), 0, verdict);
    return { ok: true, content: words };
  },
};

/**
 * Number hunt: the agent looks for a hidden number from 0 to range − 1 with a tool that answers higher or lower. With
 * 16 numbers and four turns, halving finds 15 of the 16 numbers; guessing at random finds a quarter of them.
 *
 * The process reward of a call is log(numbers possible before / numbers possible after) / log(range). This is
 * potential-based shaping (Ng, Harada & Russell 1999): it adds up to 1 when the number is found, whatever the calls
 * were. Consecutive seeds step through the hidden numbers, so `range` seeds in a row have each number once.
 */
export function numberHunt(options: NumberHuntOptions): ToolEnv {
  const { range, distractors, maxTurns, think, chatTokenizer } = options;
  const numbers = Array.from({ length: range }, (_, n) => String(n));
  const vocabulary = buildVocabulary(['find', 'higher', 'lower', ...FILLERS, ...numbers]);
  const { makeReset, episodeTokens, ...turns } = buildTurns({
    vocabulary,
    think,
    maxTurns,
    call: { legalWords: [numbers] },
    text: chatTokenizer ? { chatTokenizer, face: numberHuntFace(range, FILLERS, distractors) } : null,
  });
  const reset = makeReset((_, { seed }) => huntTask(options, seed % range));
  return {
    name: 'number-hunt',
    description: `Find a hidden number from 0 to ${range - 1} by asking whether it is higher or lower.`,
    vocabulary: turns.vocabulary,
    tools: [compare],
    maxTokens: episodeTokens(2 + maxTurns * turns.maxTurnTokens + (maxTurns - 1) * (3 + distractors)),
    maxTurnTokens: turns.maxTurnTokens,
    grammar: turns.grammar,
    reset,
    demonstration: reset,
    taskCount: range,
    splits: {
      heldOut: null,
      shifted: {
        reset: (seed, settings, environmentSeed) => {
          const episode = reset(seed, settings, environmentSeed);
          const failureRate = Math.max(SHIFTED_FAILURE_RATE, settings.failureRate);
          return {
            ...episode,
            step: (action, currentSettings) => episode.step(action, { ...currentSettings, failureRate }),
          };
        },
        doc: 'The tool fails at least one time in five.',
      },
    },
    taskForm: huntForm(numbers, (target) => makeReset(() => huntTask(options, target))),
  };
}

function huntForm(numbers: readonly string[], makeReset: (target: number) => Reset): TaskForm {
  const form = {
    doc: 'Hide a number. The agent does not see it, only what the tool says of its guesses.',
    blanks: [{ label: 'Hidden number', words: numbers, optional: false }],
    example: [numbers.at(Math.floor(numbers.length / 3)) ?? '0'],
  };
  return {
    ...form,
    makeTask: (words) => ({ reset: makeReset(Number(checkedAnswers(form, words)[0])), answerKnown: true }),
  };
}

/** Makes the task of one hidden number. It tracks the range of numbers that are still possible. */
function huntTask({ range, distractors }: NumberHuntOptions, target: number): Task {
  const guesses: (EnvView & { kind: 'number-line' })['guesses'][number][] = [];
  let low = 0;
  let high = range - 1;
  const call = (n: number): readonly string[] => ['<call>', String(n), '</call>'];
  const halve = () => call((low + high) >> 1);
  return {
    key: String(target),
    prompt: ['<bos>', 'find'],
    question: `Find the number from 0 to ${range - 1}.`,
    call(args, turn, tools) {
      const value = Number(args[0]);
      if (args.length !== 1 || !/^\d+$/.test(args[0] ?? '') || value >= range) return null;
      const { ok, content } = tools(compare, args, { target, distractors });
      if (!ok) {
        guesses.push({ turn, value, answer: 'failed' });
        return { observation: content, progress: 0, stop: null, success: false };
      }
      const answer = content.includes('found') ? 'found' : content.includes('higher') ? 'higher' : 'lower';
      const before = high - low + 1;
      if (answer !== 'lower') low = Math.max(low, answer === 'found' ? value : value + 1);
      if (answer !== 'higher') high = Math.min(high, answer === 'found' ? value : value - 1);
      guesses.push({ turn, value, answer });
      const found = answer === 'found';
      return {
        observation: content,
        progress: Math.log(before / (high - low + 1)) / Math.log(range),
        stop: found ? 'found' : null,
        success: found,
      };
    },
    answer: () => null,
    // Every number that is still possible. Choosing among them is what the agent has to learn.
    neededWords: () => Array.from({ length: high - low + 1 }, (_, i) => String(low + i)),
    rightAnswer: () => call(target),
    expert: halve,
    // The demonstrations only use the last answer. Halving is not shown: RL has to find it.
    demonstrate: (quality, draw) => {
      const last = guesses.at(-1);
      const usesLastAnswer = last !== undefined && last.answer !== 'failed' && draw.next() < quality;
      if (!usesLastAnswer) return call(draw.int(range));
      return call(last.answer === 'higher' ? last.value + 1 + draw.int(range - 1 - last.value) : draw.int(last.value));
    },
    view: () => ({ kind: 'number-line', range, target, guesses: [...guesses] }),
  };
}

/** Numbers are JSON numbers, and there are no answers. An observation has `distractors` words out of `fillers`. */
function numberHuntFace(range: number, fillers: readonly string[], distractors: number): TextFace {
  const maxNumber = range - 1;
  const question = `Find the number from 0 to ${maxNumber}.`;
  return {
    system: 'You find a hidden number by calls.',
    tools: [
      {
        name: 'compare',
        description: 'Says whether the hidden number is higher or lower than n.',
        parameters: [{ name: 'n', type: 'integer' }],
      },
    ],
    question: () => question,
    callWords: ({ n }, quote) => {
      const value = Number(n);
      return value >= 0 && value <= maxNumber
        ? [String(value)]
        : { wrong: `${quote(String(n))} as n; want 0 to ${maxNumber}` };
    },
    call: ([n]) => ({ tool: 'compare', values: { n: Number(n) } }),
    answerWords: () => ({ wrong: 'no call; want a call of compare' }),
    answerText: (words) => words.join(' '),
    observation: (words) => words.join(' '),
    longestTexts: (countTokens) => {
      const longestFillers = Array.from({ length: distractors }, () => longestOf(fillers, countTokens));
      return {
        questions: [question],
        turns: Array.from({ length: range }, (_, n) => ({ tool: 'compare', values: { n } })),
        observations: ['higher', 'lower', FAILURE_WORD].flatMap((verdict) => [
          [...longestFillers, verdict].join(' '),
          [verdict, ...longestFillers].join(' '),
        ]),
      };
    },
  };
}
