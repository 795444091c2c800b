import type { EnvView } from '../domain/envView.ts';
import type { Random } from '../base/rng.ts';
import {
  apply,
  type Chain,
  DIGITS,
  drawChain,
  isOperator,
  MOST,
  OPERATORS,
  readDigits,
  results,
  spell,
  wordsOf,
} from './arithmeticChain.ts';
import { checkedAnswers } from './taskFormAnswers.ts';
import { ProblemError } from '../base/problem.ts';
import type { Asking, Reset, Tool, ToolEnv } from './env.ts';
import type { Task } from './episodeRules.ts';
import { calculatorFace } from './calculatorFace.ts';
import type { Side } from './split.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { turnRules } from './turnRules.ts';
import { vocabulary } from './vocab.ts';

/** Knobs that fix the shape of the environment. */
export interface CalculatorOptions {
  readonly hops: number; // operations between question and answer
  readonly maxTurns: number; // the last one can only answer
  readonly think: boolean;
  readonly chatTokenizer?: ChatTokenizer | null; // it is played in text
}

/** What the calculator says of a result it has no digits for. */
const OVERFLOW = 'overflow';

const calculate: Tool<null> = {
  name: 'calculate',
  description: 'Works out one operation on two numbers.',
  parameters: ['a', 'operator', 'b'],
  execute([a, operator, b]) {
    if (!isOperator(operator)) return { ok: false, content: [] };
    const value = apply(Number(a), operator, Number(b));
    return { ok: true, content: value >= 0 && value <= MOST ? spell(value) : [OVERFLOW] };
  },
};

/**
 * Calculator chain: "a ∘ b ∘ c?" from left to right over numbers of two digits, more than a small model can work out in its
 * head; a calculator for one operation; then an answer, which is none of the numbers of the question. A digit is a word: what
 * has to be learned is to copy, and ten words are copied sooner than a hundred. Process reward: an equal share for each operation done in its place. Out of domain is a chain one
 * operation longer, where the turns allow it.
 */
export function calculator({ hops, maxTurns, think, chatTokenizer }: CalculatorOptions): ToolEnv {
  // each operation takes a turn, and so does the answer
  const longer = Math.min(hops + 1, Math.max(hops, maxTurns - 1));
  const words = vocabulary(['compute', '?', OVERFLOW, ...OPERATORS, ...DIGITS]);
  const { begin, room, ...turns } = turnRules({
    vocabulary: words,
    think,
    maxTurns,
    call: { places: [DIGITS, DIGITS, OPERATORS, DIGITS, DIGITS] },
    answer: { places: [DIGITS, DIGITS] },
    text: chatTokenizer ? { chatTokenizer, face: calculatorFace(OVERFLOW, longer) } : null,
  });
  const computing = (length: number, side: Side) =>
    begin((draw) => compute(drawTask(length, draw), maxTurns), { side });
  return {
    name: 'calculator',
    description: 'Work out a chain of operations with a calculator that does one at a time.',
    vocabulary: turns.vocabulary,
    tools: [calculate],
    maxTokens: room(5 + 3 * longer + maxTurns * turns.maxTurnTokens + (maxTurns - 1) * 4),
    maxTurnTokens: turns.maxTurnTokens,
    grammar: turns.grammar,
    reset: computing(hops, 'train'),
    demonstration: computing(hops, 'train'),
    splits: {
      heldOut: { reset: computing(hops, 'held-out'), doc: 'Chains that training never asks for.' },
      shifted: {
        reset: computing(longer, 'held-out'),
        doc:
          longer > hops
            ? `Every chain takes ${longer} operations, one more than in training.`
            : `Every chain takes ${hops} operations: ${maxTurns} turns leave no room for more.`,
      },
    },
    ...(!chatTokenizer && { data: { kind: 'calculator', maxTurns } }),
    asking: chains(hops, longer, (chain) => begin(() => compute(chain, maxTurns))),
  };
}

/** Chains of a person's own: up to as many operations as tasks out of the domain have. */
function chains(hops: number, longest: number, computing: (chain: Chain) => Reset): Asking {
  const numbers = Array.from({ length: MOST + 1 }, (_, n) => String(n));
  const number = (at: number) => ({ label: `Number ${at + 1}`, words: numbers, optional: at > 1 });
  const operator = (at: number) => ({ label: `Operation ${at}`, words: OPERATORS, optional: at > 1 });
  const form = {
    doc: `A chain worked out from left to right, over numbers from 0 to ${MOST}; so must all its results be.`,
    blanks: Array.from({ length: longest + 1 }, (_, at) =>
      at === 0 ? [number(0)] : [operator(at), number(at)],
    ).flat(),
    example: [
      '12',
      ...Array.from({ length: longest }, (_, at) => (at < hops ? ['+', String(5 + 3 * at)] : ['', ''])).flat(),
    ],
  };
  return { ...form, ask: (words) => ({ begin: computing(ownChain(checkedAnswers(form, words))), judged: true }) };
}

