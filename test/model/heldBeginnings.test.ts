import { expect, it } from 'vitest';
import { type AdapterConfig, LINEAR_NAMES } from '../../src/model/loraAdapters.ts';
import { openCpuAdaptedPolicy } from '../../src/model/cpu/adapters/cpuAdaptedPolicy.ts';
import type { DecodeChunk } from '../../src/model/decoding.ts';
import { Role } from '../../src/domain/tokens.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { oddGrammar, sampling } from './policies.ts';
import { randomSource, SMALL } from './textModels.ts';

const ROWS = 3;
const STEM = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 3];
const ADAPTERS: AdapterConfig = { rank: 2, alpha: 4, targets: LINEAR_NAMES };

const open = () =>
  openCpuAdaptedPolicy(
    { model: SMALL, critic: 'none', rows: ROWS, length: 20, minibatchRows: ROWS },
    randomSource(SMALL, 1),
    ADAPTERS,
    learningMath,
    { seed: 3, reason: '' },
  );

/** A chunk in which one row is given a text and draws two tokens. */
function told(row: number, ids: readonly number[]): DecodeChunk {
  const steps = ids.length + 2;
  const forced = new Int32Array(ROWS * steps);
  forced.set(ids, row * steps);
  const of = (value: number, rest: number) => Int32Array.from({ length: ROWS }, (_, b) => (b === row ? value : rest));
  const roles = new Int32Array(ROWS).fill(Role.prompt);
  return {
    maxTokens: steps,
    forced,
    forcedCounts: of(ids.length, 0),
    forcedRoles: roles,
    states: of(1, -1),
    budgets: of(2, 0),
  };
}

/** What row 1 draws after its text, with or without row 0 begun before it, and the arithmetic that took. */
async function drawnAfter(before: readonly number[] | null, text: readonly number[]) {
  const policy = await open();
  policy.setGrammar(oddGrammar(SMALL.vocab_size));
  policy.begin(sampling());
  if (before) await policy.decode(told(0, before));
  policy.beginRow(1, { update: 1, rollout: 1 });
  policy.startProfile(() => 0);
  const { tokens, logprobs } = await policy.decode(told(1, text));
  const { kernels } = await policy.profile(() => performance.now());
  return { tokens, logprobs, flops: kernels.reduce((sum, work) => sum + work.flops, 0) };
}

it('a row that begins after another reads what both begin with from it: the same bits for the work of the rest', async () => {
  const text = [...STEM, 6, 2];
  const alone = await drawnAfter(null, text);
  const held = await drawnAfter([...STEM, 4], text);
  const other = await drawnAfter([9, ...STEM], text); // nothing in common
  expect(held.tokens).toEqual(alone.tokens);
  expect(held.logprobs).toEqual(alone.logprobs);
  expect(Math.min(...alone.logprobs)).toBeLessThan(0);
  expect(other.flops).toBe(alone.flops);
  // 13 tokens and the first that is drawn, or 2 and that one; each draw multiplies by the head alike
  expect(held.flops).toBeLessThan(0.5 * alone.flops);
});

it('a row whose whole text another has already still runs its last token', async () => {
  const alone = await drawnAfter(null, STEM);
  const held = await drawnAfter([...STEM, 4], STEM);
  expect(held.tokens).toEqual(alone.tokens);
  expect(held.logprobs).toEqual(alone.logprobs);
  expect(held.flops).toBeGreaterThan(0);
});
