import type { EnvView } from '../domain/envView.ts';
import type { Random } from '../base/rng.ts';
import {
  apply,
  type Chain,
  DIGITS,
  drawChain,
  MOST,
  OPERATORS,
  readChain,
  results,
  spell,
  wordsOf,
} from './arithmeticChain.ts';
import { checkedAnswers } from './taskFormAnswers.ts';
import { ProblemError } from '../base/problem.ts';
import type { Asking, Reset, ToolEnv } from './env.ts';
import type { Task } from './episodeRules.ts';
import type { Side } from './split.ts';
import { turnRules } from './turnRules.ts';
import { vocabulary } from './vocab.ts';

const LARGEST = 9; // one digit each
/** Share of the outcome reward for the right numbers with the wrong result (RAGEN). */
const FORMAT_ONLY = 0.1;

/** Knobs that fix the shape of the environment. */
export interface CountdownOptions {
  readonly hops: number; // operations in a task of training; out of the domain one more
  readonly think: boolean;
}

/**
 * Countdown (RAGEN): numbers of one digit and a target, one turn to write an expression that uses each number once and comes
 * out at the target, read from left to right. A tenth of the reward is paid where only the numbers are right. Solvable by
 * construction.
 */
export function countdown({ hops, think }: CountdownOptions): ToolEnv {
  const words = vocabulary(['make', 'from', ...OPERATORS, ...DIGITS]);
  const handed = hops + 1;
  const longest = handed + 1;
  const { grammar, maxTurnTokens, begin } = turnRules({
    vocabulary: words,
    think,
    maxTurns: 1,
    answer: {
      places: Array.from({ length: 2 * longest - 1 }, (_, place) => (place % 2 === 0 ? DIGITS : OPERATORS)),
      lengths: Array.from({ length: longest }, (_, operators) => 2 * operators + 1),
    },
  });
  const making = (numbers: number, side: Side) => begin((draw) => make(drawTask(numbers, draw)), { side });
  return {
    name: 'countdown',
    description: 'Make a target out of numbers, each used once.',
    vocabulary: words.words,
    tools: [],
    maxTokens: 5 + longest + maxTurnTokens,
    maxTurnTokens,
    grammar,
    reset: making(handed, 'train'),
    demonstration: making(handed, 'train'),
    splits: {
      heldOut: {
        reset: making(handed, 'held-out'),
        doc: 'Numbers and targets that training never asks for, in any order.',
      },
      shifted: {
        reset: making(handed + 1, 'held-out'),
        doc: `Every task hands out ${handed + 1} numbers, one more than in training.`,
      },
    },
    asking: ownPuzzles(handed, (puzzle) => begin(() => make(puzzle))),
  };
}

/** Puzzles of a person's own: up to one number more than in training. Only what can be solved is asked. */
function ownPuzzles(handed: number, making: (puzzle: Puzzle) => Reset): Asking {
  const targets = Array.from({ length: MOST }, (_, n) => String(n + 1));
  const numbers = Array.from({ length: LARGEST }, (_, n) => String(n + 1));
  const number = (at: number) => ({ label: at === 0 ? 'from' : 'and', words: numbers, optional: at > 1 });
  const given = Array.from({ length: handed }, (_, at) => at + 2);
  const form = {
    doc: 'A target and the numbers to make it of, each used once, worked out from left to right.',
    blanks: [
      { label: 'Make', words: targets, optional: false },
      ...Array.from({ length: handed + 1 }, (_, at) => number(at)),
    ],
    example: [String(given.reduce((sum, n) => sum + n, 0)), ...given.map(String), ''],
  };
  return {
    ...form,
    ask: (words) => {
      const [target = '', ...rest] = checkedAnswers(form, words);
      const of = rest.filter((word) => word !== '').map(Number);
      const solution = solve(Number(target), of);
      if (solution) return { begin: making({ numbers: of, solution }), judged: true };
      throw new ProblemError(`${of.join(', ')} can’t make ${target} in any order. Change a number.`);
    },
  };
}

/** A chain over all the numbers, in any order, that comes out at the target with every result from 0 to MOST; null if there is none. */
function solve(target: number, numbers: readonly number[]): Chain | null {
  const search = (chain: Chain, value: number, left: readonly number[]): Chain | null => {
    if (left.length === 0) return value === target ? chain : null;
    for (const [at, by] of left.entries()) {
      for (const operator of OPERATORS) {
        const next = apply(value, operator, by);
        if (next < 0 || next > MOST) continue;
        const found = search({ ...chain, steps: [...chain.steps, { operator, by }] }, next, left.toSpliced(at, 1));
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
  readonly numbers: readonly number[]; // as handed out
  readonly solution: Chain;
}

function drawTask(handed: number, draw: Random): Puzzle {
  for (;;) {
    const numbers = Array.from({ length: handed }, () => 1 + draw.int(LARGEST));
    const solution = drawChain(numbers, draw);
    const target = solution ? (results(solution).at(-1) ?? 0) : 0;
    if (solution && target > 0 && !numbers.includes(target)) return { numbers: draw.shuffle([...numbers]), solution };
  }
}

const sorted = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b).join();
const numbersOf = ({ first, steps }: Chain): readonly number[] => [first, ...steps.map(({ by }) => by)];

/** One puzzle. */
function make({ numbers, solution }: Puzzle): Task {
  const wanted = results(solution).at(-1) ?? 0;
  const steps: (EnvView & { kind: 'sum' })['steps'][number][] = [];
  let givenAnswer: string | null = null;
  const answer = (chain: Chain): readonly string[] => ['<answer>', ...wordsOf(chain), '</answer>'];
  const guess = (draw: Random): Chain => {
    const [first = 0, ...rest] = draw.shuffle([...numbers]);
    return { first, steps: rest.map((by) => ({ operator: draw.pick(OPERATORS), by })) };
  };
  return {
    key: `${wanted} from ${sorted(numbers)}`, // the order is only how they are handed out
    prompt: ['<bos>', 'make', ...spell(wanted), 'from', ...numbers.map(String)],
    question: `Make ${wanted} from ${numbers.join(', ')}, from left to right.`,
    call: () => null,
    answer(words, turn) {
      const chain = readChain(words);
      if (!chain) return null;
      const value = results(chain).at(-1) ?? 0;
      const fair = sorted(numbersOf(chain)) === sorted(numbers);
      givenAnswer = words.join(' ');
      steps.push({ turn, text: givenAnswer, result: String(value) });
      const success = fair && value === wanted;
      const payoff = success ? 1 : fair ? FORMAT_ONLY : 0;
      return { observation: [], progress: 0, stop: 'answered', success, payoff };
    },
    needs: () => wordsOf(solution),
    expert: () => answer(solution),
    demonstrate: (quality, draw) => answer(draw.next() < quality ? solution : guess(draw)),
    view: () => ({
      kind: 'sum',
      title: 'Countdown',
      task: numbers.join(', '),
      wanted,
      steps: [...steps],
      given: givenAnswer,
    }),
  };
}
