import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import type { Metrics } from '../../src/domain/metrics.ts';
import { Role } from '../../src/domain/tokens.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import type { PolicyState } from '../../src/model/policy.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { type WeightQueue, withStaleWeights } from '../../src/rl/staleWeights.ts';
import { openSession } from '../../src/session/session.ts';
import { bareHost } from '../bareHost.ts';

/** A policy of one weight that notes with which it draws. */
function oneWeight() {
  const tensors = (x: number) => new Map([['w', Float32Array.of(x)]]);
  let state: PolicyState = {
    policy: { weights: tensors(0), adamM: tensors(1), adamV: tensors(2), steps: 3 },
    critic: null,
  };
  const drawn: number[] = [];
  return {
    drawn,
    state: () => state,
    learn: (weight: number) => (state = { ...state, policy: { ...state.policy, weights: tensors(weight) } }),
    draw: () => Promise.resolve(drawn.push(state.policy.weights.get('w')![0]!)),
    readState: () => Promise.resolve(state),
    writeState: (next: PolicyState) => (state = next),
  };
}

describe('rollouts with older weights', () => {
  it('the weights of k updates ago draw, at first the first ones; then the current ones are back with their moments', async () => {
    const policy = oneWeight();
    const queue: WeightQueue = { earlier: [] };
    const ages: number[] = [];
    // the weights after update u are u
    for (const [i, staleness] of [2, 2, 2, 2, 4, 4, 1, 0, 2].entries()) {
      const update = i + 1;
      const before = policy.state();
      ages.push((await withStaleWeights(policy, queue, { update, staleness }, policy.draw)).age);
      expect(policy.state()).toBe(before);
      expect(queue.earlier.length).toBeLessThanOrEqual(staleness);
      policy.learn(update);
    }
    // raised to 4, it's reached update by update; lowered, it holds at once
    expect(policy.drawn).toEqual([0, 0, 0, 1, 2, 2, 5, 7, 8]);
    expect(ages).toEqual([0, 1, 2, 2, 2, 3, 1, 0, 0]);
  });

  it('if drawing fails, the current weights are back too', async () => {
    const policy = oneWeight();
    const queue: WeightQueue = { earlier: [] };
    await withStaleWeights(policy, queue, { update: 1, staleness: 1 }, policy.draw);
    policy.learn(1);
    const fails = () => Promise.reject(new Error('no tool'));
    await expect(withStaleWeights(policy, queue, { update: 2, staleness: 1 }, fails)).rejects.toThrow('no tool');
    expect(policy.state().policy.weights.get('w')).toEqual(Float32Array.of(1));
  });

  it.each(['all', 'first'] as const)(
    'in a run: behaviour log-probabilities are those of the older weights (of %s turns), old ones those before the update',
    async (staleTurns) => {
      const config = parseConfig({
        ...{
          prompts: 4,
          groupSize: 4,
          minibatches: 2,
          updates: 9,
          evalEvery: 0,
          evalTasks: 8,
          warmStart: 'none',
          seed: 7,
        },
        ...{ layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 16, maxTurns: 3, backend: 'cpu', grammar: 'on' },
        ...{ learningRate: 0.01, staleness: 2, staleTurns, correction: 'truncated', correctionHigh: 1.1, miEvery: 0 },
      });
      const session = await openSession(config, bareHost, () => undefined);
      const weights = [(await session.checkpoint()).networks.policy.weights];
      const batches: BatchView[] = [];
      const metrics: Metrics[] = [];
      while (metrics.length < 4) {
        const { value } = (await session.events.next()) as { readonly value: { readonly type: string } & Record<string, unknown> }; // prettier-ignore
        if (value.type === 'batch') batches.push(value['batch'] as BatchView);
        if (value.type !== 'metrics' || value['update'] === 0) continue;
        metrics.push(value['values'] as Metrics);
        weights.push((await session.checkpoint()).networks.policy.weights);
      }
      const { rows, length, model } = session.policy;
      const spec = { model, critic: 'shared', rows, length, minibatchRows: rows } as const;
      const scorer = createCpuPolicy(spec, learningMath, { seed: 1, reason: '' });
      scorer.setGrammar(session.env.grammar(true));
      const everyTurn = () => true;
      const largest = async (
        batch: BatchView,
        list: 'sampledLogprobs' | 'logprobs',
        after: number,
        isIncluded: (turn: number) => boolean = everyTurn,
      ) => {
        scorer.writeWeights(weights[after]!);
        const { tokens, roles, states } = batch;
        scorer.load({ tokens, roles, states });
        await scorer.score(1, { reference: false, values: false });
        const { logprobs } = await scorer.report();
        const gaps = [...batch.roles].map((role, i) => (role === Role.action && isIncluded(batch.turns[i]!) ? Math.abs(logprobs[i]! - batch[list][i]!) : 0)); // prettier-ignore
        return Math.max(...gaps);
      };
      expect(metrics.map((values) => values['rollout/staleness'])).toEqual([0, 1, 2, 2]);
      for (const [i, batch] of batches.entries()) {
        const isStale = (turn: number) => staleTurns === 'all' || turn === 1;
        expect(await largest(batch, 'sampledLogprobs', Math.max(0, i - 2), isStale)).toBeLessThan(1e-5);
        if (staleTurns === 'first') expect(await largest(batch, 'sampledLogprobs', i, (t) => t > 1)).toBeLessThan(1e-5);
        expect(await largest(batch, 'logprobs', i)).toBeLessThan(1e-5);
      }
      // the mismatch is measured, and weighs the loss
      expect(metrics[0]!['rollout_corr/k3_kl']).toBeLessThan(1e-9);
      expect(metrics[3]!['rollout_corr/k3_kl']).toBeGreaterThan(1e-3);
      const [share] = [metrics[3]!['rollout_corr/rollout_is_ratio_fraction_high']!];
      expect(share).toBeGreaterThan(0.01);
      const { corrections, lossMask } = batches[3]!;
      const cut = [...lossMask.keys()].filter((at) => lossMask[at] !== 0 && corrections![at] === Math.fround(1.1));
      expect(cut.length / lossMask.filter((m) => m !== 0).length).toBeCloseTo(share, 12);
      session.dispose();
    },
  );
});
