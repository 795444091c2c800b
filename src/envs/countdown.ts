import type { EnvView } from '../domain/envView.ts';
import type { Random } from '../base/rng.ts';
import {
  apply,
  type Chain,
  DIGITS,
  drawChain,
  MAX_NUMBER,
  OPERATORS,
  readChain,
  results,
  spell,
  wordsOf,
} from './arithmeticChain.ts';
import { checkedAnswers } from '../domain/taskForm.ts';
import { ProblemError } from '../base/problem.ts';
import type { TaskForm, Reset, ToolEnv } from './env.ts';
import type { Task } from './episodeRules.ts';
import type { Side } from './split.ts';
import { buildTurns } from './turnRules.ts';
import { buildVocabulary } from './vocab.ts';

const MAX_DRAWN_NUMBER = 9; // largest number in a puzzle, so that each is one digit
/** Share of the outcome reward for using the right numbers with a wrong result (RAGEN). */
const FORMAT_ONLY_SHARE = 0.1;

export interface CountdownOptions {
  readonly hops: number; // operations in a training task; a shifted task has one more
  readonly think: boolean;
}

/**
 * Countdown (RAGEN): the task gives numbers of one digit and a target. In one turn the agent writes an expression that
 * uses each number once and equals the target, computed from left to right. A tenth of the reward is given if only the
 * numbers are right. All puzzles are solvable by construction.
 */
export function countdown({ hops, think }: CountdownOptions): ToolEnv {
  const vocabulary = buildVocabulary(['make', 'from', ...OPERATORS, ...DIGITS]);
  const numberCount = hops + 1;
  const maxNumbers = numberCount + 1;
  const { grammar, maxTurnTokens, makeReset } = buildTurns({
    vocabulary,
    think,
    maxTurns: 1,
    answer: {
      legalWords: Array.from({ length: 2 * maxNumbers - 1 }, (_, place) => (place % 2 === 0 ? DIGITS : OPERATORS)),
      lengths: Array.from({ length: maxNumbers }, (_, operators) => 2 * operators + 1),
    },
  });
  const puzzleTasks = (numbers: number, side: Side) =>
    makeReset((draw) => puzzleTask(drawTask(numbers, draw)), { side });
  return {
    name: 'countdown',
    description: 'Make a target out of numbers, each used once.',
    vocabulary: vocabulary.words,
    tools: [],
    maxTokens: 5 + maxNumbers + maxTurnTokens,
    maxTurnTokens,
    grammar,
    reset: puzzleTasks(numberCount, 'train'),
    demonstration: puzzleTasks(numberCount, 'train'),
    splits: {
      heldOut: {
        reset: puzzleTasks(numberCount, 'held-out'),
        doc: 'Numbers and targets that training never asks for, in any order.',
      },
      shifted: {
        reset: puzzleTasks(numberCount + 1, 'held-out'),
        doc: `Every task hands out ${numberCount + 1} numbers, one more than in training.`,
      },
    },
    taskForm: puzzleForm(numberCount, (puzzle) => makeReset(() => puzzleTask(puzzle))),
  };
}

/** Poses puzzles of up to one number more than in training. Only solvable puzzles are accepted. */
function puzzleForm(numberCount: number, makeReset: (puzzle: Puzzle) => Reset): TaskForm {
  const targets = Array.from({ length: MAX_NUMBER }, (_, n) => String(n + 1));
  const numbers = Array.from({ length: MAX_DRAWN_NUMBER }, (_, n) => String(n + 1));
  const number = (at: number) => ({ label: at === 0 ? 'from' : 'and', words: numbers, optional: at > 1 });
  const exampleNumbers = Array.from({ length: numberCount }, (_, at) => at + 2);
  const form = {
    doc: 'A target and the numbers to make it of, each used once, worked out from left to right.',
    blanks: [
      { label: 'Make', words: targets, optional: false },
      ...Array.from({ length: numberCount + 1 }, (_, at) => number(at)),
    ],
    example: [String(exampleNumbers.reduce((sum, n) => sum + n, 0)), ...exampleNumbers.map(String), ''],
  };
  return {
    ...form,
    makeTask: (words) => {
      const [target = '', ...rest] = checkedAnswers(form, words);
      const givenNumbers = rest.filter((word) => word !== '').map(Number);
      const solution = solve(Number(target), givenNumbers);
      if (solution) return { reset: makeReset({ numbers: givenNumbers, solution }), answerKnown: true };
      throw new ProblemError(`${givenNumbers.join(', ')} can’t make ${target} in any order. Change a number.`);
    },
  };
}

