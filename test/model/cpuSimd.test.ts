import { afterEach, describe, expect, it, vi } from 'vitest';
import { weightsHash, type Weights } from '../../src/model/architecture.ts';
import type { CpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { CREDIT, everyRow, makePolicy, OBJECTIVE, ODD, oddGrammar, OPTIMIZER, rollOut } from './policies.ts';
import { NAIVE } from './naiveArithmetic.ts';
import { BackendError } from '../../src/model/policy.ts';

const V = ODD.vocab_size;

/** Rolls out, scores and takes one step. */
async function updated(policy: CpuPolicy) {
  const made = await rollOut(policy, oddGrammar(V), 4);
  await policy.score(0.8, { reference: false, values: true });
  const rewards = new Float32Array(policy.rows * policy.length).map((_, at) => (at % 7 === 0 ? 1 : 0));
  policy.credit({ rewards, groups: new Int32Array(policy.rows) }, CREDIT);
  await policy.learn(everyRow(policy), OBJECTIVE, OPTIMIZER, 0.8);
  const { policy: own } = await policy.readState();
  return { made, weights: own.weights, gradients: policy.gradients(), report: await policy.report() };
}

/** ‖a − b‖ / ‖b‖ over all tensors. */
function relative(a: Weights, b: Weights): number {
  let difference = 0;
  let size = 0;
  for (const [name, tensor] of b) {
    for (const [i, x] of tensor.entries()) {
      difference += (a.get(name)![i]! - x) ** 2;
      size += x * x;
    }
  }
  return Math.sqrt(difference / size);
}

afterEach(() => vi.unstubAllGlobals());

describe('a float32 policy', () => {
  it('computes in WebAssembly SIMD where it can, and says in what', () => {
    expect(makePolicy().backend.adapter).toBe('WebAssembly SIMD');
    expect(makePolicy({ loops: NAIVE.f32 }).backend.adapter).toBe('plain loops');
  });

  it('is refused where there is no WebAssembly, with what to do', () => {
    vi.stubGlobal('WebAssembly', undefined);
    expect(() => makePolicy({ critic: 'shared' })).toThrow(BackendError);
  });

  it.each(['shared', 'separate'] as const)('draws, learns and steps alike in both, %s critic', async (critic) => {
    const fast = await updated(makePolicy({ critic }));
    const plain = await updated(makePolicy({ critic, loops: NAIVE.f32 }));
    expect(fast.made.tokens).toEqual(plain.made.tokens);
    // some hundred roundings of 6e-8 in a row, not all in one direction
    expect(relative(fast.gradients, plain.gradients)).toBeLessThan(1e-5);
    // AdamW's first step is a sign where a gradient is not small: what differs is where it is next to nothing
    expect(relative(fast.weights, plain.weights)).toBeLessThan(1e-4);
    expect(weightsHash(ODD, fast.weights)).not.toBe(weightsHash(ODD, plain.weights));
  });
});
