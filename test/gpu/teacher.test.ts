import { expect, test } from 'vitest';
import { relativeError } from '../../tools/golden/goldenFixture.ts';
import { Role } from '../../src/domain/tokens.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { openGpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import type { Policy, PolicySpec } from '../../src/model/policy.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { random } from '../../src/base/rng.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';
import { CREDIT, EVEN, OBJECTIVE, ODD, OPTIMIZER, roughWeights, someGrammar, someRecord, specOf } from './policies.ts';

const TEMPERATURE = 0.8;
const SPEC: PolicySpec = { ...specOf(EVEN, 'none', 6, 19, 4), teacher: true };

/** Scores a batch beside a teacher, then takes two steps; some rows begin alike. */
async function learn(policy: Policy, spec: PolicySpec, teacher: 'reference' | 'expert' | 'none', teacherCoef = 0.7) {
  const V = spec.model.vocab_size;
  const grammar = someGrammar(V);
  const record = someRecord(spec, grammar);
  const draw = random(21, 1);
  const size = spec.rows * spec.length;
  for (const array of [record.tokens, record.roles, record.states]) array.copyWithin(3 * spec.length, spec.length, spec.length + 8); // prettier-ignore
  policy.writeWeights(roughWeights(spec.model, 4));
  policy.freezeReference();
  policy.writeWeights(roughWeights(spec.model, 3));
  policy.setGrammar(grammar);
  policy.load(record);
  // the expert would have drawn another legal token now and then, and isn't known at every third token
  const legal = (state: number) =>
    Array.from({ length: V }, (_, v) => v).filter((v) => grammar.next[state * V + v]! >= 0);
  const expertTokens = Int32Array.from(record.roles, (role, at) => {
    if (role !== Role.action || at % 3 === 0) return 0;
    return 1 + (draw.next() < 0.5 ? record.tokens[at]! : draw.pick(legal(record.states[at]!)));
  });
  const wanted = teacher === 'expert' ? { expertTokens, states: record.states } : teacher;
  await policy.score(TEMPERATURE, { reference: false, values: false, ...(wanted !== 'none' && { teacher: wanted }) });
  const rewards = Float32Array.from({ length: size }, () => draw.normal());
  policy.credit(
    { rewards, groups: Int32Array.from({ length: spec.rows }, (_, b) => b % 2) },
    { ...CREDIT, estimator: 'grpo' },
  );
  const before = (await policy.readState()).policy.weights;
  const settings = { ...OBJECTIVE, klCoef: 0, teacherCoef };
  for (const rows of [
    [0, 3, 4],
    [5, 1, 2, 3],
  ])
    await policy.learn(Int32Array.from(rows), settings, OPTIMIZER, TEMPERATURE);
  const after = (await policy.readState()).policy.weights;
  const change = [...after].map(([name, tensor]) => [name, Float64Array.from(tensor, (x, i) => x - before.get(name)![i]!)] as const); // prettier-ignore
  return { steps: (await policy.report()).steps, change };
}

test.each([
  ['reference', EVEN],
  ['expert', EVEN],
  ['reference', ODD],
] as const)('the KL to the %s and two steps with it equal the float64 CPU policy', async (teacher, model) => {
  const spec: PolicySpec = { ...SPEC, model: { ...model, value_head: false } };
  const gpu = await openGpuPolicy(navigator.gpu, spec, { seed: 1 });
  const cpu = createCpuPolicy(spec, learningMath, { loops: NAIVE.f64, seed: 1, reason: '' });
  const [got, want, off] = [
    await learn(gpu, spec, teacher),
    await learn(cpu, spec, teacher),
    await learn(cpu, spec, teacher, 0),
  ];
  for (const [i, step] of want.steps.entries()) {
    expect(step.teacherKl).toBeGreaterThan(0.01);
    for (const name of ['teacherKl', 'entropy', 'total', 'gradNorm'] as const)
      expect(Math.abs(got.steps[i]![name] / step[name] - 1), `${name} of step ${i}`).toBeLessThanOrEqual(1e-4);
  }
  for (const [i, [name, change]] of want.change.entries()) {
    // as in equalsCpu.test.ts: passes through Adam's division
    expect(relativeError(got.change[i]![1], change), name).toBeLessThanOrEqual(5e-4);
    expect(relativeError(off.change[i]![1], change), name).toBeGreaterThan(1e-2); // the teacher does move them
  }
  // a batch without a teacher is as in a run without one, whatever the last one left
  const [alone, none] = [await learn(gpu, spec, 'none'), await learn(cpu, spec, 'none', 0)];
  expect(alone.steps.map(({ teacherKl }) => teacherKl)).toEqual([0, 0]);
  for (const [i, [name, change]] of none.change.entries())
    expect(relativeError(alone.change[i]![1], change), name).toBeLessThanOrEqual(5e-4);
  gpu.destroy();
});