/** A chain over all the numbers, in any order, that equals the target, with every result from 0 to MAX_NUMBER; null if there is none. */
function solve(target: number, numbers: readonly number[]): Chain | null {
  const search = (chain: Chain, value: number, unused: readonly number[]): Chain | null => {
    if (unused.length === 0) return value === target ? chain : null;
    for (const [at, by] of unused.entries()) {
      for (const operator of OPERATORS) {
        const next = apply(value, operator, by);
        if (next < 0 || next > MAX_NUMBER) continue;
        const found = search({ ...chain, steps: [...chain.steps, { operator, by }] }, next, unused.toSpliced(at, 1));
        if (found) return found;
      }
    }
    return null;
  };
  for (const [at, first] of numbers.entries()) {
    const found = search({ first, steps: [] }, first, numbers.toSpliced(at, 1));
    if (found) return found;
  }
  return null;
}

interface Puzzle {
  readonly numbers: readonly number[]; // in the order of the prompt
  readonly solution: Chain;
}

function drawTask(numberCount: number, draw: Random): Puzzle {
  for (;;) {
    const numbers = Array.from({ length: numberCount }, () => 1 + draw.int(MAX_DRAWN_NUMBER));
    const solution = drawChain(numbers, draw);
    const target = solution ? (results(solution).at(-1) ?? 0) : 0;
    if (solution && target > 0 && !numbers.includes(target)) return { numbers: draw.shuffle([...numbers]), solution };
  }
}

const sortedText = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b).join();
const numbersOf = ({ first, steps }: Chain): readonly number[] => [first, ...steps.map(({ by }) => by)];

function puzzleTask({ numbers, solution }: Puzzle): Task {
  const result = results(solution).at(-1) ?? 0;
  const steps: (EnvView & { kind: 'sum' })['steps'][number][] = [];
  let givenAnswer: string | null = null;
  const answer = (chain: Chain): readonly string[] => ['<answer>', ...wordsOf(chain), '</answer>'];
  const guess = (draw: Random): Chain => {
    const [first = 0, ...rest] = draw.shuffle([...numbers]);
    return { first, steps: rest.map((by) => ({ operator: draw.pick(OPERATORS), by })) };
  };
  return {
    key: `${result} from ${sortedText(numbers)}`, // sorted, because the order of the numbers does not change the task
    prompt: ['<bos>', 'make', ...spell(result), 'from', ...numbers.map(String)],
    question: `Make ${result} from ${numbers.join(', ')}, from left to right.`,
    call: () => null,
    answer(words, turn) {
      const chain = readChain(words);
      if (!chain) return null;
      const value = results(chain).at(-1) ?? 0;
      const usesNumbersOnce = sortedText(numbersOf(chain)) === sortedText(numbers);
      givenAnswer = words.join(' ');
      steps.push({ turn, text: givenAnswer, result: String(value) });
      const success = usesNumbersOnce && value === result;
      const outcomeShare = success ? 1 : usesNumbersOnce ? FORMAT_ONLY_SHARE : 0;
      return { observation: [], progress: 0, stop: 'answered', success, outcomeShare };
    },
    neededWords: () => wordsOf(solution),
    expert: () => answer(solution),
    demonstrate: (quality, draw) => answer(draw.next() < quality ? solution : guess(draw)),
    view: () => ({
      kind: 'sum',
      title: 'Countdown',
      task: numbers.join(', '),
      wanted: result,
      steps: [...steps],
      given: givenAnswer,
    }),
  };
}
