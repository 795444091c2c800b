import { expect, test } from 'vitest';
import { weightsHash } from '../../src/model/architecture.ts';
import { openGpuPolicy, type GpuPolicy } from '../../src/model/gpu/gpuPolicy.ts';
import type { Estimator } from '../../src/config/estimators.ts';
import type { WorkKind } from '../../src/model/gpu/options.ts';
import type { NetworkState } from '../../src/model/policy.ts';
import { Role } from '../../src/domain/tokens.ts';
import {
  CREDIT,
  OBJECTIVE,
  OPTIMIZER,
  roughWeights,
  SMALL,
  someGrammar,
  someRecord,
  someRewards,
  specOf,
} from './policies.ts';

const SPEC = specOf(SMALL, 'separate', 6, 14, 3);
const ROWS = Int32Array.of(0, 2, 4);
const RECORD = someRecord(SPEC, someGrammar(SMALL.vocab_size));
const INPUT = { rewards: someRewards(RECORD), groups: Int32Array.of(0, 0, 0, 1, 1, 1) };
const bits = ({ weights, adamM, adamV, steps }: NetworkState) => ({
  weights: weightsHash(SPEC.model, weights),
  adamM: weightsHash(SPEC.model, adamM),
  adamV: weightsHash(SPEC.model, adamV),
  steps,
});

async function opened(): Promise<GpuPolicy> {
  const policy = await openGpuPolicy(navigator.gpu, SPEC, { seed: 1 });
  policy.writeWeights(roughWeights(SPEC.model, 3));
  policy.setGrammar(someGrammar(SMALL.vocab_size));
  policy.load(RECORD);
  return policy;
}

function scoreAndCredit(policy: GpuPolicy, estimator: Estimator): void {
  policy.score(1, { reference: true, values: true });
  policy.credit(INPUT, { ...CREDIT, estimator });
}

test('while only the critic learns, policy weights, moments and step count stay bit for bit, and the step is measured', async () => {
  const policy = await opened();
  scoreAndCredit(policy, 'gae');
  policy.learn(ROWS, OBJECTIVE, OPTIMIZER, 1); // moments that are not zero
  const before = await policy.readState();
  policy.learn(ROWS, OBJECTIVE, { ...OPTIMIZER, criticOnly: true }, 1);
  policy.learn(ROWS, OBJECTIVE, { ...OPTIMIZER, criticOnly: true }, 1);
  const after = await policy.readState();
  expect(bits(after.policy)).toEqual(bits(before.policy));
  expect(after.policy.steps).toBe(1);
  expect(after.critic?.steps).toBe(3);
  expect(after.critic?.weights).not.toEqual(before.critic?.weights);
  const { steps } = await policy.report();
  const [, second, third] = steps;
  // the policy stood still between the two: the same loss and the same gradient, a critic that got better
  for (const name of ['policyLoss', 'entropy', 'kl', 'gradNorm', 'tokens', 'skipped'] as const) {
    expect(third?.[name]).toBe(second?.[name]);
  }
  expect(second?.gradNorm).toBeGreaterThan(0);
  expect(third?.valueLoss).toBeLessThan(second?.valueLoss ?? 0);
  // and the next step goes on as if the two had not been
  policy.learn(ROWS, OBJECTIVE, OPTIMIZER, 1);
  const onward = bits((await policy.readState()).policy);
  policy.writeState(before);
  policy.learn(ROWS, OBJECTIVE, OPTIMIZER, 1);
  expect(bits((await policy.readState()).policy)).toEqual(onward);
  policy.destroy();
});

test('a separate critic without targets is not run: its state stays, its numbers are 0, and the step is shorter', async () => {
  const policy = await opened();
  const cost = async (estimator: Estimator) => {
    scoreAndCredit(policy, estimator);
    const before = policy.counters().dispatches;
    policy.learn(ROWS, OBJECTIVE, OPTIMIZER, 1);
    const dispatches = policy.counters().dispatches - before;
    const { steps } = await policy.report();
    return { dispatches, step: steps[0]! };
  };
  const withCritic = await cost('gae');
  expect(withCritic.step.criticGradNorm).toBeGreaterThan(0);
  expect(withCritic.step.valueLoss).toBeGreaterThan(0);
  const before = (await policy.readState()).critic!;
  const alone = await cost('grpo');
  expect(bits((await policy.readState()).critic!)).toEqual(bits(before));
  expect(alone.step.criticGradNorm).toBe(0);
  expect(alone.step.valueLoss).toBe(0);
  expect(alone.dispatches).toBe(policy.recorded.step.dispatches);
  expect(withCritic.dispatches).toBeGreaterThan(1.5 * alone.dispatches);
  const zero = new Float32Array(6 * 14);
  const given = { oldLogprobs: zero, refLogprobs: zero, advantages: zero, oldValues: zero, returns: zero };
  const { lossMask, valueMask } = await policy.report();
  policy.load(RECORD, { ...given, lossMask, valueMask });
  const start = policy.counters().dispatches;
  policy.learn(ROWS, OBJECTIVE, OPTIMIZER, 1);
  expect(policy.counters().dispatches - start).toBe(alone.dispatches);
  policy.load(RECORD, { ...given, lossMask, valueMask: lossMask });
  policy.learn(ROWS, OBJECTIVE, OPTIMIZER, 1);
  expect((await policy.report()).steps[1]?.criticGradNorm).toBeGreaterThan(0);
  policy.destroy();
});

