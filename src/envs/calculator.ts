import type { EnvView } from '../domain/envView.ts';
import type { Random } from '../base/rng.ts';
import {
  apply,
  type Chain,
  DIGITS,
  drawChain,
  isOperator,
  MAX_NUMBER,
  OPERATORS,
  readDigits,
  results,
  spell,
  wordsOf,
} from './arithmeticChain.ts';
import { checkedAnswers } from '../domain/taskForm.ts';
import { ProblemError } from '../base/problem.ts';
import type { TaskForm, Reset, Tool, ToolEnv } from './env.ts';
import type { Task } from './episodeRules.ts';
import type { Side } from './split.ts';
import type { ChatTokenizer } from '../text/chatTokenizer.ts';
import { buildTurns } from './turnRules.ts';
import { buildVocabulary, FAILURE_WORD } from './vocab.ts';
import type { Quote } from '../text/turnFormat.ts';
import { longestOf, type TextFace, type WrongValue } from './textFace.ts';

// People type * for ×.
const SIGNS = OPERATORS.map((operator) => (operator === '×' ? '*' : operator));
const signOf = (operator: string) => (operator === '×' ? '*' : operator);
const operatorOf = (sign: unknown) => (sign === '*' ? '×' : String(sign));

/** Translates words to text and back. Numbers are JSON numbers, as people write them, and × is written as *. */
function calculatorFace(overflow: string, maxOperations: number): TextFace {
  return {
    system: 'You calculate from left to right, one operation a call, then answer with the number.',
    tools: [
      {
        name: 'calculate',
        description: 'Works out one operation on two numbers.',
        parameters: [
          { name: 'a', type: 'integer' },
          { name: 'operator', type: 'string', enum: SIGNS },
          { name: 'b', type: 'integer' },
        ],
      },
    ],
    question: (_, question) => question.replaceAll('×', '*').replace(', from left to right', ''),
    callWords: ({ a, operator, b }, quote) => {
      const [aDigits, bDigits] = [digits('a', a, quote), digits('b', b, quote)];
      const sign = operatorOf(operator);
      if ('wrong' in aDigits) return aDigits;
      if ('wrong' in bDigits) return bDigits;
      if (!isOperator(sign)) return { wrong: `${quote(sign)} as operator; want one of ${SIGNS.join(' ')}` };
      return [...aDigits, sign, ...bDigits];
    },
    call: ([a1, a2, operator = '', b1, b2]) => ({
      tool: 'calculate',
      values: { a: Number(`${a1}${a2}`), operator: signOf(operator), b: Number(`${b1}${b2}`) },
    }),
    answerWords: (text, quote) =>
      /^\d+$/.test(text)
        ? digits('the answer', Number(text), quote)
        : { wrong: 'an answer that is no number; want it alone' },
    answerText: (words) => String(Number(words.join(''))),
    // join digits, so that a number reads as one number
    observation: (words) =>
      words.every((word) => DIGITS.some((digit) => digit === word)) ? String(Number(words.join(''))) : words.join(' '),
    longestTexts: (countTokens) => {
      const number = longestOf(
        Array.from({ length: MAX_NUMBER + 1 }, (_, n) => String(n)),
        countTokens,
      );
      const chain = Array.from({ length: maxOperations }, () => `${longestOf(SIGNS, countTokens)} ${number}`).join(' ');
      return {
        questions: [`What is ${number} ${chain}?`],
        turns: [
          ...SIGNS.map((operator) => ({
            tool: 'calculate',
            values: { a: Number(number), operator, b: Number(number) },
          })),
          { answer: number },
        ],
        observations: [overflow, FAILURE_WORD, number],
      };
    },
  };
}

function digits(name: string, value: unknown, quote: Quote): readonly string[] | WrongValue {
  const number = Number(value);
  if (number >= 0 && number <= MAX_NUMBER) return spell(number);
  return { wrong: `${quote(String(value))} as ${name}; want 0 to ${MAX_NUMBER}` };
}

