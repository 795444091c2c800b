import type { EnvView } from '../protocol.ts';
import type { Random } from '../rng.ts';
import {
  apply,
  type Chain,
  drawChain,
  isOperator,
  MOST,
  numberOf,
  NUMBERS,
  OPERATORS,
  results,
  wordsOf,
} from './arithmetic.ts';
import type { Tool, ToolEnv } from './env.ts';
import type { Task } from './episode.ts';
import { turnRules } from './turnRules.ts';
import { vocabulary } from './vocab.ts';

/** Knobs that fix the shape of the environment. */
export interface CalculatorOptions {
  readonly hops: number; // operations between question and answer
  readonly maxTurns: number; // the last one can only answer
  readonly think: boolean;
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
    return { ok: true, content: [value >= 0 && value <= MOST ? String(value) : OVERFLOW] };
  },
};

/**
 * Calculator chain: "a ∘ b ∘ c?" from left to right over numbers of two digits, each a token without any digits in it, so that
 * a small model cannot work it out in its head; a calculator for one operation; then an answer. The answer is none of the
 * numbers of the question. Process reward: an equal share for each operation done in its place. Out of domain is a chain one
 * operation longer, where the turns allow it.
 */
export function calculator({ hops, maxTurns, think }: CalculatorOptions): ToolEnv {
  const words = vocabulary(['compute', '?', OVERFLOW, ...OPERATORS, ...NUMBERS]);
  const { grammar, maxTurnTokens, begin } = turnRules({
    vocabulary: words,
    think,
    maxTurns,
    call: { places: [NUMBERS, OPERATORS, NUMBERS] },
    answer: { places: [NUMBERS] },
  });
  const computing = (length: number) => begin((draw) => compute(drawTask(length, draw), maxTurns));
  // each operation takes a turn, and so does the answer
  const longer = Math.min(hops + 1, Math.max(hops, maxTurns - 1));
  return {
    name: 'calculator',
    description: 'Work out a chain of operations with a calculator that does one at a time.',
    vocabulary: words.words,
    tools: [calculate],
    maxTokens: 4 + 2 * longer + maxTurns * maxTurnTokens + (maxTurns - 1) * 3,
    maxTurnTokens,
    grammar,
    reset: computing(hops),
    demonstration: computing(hops),
    splits: {
      shifted: {
        reset: computing(longer),
        doc:
          longer > hops
            ? `Every chain takes ${longer} operations, one more than in training.`
            : `Every chain takes ${hops} operations: ${maxTurns} turns leave no room for more.`,
      },
    },
    retrieved: null, // what the tool says follows from what is asked; there is nothing to retrieve beforehand
  };
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
  let given: string | null = null;
  const done = () => known >= chain.steps.length;
  const said = () => String(values[known] ?? 0);
  const next = (): readonly string[] => {
    const step = chain.steps[known];
    return step ? [said(), step.operator, String(step.by)] : [said()];
  };
  const expert = (turn: number): readonly string[] =>
    done() || turn >= maxTurns ? ['<answer>', said(), '</answer>'] : ['<call>', ...next(), '</call>'];
  return {
    prompt: ['<bos>', 'compute', ...asked, '?'],
    question: `What is ${asked.join(' ')}, from left to right?`,
    call(args, turn, tools) {
      const [a, operator, b] = args;
      if (args.length !== 3 || numberOf(a) === null || !isOperator(operator) || numberOf(b) === null) return null;
      const { ok, content } = tools(calculate, args, null);
      const useful = ok && !done() && args.join() === next().join();
      if (useful) known++;
      steps.push({ turn, text: args.join(' '), result: content.join(' ') });
      return { observation: content, progress: useful ? 1 / chain.steps.length : 0, stop: null, success: false };
    },
    answer([word, ...more], turn) {
      if (numberOf(word) === null || more.length > 0) return null;
      given = word ?? null;
      steps.push({ turn, text: 'answer', result: word ?? '' });
      return { observation: [], progress: 0, stop: 'answered', success: Number(word) === wanted };
    },
    needs: (turn) => (done() || turn < maxTurns ? next() : []),
    expert,
    // The typical slip is to answer with what was read last, or to put a number in the wrong place.
    demonstrate: (quality, draw, turn) => {
      if (draw.next() < quality || turn >= maxTurns) return expert(turn);
      const atHand = [...asked.filter((word) => !isOperator(word)), ...steps.map(({ result }) => result)];
      const number = () => draw.pick(atHand.filter((word) => numberOf(word) !== null));
      return draw.next() < HASTE
        ? ['<answer>', number(), '</answer>']
        : ['<call>', number(), draw.pick(OPERATORS), number(), '</call>'];
    },
    view: () => ({ kind: 'sum', title: 'Calculator chain', task: asked.join(' '), wanted, steps: [...steps], given }),
  };
}

/** Share of a demonstrator's slips that answer too early. */
const HASTE = 0.3;