test('scored without a reference the old log-probabilities stand in for it; with one, the frozen weights speak', async () => {
  const policy = await opened();
  policy.freezeReference();
  policy.score(1, { reference: true, values: true });
  const frozen = await policy.report();
  expect(frozen.refLogprobs).toEqual(frozen.logprobs);
  policy.writeWeights(roughWeights(SPEC.model, 4));
  policy.score(1, { reference: true, values: true });
  const moved = await policy.report();
  expect(moved.refLogprobs).toEqual(frozen.refLogprobs);
  expect(moved.logprobs).not.toEqual(frozen.logprobs);
  policy.score(1, { reference: false, values: true });
  const alone = await policy.report();
  expect(alone.logprobs).toEqual(moved.logprobs);
  expect(alone.refLogprobs).toEqual(alone.logprobs);
  policy.credit(INPUT, { ...CREDIT, klCoef: 1, klEstimator: 'k3' });
  expect((await policy.report()).rewards).toEqual(INPUT.rewards);
  policy.destroy();
});

test('scoring leaves a reference and a separate critic out where they are not wanted, in fewer dispatches', async () => {
  const policy = await opened();
  const cost = (reference: boolean, values: boolean) => {
    const before = policy.counters();
    policy.score(1, { reference, values });
    const after = policy.counters();
    expect(after.submits - before.submits).toBe(1);
    expect(after.creations - before.creations).toBe(0);
    return after.dispatches - before.dispatches;
  };
  const policyOnly = cost(false, false);
  const reference = cost(true, false) - policyOnly;
  const critic = cost(false, true) - policyOnly;
  expect(reference).toBe(policyOnly);
  // a trunk, a norm and one head each; the policy's is a product more, in both micro-batches
  expect(critic).toBe(policyOnly - 2);
  expect(cost(true, true)).toBe(policyOnly + reference + critic);
  policy.destroy();
});

test('weights of a row’s tokens are those of the last step that learned from it, and 0 after new credit', async () => {
  const policy = await opened();
  scoreAndCredit(policy, 'grpo');
  policy.learn(Int32Array.of(0, 1, 2), OBJECTIVE, OPTIMIZER, 1);
  policy.learn(Int32Array.of(3, 4, 5), OBJECTIVE, OPTIMIZER, 1);
  const { gradWeights, policyWeights } = await policy.report();
  const used = (table: Float32Array) =>
    [0, 1, 2, 3, 4, 5].filter((b) => table.subarray(b * 14, b * 14 + 14).some((x) => x !== 0));
  expect(used(gradWeights)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(used(policyWeights)).toEqual([0, 1, 2, 3, 4, 5]);
  policy.credit(INPUT, CREDIT);
  const fresh = await policy.report();
  expect(used(fresh.gradWeights)).toEqual([]);
  expect(used(fresh.policyWeights)).toEqual([]);
  policy.destroy();
});

test('a policy begins with the weights it is given; one opened for learning alone learns the same bits, makes fewer pipelines, and says what it was not opened for', async () => {
  const zero = new Float32Array(SPEC.rows * SPEC.length);
  const agents = zero.map((_, i) => Number(RECORD.roles[i] === Role.action));
  const credit = {
    ...{ oldLogprobs: zero, refLogprobs: zero, oldValues: zero, returns: zero },
    ...{ lossMask: agents, valueMask: zero },
  };
  const weights = roughWeights(SPEC.model, 3);
  const given = async (work?: readonly WorkKind[]) => {
    const policy = await openGpuPolicy(navigator.gpu, SPEC, {
      ...{ seed: 1, weights: () => weights, ownDevice: true }, // nothing is compiled there yet
      ...(work && { work }),
    });
    const begun = await policy.readState();
    expect(weightsHash(SPEC.model, begun.policy.weights)).toBe(weightsHash(SPEC.model, weights)); // not the seed's
    policy.setGrammar(someGrammar(SMALL.vocab_size));
    policy.load(RECORD, { ...credit, advantages: agents.map((on, i) => on * Math.sin(i)) });
    policy.learn(ROWS, OBJECTIVE, OPTIMIZER, 1);
    return policy;
  };
  const [whole, part] = [await given(), await given(['learning'])];
  const learned = bits((await whole.readState()).policy);
  expect(learned.steps).toBe(1); // not skipped
  expect(bits((await part.readState()).policy)).toEqual(learned);
  expect(part.counters().creations).toBeLessThan(whole.counters().creations);
  part.begin({ key: 1, update: 1, temperature: 1, greedy: false, topK: 0, topP: 1 });
  const chunk = { maxTokens: 1, forced: new Int32Array(6), forcedCounts: new Int32Array(6).fill(1) };
  const drawn = part.decode({
    ...chunk,
    ...{ forcedRoles: new Int32Array(6), states: new Int32Array(6).fill(-1), budgets: new Int32Array(6) },
  });
  await expect(drawn).rejects.toThrow(/is not compiled; open the policy for this work, too/);
  expect(() => part.credit(INPUT, CREDIT)).toThrow(/is not compiled/);
  for (const policy of [whole, part]) policy.destroy();
});
