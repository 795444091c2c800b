import { expect, test } from 'vitest';
import { openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import {
  CREDIT,
  OBJECTIVE,
  ODD,
  OPTIMIZER,
  roughWeights,
  SMALL,
  someGrammar,
  someRecord,
  someRewards,
  specOf,
} from './policies.ts';

const ROWS = Int32Array.of(0, 1, 2, 3);
const GROUPS = Int32Array.of(0, 0, 1, 1);

test.each([
  ['the policy loss alone', { klCoef: 0, entropyCoef: 0 }],
  ['the entropy bonus too', { klCoef: 0, entropyCoef: 0.5 }],
  ['KL and entropy', { klCoef: 0.5, entropyCoef: 0.5 }],
])('the gradient of the logits sums to 0 over the vocabulary, with %s', async (_, coefficients) => {
  const spec = specOf(ODD, 'none', 4, 18);
  const grammar = someGrammar(ODD.vocab_size);
  const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 1 });
  policy.writeWeights(roughWeights(spec.model, 3));
  policy.setGrammar(grammar);
  const record = someRecord(spec, grammar);
  policy.load(record);
  policy.score(0.7, { reference: true, values: false });
  policy.credit({ rewards: someRewards(record), groups: GROUPS }, { ...CREDIT, estimator: 'grpo' });
  const objective = { ...OBJECTIVE, ...coefficients };
  const { gradients } = await policy.gradients(ROWS, objective, OPTIMIZER, 0.7);
  // with an untied head d(loss)/d(head) is Σ_t dz_t ⊗ h_t, so its sum over the vocabulary is Σ_t (Σ_v dz_tv)·h_t
  const head = gradients.get('lm_head.weight')!;
  const { vocab_size: V, hidden_size: C } = ODD;
  const overVocabulary = new Float64Array(C);
  head.forEach((g, i) => (overVocabulary[i % C] = overVocabulary[i % C]! + g));
  const size = Math.hypot(...head);
  expect(size).toBeGreaterThan(1e-3);
  // float32 rounding of V terms of either sign
  expect(Math.hypot(...overVocabulary) / size).toBeLessThan(1e-6 * Math.sqrt(V));
  policy.destroy();
});

test('a token that was the only legal one has entropy 0 and log-probability 0, and gradients stay numbers', async () => {
  const spec = specOf(SMALL, 'none', 4, 12);
  const V = SMALL.vocab_size;
  // states 1 and 2 lead to each other by token 3 alone
  const next = new Int32Array(3 * V).fill(-1, V);
  next[V + 3] = 2;
  next[2 * V + 3] = 1;
  const policy = await openGpuPolicy(navigator.gpu, spec, { seed: 1 });
  policy.writeWeights(roughWeights(spec.model, 3));
  policy.setGrammar({ states: 3, vocabulary: V, next, stop: new Uint8Array(3) });
  const cells = 4 * 12;
  const record = {
    tokens: new Int32Array(cells).fill(3),
    roles: Uint8Array.from({ length: cells }, (_, i) => (i % 12 === 0 ? 1 : 2)),
    states: Uint8Array.from({ length: cells }, (_, i) => (i % 12 === 0 ? 0 : 1 + (i % 2))),
  };
  policy.load(record);
  policy.score(1, { reference: false, values: false });
  policy.credit({ rewards: someRewards(record), groups: GROUPS }, { ...CREDIT, estimator: 'grpo' });
  const { gradients } = await policy.gradients(ROWS, { ...OBJECTIVE, entropyCoef: 1 }, OPTIMIZER, 1);
  const { logprobs, entropies, advantages } = await policy.report();
  expect(advantages.some((a) => a !== 0)).toBe(true);
  // exactly: the other tokens’ masked logits leave e^−huge = 0
  expect(new Set(logprobs)).toEqual(new Set([0]));
  expect(new Set(entropies)).toEqual(new Set([0]));
  for (const [name, gradient] of gradients)
    expect(
      gradient.every((g) => g === 0),
      name,
    ).toBe(true);
  policy.destroy();
});
