import { describe, expect, it } from 'vitest';
import { createCpuPolicy, type CpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import type { Precision } from '../../src/model/learning/real.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { goldens, relativeError, type Golden } from './golden.ts';
import { NAIVE } from './naiveArithmetic.ts';

// The fixtures are float64 results stored as float32, which leaves 6e-8 of each number.
const TOLERANCE = { f64: 1e-6, f32: 1e-4 } as const;

function loaded(golden: Golden, precision: Precision): CpuPolicy {
  const policy = createCpuPolicy(
    {
      model: golden.model,
      critic: golden.model.value_head ? 'shared' : 'none',
      rows: golden.rows,
      length: golden.length,
      minibatchRows: golden.rows,
    },
    learningMath,
    { seed: 1, reason: '', ...(precision === 'f64' && { loops: NAIVE.f64 }) },
  );
  policy.writeWeights(golden.tensorsUnder('param.'));
  policy.load(golden.record, golden.givenCredit);
  return policy;
}

const everyRow = (golden: Golden) => Int32Array.from({ length: golden.rows }, (_, b) => b);

describe.each(['f64', 'f32'] as const)('the CPU policy in %s agrees with PyTorch', (precision) => {
  describe.each(goldens().map((golden) => [golden.name, golden] as const))('on %s', (_, golden) => {
    const within = (got: ArrayLike<number>, want: ArrayLike<number>, name: string) =>
      expect(relativeError(got, want), name).toBeLessThanOrEqual(TOLERANCE[precision]);

    it('in every logit, log-probability, entropy and value', async () => {
      const policy = loaded(golden, precision);
      within(await policy.logits(), golden.tensor('expect.logits'), 'logits');
      await policy.score(1, { reference: false, values: true });
      const report = await policy.report();
      within(report.logprobs, golden.tensor('expect.logprobs'), 'logprobs');
      within(report.entropies, golden.tensor('expect.entropies'), 'entropies');
      if (golden.has('expect.values')) within(report.values, golden.tensor('expect.values'), 'values');
    });

    it('in every gradient of the negative log-likelihood of the action tokens', async () => {
      const policy = loaded(golden, precision);
      const advantages = new Float32Array(golden.record.roles.length).fill(1);
      const lossMask = Float32Array.from(golden.record.roles, (role) => (role === 2 ? 1 : 0));
      const valueMask = new Float32Array(lossMask.length);
      policy.load(golden.record, { ...golden.givenCredit, advantages, lossMask, valueMask });
      const plain = {
        ...golden.objective,
        surrogate: 'plain',
        klCoef: 0,
        entropyCoef: 0,
        aggregation: 'token-mean',
      } as const;
      const stats = await policy.accumulate(everyRow(golden), plain, 1);
      within([stats.total], golden.tensor('expect.sft.loss'), 'loss');
      const gradients = policy.gradients();
      for (const [name, want] of golden.tensorsUnder('expect.sft.grad.')) within(gradients.get(name) ?? [], want, name);
    });

    it('in every part and every gradient of the masked objective', async () => {
      const policy = loaded(golden, precision);
      const stats = await policy.accumulate(everyRow(golden), golden.objective, 1);
      const part = (name: string, got: number) =>
        golden.has(`expect.policy.${name}`) && within([got], golden.tensor(`expect.policy.${name}`), name);
      part('policy_loss', stats.policyLoss);
      part('entropy', stats.entropy);
      part('kl', stats.kl);
      part('clip_fraction', stats.clipFraction);
      part('approx_kl', stats.approxKl);
      part('value_loss', stats.valueLoss);
      part('total', stats.total);
      const gradients = policy.gradients();
      const wanted = golden.tensorsUnder('expect.policy.grad.');
      expect(wanted.size).toBe(gradients.size);
      for (const [name, want] of wanted) within(gradients.get(name) ?? [], want, name);
    });

    it('in the gradient norms and the change of every weight over three AdamW steps', async () => {
      const policy = loaded(golden, precision);
      for (let i = 0; i < golden.adamwSteps; i++)
        await policy.learn(everyRow(golden), golden.objective, golden.optimizer, 1);
      const { steps } = await policy.report();
      within(
        steps.map((s) => s.gradNorm),
        golden.tensor('expect.adamw.grad_norms'),
        'norms',
      );
      const state = await policy.readState();
      expect(state.policy.steps).toBe(golden.adamwSteps);
      for (const [name, after] of golden.tensorsUnder('expect.adamw.param.')) {
        const before = golden.tensor(`param.${name}`);
        const change = (w: Float32Array) => Float64Array.from(w, (x, i) => x - before[i]!);
        expect(relativeError(change(state.policy.weights.get(name)!), change(after)), name).toBeLessThanOrEqual(5e-4);
      }
    });
  });
});