export interface CalculatorOptions {
  readonly hops: number; // operations between question and answer
  readonly maxTurns: number; // the last one can only answer
  readonly think: boolean;
  readonly chatTokenizer?: ChatTokenizer | null; // if given, the agent plays in text with this tokenizer
}

/** Observation for a result that two digits cannot express. */
const OVERFLOW = 'overflow';

const calculate: Tool<null> = {
  name: 'calculate',
  description: 'Works out one operation on two numbers.',
  parameters: ['a', 'operator', 'b'],
  execute([a, operator, b]) {
    if (!isOperator(operator)) return { ok: false, content: [] };
    const value = apply(Number(a), operator, Number(b));
    return { ok: true, content: value >= 0 && value <= MAX_NUMBER ? spell(value) : [OVERFLOW] };
  },
};

/**
 * Calculator chain: "a ∘ b ∘ c?" from left to right over numbers of two digits, too hard for a small model to compute
 * without a tool. A calculator does one operation per call; then the agent answers. The answer is never a number of the
 * question. Each digit is a word, because the agent has to learn to copy, and copying ten words is learned sooner than
 * copying a hundred.
 *
 * Process reward: an equal share for each operation done in order. Shifted tasks have one operation more, if the turns
 * allow it.
 */
export function calculator({ hops, maxTurns, think, chatTokenizer }: CalculatorOptions): ToolEnv {
  // each operation takes a turn, and so does the answer
  const shiftedHops = Math.min(hops + 1, Math.max(hops, maxTurns - 1));
  const vocabulary = buildVocabulary(['compute', '?', OVERFLOW, ...OPERATORS, ...DIGITS]);
  const { makeReset, episodeTokens, ...turns } = buildTurns({
    vocabulary,
    think,
    maxTurns,
    call: { legalWords: [DIGITS, DIGITS, OPERATORS, DIGITS, DIGITS] },
    answer: { legalWords: [DIGITS, DIGITS] },
    text: chatTokenizer ? { chatTokenizer, face: calculatorFace(OVERFLOW, shiftedHops) } : null,
  });
  const chainTasks = (length: number, side: Side) =>
    makeReset((draw) => chainTask(drawTask(length, draw), maxTurns), { side });
  return {
    name: 'calculator',
    description: 'Work out a chain of operations with a calculator that does one at a time.',
    vocabulary: turns.vocabulary,
    tools: [calculate],
    maxTokens: episodeTokens(5 + 3 * shiftedHops + maxTurns * turns.maxTurnTokens + (maxTurns - 1) * 4),
    maxTurnTokens: turns.maxTurnTokens,
    grammar: turns.grammar,
    reset: chainTasks(hops, 'train'),
    demonstration: chainTasks(hops, 'train'),
    splits: {
      heldOut: { reset: chainTasks(hops, 'held-out'), doc: 'Chains that training never asks for.' },
      shifted: {
        reset: chainTasks(shiftedHops, 'held-out'),
        doc:
          shiftedHops > hops
            ? `Every chain takes ${shiftedHops} operations, one more than in training.`
            : `Every chain takes ${hops} operations: ${maxTurns} turns leave no room for more.`,
      },
    },
    taskForm: chainForm(hops, shiftedHops, (chain) => makeReset(() => chainTask(chain, maxTurns))),
  };
}

/** Makes the form in which a person poses a chain, with at most as many operations as in shifted tasks. */
function chainForm(hops: number, maxOperations: number, makeReset: (chain: Chain) => Reset): TaskForm {
  const numbers = Array.from({ length: MAX_NUMBER + 1 }, (_, n) => String(n));
  const number = (at: number) => ({ label: `Number ${at + 1}`, words: numbers, optional: at > 1 });
  const operator = (at: number) => ({ label: `Operation ${at}`, words: OPERATORS, optional: at > 1 });
  const form = {
    doc: `A chain worked out from left to right, over numbers from 0 to ${MAX_NUMBER}; so must all its results be.`,
    blanks: Array.from({ length: maxOperations + 1 }, (_, at) =>
      at === 0 ? [number(0)] : [operator(at), number(at)],
    ).flat(),
    example: [
      '12',
      ...Array.from({ length: maxOperations }, (_, at) => (at < hops ? ['+', String(5 + 3 * at)] : ['', ''])).flat(),
    ],
  };
  return {
    ...form,
    makeTask: (words) => ({ reset: makeReset(chainFromForm(checkedAnswers(form, words))), answerKnown: true }),
  };
}

