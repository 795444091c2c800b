import { describe, expect, test } from 'vitest';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import { pushAt } from '../../src/page/rollout/channels.ts';
import { pushByEpoch, pushSentence } from '../../src/ui/run/Inspector.tsx';
import { trained } from './trained.ts';

const TINY = {
  ...{ prompts: 4, groupSize: 4, updates: 9, evalEvery: 0, evalTasks: 8, warmStart: 'none', seed: 7, backend: 'cpu' },
  ...{ layers: 2, width: 16, heads: 2, kvHeads: 1, ffn: 16, maxTurns: 3, learningRate: 0.02, minibatches: 2 },
};
async function firstBatch(set: Partial<RunConfig>): Promise<{ batch: BatchView; config: RunConfig }> {
  const config = parseConfig({ ...TINY, ...set });
  const { session, batches } = await trained(config, 1);
  session.dispose();
  return { batch: batches[0]!, config };
}
const learnedFrom = (batch: BatchView) =>
  Array.from(batch.roles.keys()).filter((i) => batch.lossMask[i] !== 0 && batch.advantages[i] !== 0);

describe('the passes of an update', () => {
  test('a success is pushed up and a failure down, in every pass that the clip lets it', async () => {
    const { batch } = await firstBatch({ epochs: 3 });
    expect(batch.epochViews?.map(({ epoch }) => epoch)).toEqual([1, 2, 3]);
    const tokens = learnedFrom(batch);
    expect(tokens.length).toBeGreaterThan(20);
    for (const i of tokens) {
      for (const { push, clipped } of pushByEpoch(batch, i)) {
        if (!clipped) expect(Math.sign(push)).toBe(Math.sign(batch.advantages[i]!));
        else expect(push).toBe(0);
      }
    }
  });

  test('a token that the clip held at the last pass was pushed at the first: the sum says so, the last pass alone does not', async () => {
    const { batch } = await firstBatch({ epochs: 4, clipLow: 0.02, clipHigh: 0.02, minibatches: 1 });
    const held = learnedFrom(batch).filter((i) => batch.policyWeights[i] === 0);
    expect(held.length).toBeGreaterThan(10); // of a narrow clip and a large step
    for (const i of held) {
      const first = pushByEpoch(batch, i)[0]!;
      expect(first.ratio).toBeCloseTo(1, 5);
      expect(Math.sign(pushAt(batch, i))).toBe(Math.sign(batch.advantages[i]!));
      expect(pushSentence(pushByEpoch(batch, i))).toMatch(
        /pushed the token (up|down) in epoch 1.*clipped in epoch .*4\./,
      );
    }
  });

  test('every push is A · ρ · share, with ρ = 1 in the first minibatch, for a token mean and for sums alike', async () => {
    for (const aggregation of ['token-mean', 'seq-mean-token-sum', 'seq-mean-token-mean'] as const) {
      const { batch } = await firstBatch({ epochs: 2, aggregation });
      let ones = 0;
      for (const i of learnedFrom(batch)) {
        for (const { ratio, policyPush, share, epoch: pass } of pushByEpoch(batch, i)) {
          if (ratio === null) continue;
          expect(policyPush).toBeCloseTo(batch.advantages[i]! * ratio * share, 6);
          expect(ratio).toBeGreaterThan(0.3); // a clip at ±.2 holds, a push back is let through
          if (pass === 1 && Math.abs(ratio - 1) < 1e-5) ones++;
        }
      }
      // half of the rows are in the first minibatch
      expect(ones / learnedFrom(batch).length).toBeGreaterThan(0.3);
    }
  });

  test('with a token mean the shares of a minibatch’s tokens add up to 1, pass by pass', async () => {
    const { batch } = await firstBatch({ epochs: 2 });
    for (const { shares } of batch.epochViews!) {
      let sum = 0;
      for (let i = 0; i < batch.lossMask.length; i++) {
        if (batch.lossMask[i] !== 0) sum += shares[Math.floor(i / batch.length)]!;
      }
      expect(sum).toBeCloseTo(2, 4); // two minibatches
    }
  });

  test('of more passes than are kept, the first ones and the last are told by their numbers', async () => {
    const { batch } = await firstBatch({ epochs: 11 });
    expect(batch.epochViews?.map(({ epoch: pass }) => pass)).toEqual([1, 2, 3, 4, 5, 6, 7, 11]);
    expect(batch.epochViews?.at(-1)?.gradWeights).toEqual(batch.gradWeights);
  });

  test('a prompt that was filtered out was pushed in no pass', async () => {
    const { batch } = await firstBatch({ epochs: 2, filter: 'top-fraction', filterShare: 0.5 });
    const out = Array.from(batch.kept.keys()).filter((row) => batch.kept[row] === 0);
    expect(out.length).toBe(8);
    for (const row of out) {
      for (let t = 0; t < batch.length; t++) expect(pushAt(batch, row * batch.length + t)).toBe(0);
    }
  });
});
