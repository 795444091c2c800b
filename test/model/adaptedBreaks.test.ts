import { expect, it } from 'vitest';
import { LINEAR_NAMES } from '../../src/model/loraAdapters.ts';
import type { ModelConfig } from '../../src/model/architecture.ts';
import { openCpuAdaptedPolicy } from '../../src/model/cpu/adapters/cpuAdaptedPolicy.ts';
import { chunksOf } from '../../src/model/cpu/head.ts';
import { freeGrammar, Role } from '../../src/domain/tokens.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { OBJECTIVE, someCredit } from './policies.ts';
import { randomSource, sampling, SMALL } from './textModels.ts';

const LENGTH = 17;
const ADAPTERS = { rank: 2, alpha: 4, targets: LINEAR_NAMES };
/** So many words that the logits of sixteen tokens are all that is held at once. */
const WIDE: ModelConfig = { ...SMALL, vocab_size: 2 ** 17 };

/** A policy of two full rows that counts its breaks. */
async function open(model: ModelConfig, length = LENGTH) {
  const breaks = { between: 0, yieldToEvents: 0, most: 0 };
  const spec = { model, critic: 'none', rows: 2, length, minibatchRows: 2 } as const;
  const policy = await openCpuAdaptedPolicy(spec, randomSource(model, 1), ADAPTERS, learningMath, {
    ...{ seed: 3, reason: '', keptTokens: 0 },
    reportProgress: (done, total) => {
      breaks.between++;
      breaks.most = Math.max(breaks.most, done / total);
      return Promise.resolve();
    },
    yieldToEvents: () => {
      breaks.yieldToEvents++;
      return Promise.resolve();
    },
  });
  const tokens = Int32Array.from({ length: 2 * length }, (_, i) => (7 * i) % SMALL.vocab_size);
  const roles = new Uint8Array(2 * length).fill(Role.action);
  const record = { tokens, roles, states: new Uint8Array(2 * length) };
  policy.load(record, someCredit(record, [Role.action]));
  return { policy, breaks };
}

it('the language head of a large vocabulary can be interrupted between pieces of its targets, forward and backward, and a layer in its middle', async () => {
  const layers = SMALL.num_hidden_layers;
  const pieces = Math.ceil((2 * (LENGTH - 1)) / 16);
  const { policy, breaks } = await open(WIDE);
  await policy.score(1, { reference: false, values: false });
  expect(breaks.between).toBe(layers + pieces);
  breaks.between = 0;
  await policy.accumulate(Int32Array.of(0), OBJECTIVE, 1);
  // forward and the head, then the head and three pieces of each layer back: computed anew, its second half, its first
  expect(breaks.between).toBe(layers + 1 + 1 + 3 * layers);
  expect(breaks.most).toBeLessThanOrEqual(1);
});

it('pieces of the head’s targets are all of them, in order', () => {
  const ids = Int32Array.from({ length: 10 }, (_, i) => i);
  const targets = { count: 10, positions: ids, tokens: ids, states: ids, batchIndices: ids };
  const pieces = [...chunksOf(targets, 4)];
  expect(pieces.map(({ count }) => count)).toEqual([4, 4, 2]);
  for (const name of ['positions', 'tokens', 'states', 'batchIndices'] as const) {
    expect(pieces.flatMap((piece) => [...piece[name]])).toEqual([...ids]);
  }
});

it('reading long prompts before the first token can be interrupted, drawing tokens one by one does not stop', async () => {
  const { policy, breaks } = await open(SMALL, 120);
  policy.setGrammar(freeGrammar(SMALL.vocab_size));
  policy.begin(sampling());
  const steps = 102;
  const forced = Int32Array.from({ length: 2 * steps }, (_, i) => (5 * i) % SMALL.vocab_size);
  const chunk = { maxTokens: steps, forced, states: Int32Array.of(0, 0), budgets: Int32Array.of(2, 2) };
  const roles = Int32Array.of(Role.prompt, Role.prompt);
  await policy.decode({ ...chunk, forcedCounts: Int32Array.of(100, 100), forcedRoles: roles });
  // 200 tokens that have nothing in common, in pieces of 64
  expect(breaks.yieldToEvents).toBe(3);
  breaks.yieldToEvents = 0;
  await policy.decode({
    ...chunk,
    forcedCounts: Int32Array.of(0, 0),
    forcedRoles: roles,
    budgets: Int32Array.of(9, 9),
  });
  expect(breaks.yieldToEvents).toBe(0);
});