/** Throws ProblemError if an operation lacks its operator or number, or if a result is out of range. */
function chainFromForm([first = '', ...rest]: readonly string[]): Chain {
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
  const outOfRange = results(chain).find((value) => value < 0 || value > MAX_NUMBER);
  if (outOfRange === undefined) return chain;
  throw new ProblemError(
    `“${wordsOf(chain).join(' ')}” reaches ${outOfRange} on the way. Results must stay between 0 and ${MAX_NUMBER}: use smaller numbers.`,
  );
}

function drawTask(length: number, draw: Random): Chain {
  for (;;) {
    const numbers = Array.from({ length: length + 1 }, () => 2 + draw.int(MAX_NUMBER - 1));
    const chain = drawChain(numbers, draw);
    if (chain && !numbers.includes(results(chain).at(-1) ?? 0)) return chain;
  }
}

/** Makes the task of one chain. It tracks how many operations are done. */
function chainTask(chain: Chain, maxTurns: number): Task {
  const values = results(chain);
  const result = values.at(-1) ?? 0;
  const chainWords = wordsOf(chain);
  const steps: (EnvView & { kind: 'sum' })['steps'][number][] = [];
  let operationsDone = 0; // number of operations done in order
  let givenAnswer: string | null = null;
  const isDone = () => operationsDone >= chain.steps.length;
  const currentValue = () => values[operationsDone] ?? 0;
  const nextCall = (): readonly string[] | null => {
    const step = chain.steps[operationsDone];
    return step ? [...spell(currentValue()), step.operator, ...spell(step.by)] : null;
  };
  const answer = (number: number): readonly string[] => ['<answer>', ...spell(number), '</answer>'];
  const expert = (turn: number): readonly string[] => {
    const call = turn < maxTurns ? nextCall() : null;
    return call ? ['<call>', ...call, '</call>'] : answer(currentValue());
  };
  return {
    key: chainWords.join(' '),
    prompt: [
      '<bos>',
      'compute',
      ...chainWords.flatMap((word) => (isOperator(word) ? [word] : spell(Number(word)))),
      '?',
    ],
    question: `What is ${chainWords.join(' ')}, from left to right?`,
    call(args, turn, tools) {
      const [a, operator, b] = [readDigits(args.slice(0, 2)), args[2], readDigits(args.slice(3))];
      if (a === null || !isOperator(operator) || b === null) return null;
      const { ok, content } = tools(calculate, [String(a), operator, String(b)], null);
      const useful = ok && args.join() === nextCall()?.join();
      if (useful) operationsDone++;
      steps.push({ turn, text: `${a} ${operator} ${b}`, result: content.join('') });
      return { observation: content, progress: useful ? 1 / chain.steps.length : 0, stop: null, success: false };
    },
    answer(args, turn) {
      const number = readDigits(args);
      if (number === null) return null;
      givenAnswer = String(number);
      steps.push({ turn, text: 'answer', result: givenAnswer });
      return { observation: [], progress: 0, stop: 'answered', success: number === result };
    },
    neededWords: (turn) => (turn < maxTurns ? nextCall() : null) ?? (isDone() ? spell(currentValue()) : []),
    rightAnswer: () => answer(result),
    expert,
    // When a demonstrator errs, it answers with the first result, even if more operations remain.
    demonstrate: (quality, draw, turn) =>
      operationsDone === 0 || draw.next() < (isDone() ? quality : CONTINUE_PROBABILITY)
        ? expert(turn)
        : answer(values[1] ?? 0),
    view: () => ({
      kind: 'sum',
      title: 'Calculator chain',
      task: chainWords.join(' '),
      wanted: result,
      steps: [...steps],
      given: givenAnswer,
    }),
  };
}

/** Probability that a demonstrator goes on between the first and last operation, so that demonstrations show all operations. */
const CONTINUE_PROBABILITY = 0.7;
