import { expect, test } from 'vitest';
import { dot, loadBatch } from '../../src/analysis/attribution.ts';
import { openReplay } from '../../src/analysis/replay.ts';
import { spreadBucket, spreadGradients, SPREAD_TERMS } from '../../src/analysis/spreadGradients.ts';
import { parseConfig } from '../../src/config/config.ts';
import { creditOf } from '../../src/rl/lesson.ts';
import { trained } from './trained.ts';

const TINY = parseConfig({
  ...{ prompts: 8, groupSize: 4, updates: 9, evalEvery: 0, evalTasks: 8, warmStart: 'none', seed: 7, backend: 'cpu' },
  ...{ layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 16, maxTurns: 3, learningRate: 0.01, processReward: 0 },
  ...{ estimator: 'grpo', epochs: 1, minibatches: 2, klCoef: 0.1, entropyCoef: 0.05 },
});

test('buckets of reward spread add up to the whole gradient; without spread only the regularizers pull', async () => {
  const { session, batches, weights } = await trained(TINY, 2);
  const batch = batches[1]!;
  const { steps, credit: settings } = session.history.lesson(2)!;
  const credit = creditOf(batch, settings);
  const replay = openReplay(session.policy, 1);
  replay.policy.setGrammar(session.env.grammar(true));
  const buckets = await spreadGradients(replay, batch, { steps, credit }, weights[1]!);
  expect(buckets.map(({ groups }) => groups)).toEqual([1, 1, 2, 1, 1, 2]);
  expect(buckets.map(({ from }) => from)).toEqual(buckets.map(({ from }) => from).toSorted((a, b) => a - b));

  const [flat, varied] = [buckets[0]!, buckets.at(-1)!].map(spreadBucket);
  expect(flat).toMatchObject({ from: 0, to: 0, norms: { task: 0 } });
  expect(flat!.norms.entropy).toBeGreaterThan(1e-4);
  expect(flat!.norms.kl).toBeGreaterThan(1e-6);
  expect(varied!.norms.task).toBeGreaterThan(1e-2);

  const sum = new Float64Array(buckets[0]!.gradients.task.length);
  for (const { gradients } of buckets)
    for (const term of SPREAD_TERMS) gradients[term].forEach((g, i) => (sum[i]! += g));
  replay.policy.writeWeights(weights[1]!);
  loadBatch(replay, batch, credit);
  for (const { rows, objective, temperature } of steps) {
    await replay.policy.accumulate(rows, objective, temperature);
    const pool = replay.policy.gradientPool();
    for (let i = 0; i < sum.length; i++) sum[i]! -= pool[i]!;
  }
  // float32 gradients of size 0.01 to 1, added up in another order
  expect(Math.sqrt(dot(sum, sum))).toBeLessThan(1e-5);

  const answer = await session.answer({ kind: 'spread-gradients', update: 2 });
  expect(answer).toMatchObject({ kind: 'spread-gradients', buckets: buckets.map(spreadBucket) });
  session.dispose();
});
