// An environment of any size: a prompt, a turn of the agent, what a tool answers, another turn, each a quarter of T tokens, so
// that every row is full. It pays the share of drawn tokens that are in the lower half of the vocabulary: a policy that learns
// shows it within a few updates.
import { Purpose, random } from '../src/base/rng.ts';
import { freeGrammar } from '../src/domain/tokens.ts';

const FIRST = 2; // ids 0 and 1 are <pad> and <bos>
const NOTHING = { outcome: 0, process: 0, call: 0, format: 0, think: 0, turnCost: 0, preference: 0, information: 0 };
const GOES_ON = /** @type {const} */ ({
  ...{ thinkEnd: -1, valid: true, toolCall: true, waited: 0 },
  ...{ terminated: false, truncated: false, success: false, stop: null, grammarState: 0 },
});

/** @param {number} V words @param {number} T tokens, a multiple of 4 @returns {import('../src/envs/env.ts').ToolEnv} */
export function quarters(V, T) {
  if (T % 4 !== 0) throw new RangeError(`quarters: ${T} tokens are not a multiple of 4.`);
  const quarter = T / 4;
  const grammar = freeGrammar(V);
  /** @type {import('../src/envs/env.ts').Reset} */
  const reset = (seed) => {
    const draw = random(seed, Purpose.environment);
    const words = Array.from({ length: quarter - 1 }, () => FIRST + draw.int(V - FIRST));
    /** @type {number[]} */
    const drawn = [];
    const none = () => {
      throw new Error('quarters: nobody plays this but a policy.');
    };
    return {
      prompt: [1, ...words],
      ...{ question: '', key: words.join(' ') },
      names: new Map(),
      grammarState: 0,
      step(action) {
        drawn.push(...action);
        // the tool says what it was told backwards
        if (drawn.length < 2 * quarter)
          return { ...GOES_ON, observation: action.toReversed(), body: [0, action.length], parts: NOTHING };
        const paid = drawn.filter((id) => id < V / 2).length / drawn.length;
        const over = /** @type {const} */ ({ toolCall: false, terminated: true, stop: 'answered' });
        return {
          ...GOES_ON,
          ...over,
          success: paid > 0.5,
          observation: [],
          body: [0, 0],
          parts: { ...NOTHING, outcome: paid },
        };
      },
      ...{ expert: none, rule: () => null, demonstrate: none, scores: () => null, taskData: () => null },
      view: () => ({ kind: 'bandit', title: '', arms: [], safe: '', risky: '', given: null, paid: null }),
    };
  };
  return {
    ...{ name: 'quarters', description: 'Four stretches of equal length.', tools: [] },
    vocabulary: Array.from({ length: V }, (_, id) => `w${id}`),
    ...{ maxTokens: T, maxTurnTokens: quarter, grammar: () => grammar, reset, demonstration: reset },
    splits: { heldOut: { doc: 'The same.', reset }, shifted: { doc: 'The same.', reset } },
  };
}