/** Throws ProblemError on half an operation and on a result that has no digits. */
function ownChain([first = '', ...rest]: readonly string[]): Chain {
  const steps: Chain['steps'][number][] = [];
  for (let at = 0; at < rest.length; at += 2) {
    const [operator, by = ''] = rest.slice(at, at + 2);
    if (!operator && by === '') continue;
    if (!isOperator(operator) || by === '') {
      throw new ProblemError(
        `Operation ${at / 2 + 1} is only “${`${operator ?? ''} ${by}`.trim()}”. Give it an operator and a number, or leave both empty.`,
      );
    }
    steps.push({ operator, by: Number(by) });
  }
  const chain = { first: Number(first), steps };
  const outOfRange = results(chain).find((value) => value < 0 || value > MOST);
  if (outOfRange === undefined) return chain;
  throw new ProblemError(
    `“${wordsOf(chain).join(' ')}” reaches ${outOfRange} on the way. Results must stay between 0 and ${MOST}: use smaller numbers.`,
  );
}

function drawTask(length: number, draw: Random): Chain {
  for (;;) {
    const numbers = Array.from({ length: length + 1 }, () => 2 + draw.int(MOST - 1));
    const chain = drawChain(numbers, draw);
    if (chain && !numbers.includes(results(chain).at(-1) ?? 0)) return chain;
  }
}

/** One chain and how far it has been worked out. */
function compute(chain: Chain, maxTurns: number): Task {
  const values = results(chain);
  const wanted = values.at(-1) ?? 0;
  const asked = wordsOf(chain);
  const steps: (EnvView & { kind: 'sum' })['steps'][number][] = [];
  let known = 0; // operations done in their place
  let givenAnswer: string | null = null;
  const done = () => known >= chain.steps.length;
  const currentValue = () => values[known] ?? 0;
  const next = (): readonly string[] | null => {
    const step = chain.steps[known];
    return step ? [...spell(currentValue()), step.operator, ...spell(step.by)] : null;
  };
  const answer = (number: number): readonly string[] => ['<answer>', ...spell(number), '</answer>'];
  const expert = (turn: number): readonly string[] => {
    const call = turn < maxTurns ? next() : null;
    return call ? ['<call>', ...call, '</call>'] : answer(currentValue());
  };
  return {
    key: asked.join(' '),
    prompt: ['<bos>', 'compute', ...asked.flatMap((word) => (isOperator(word) ? [word] : spell(Number(word)))), '?'],
    question: `What is ${asked.join(' ')}, from left to right?`,
    call(args, turn, tools) {
      const [a, operator, b] = [readDigits(args.slice(0, 2)), args[2], readDigits(args.slice(3))];
      if (a === null || !isOperator(operator) || b === null) return null;
      const { ok, content } = tools(calculate, [String(a), operator, String(b)], null);
      const useful = ok && args.join() === next()?.join();
      if (useful) known++;
      steps.push({ turn, text: `${a} ${operator} ${b}`, result: content.join('') });
      return { observation: content, progress: useful ? 1 / chain.steps.length : 0, stop: null, success: false };
    },
    answer(args, turn) {
      const number = readDigits(args);
      if (number === null) return null;
      givenAnswer = String(number);
      steps.push({ turn, text: 'answer', result: givenAnswer });
      return { observation: [], progress: 0, stop: 'answered', success: number === wanted };
    },
    needs: (turn) => (turn < maxTurns ? next() : null) ?? (done() ? spell(currentValue()) : []),
    expert,
    // A demonstrator who slips answers with the first result, whether or not there is more to work out.
    demonstrate: (quality, draw, turn) =>
      known === 0 || draw.next() < (done() ? quality : PATIENCE) ? expert(turn) : answer(values[1] ?? 0),
    view: () => ({
      kind: 'sum',
      title: 'Calculator chain',
      task: asked.join(' '),
      wanted,
      steps: [...steps],
      given: givenAnswer,
    }),
    data: () => ({ kind: 'calculator', ...chain }),
  };
}

/** Share of the turns between first and last operation in which a demonstrator goes on, so that all of them are shown. */
const PATIENCE = 0.7;
