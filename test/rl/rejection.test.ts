import { describe, expect, it } from 'vitest';
import { objective } from '../../src/rl/objective.ts';
import { ALGORITHMS } from '../../src/config/algorithms.ts';
import { parseConfig } from '../../src/config/config.ts';
import { objectiveSettings } from '../../src/rl/settings.ts';
import { createEnv } from '../../src/envs/index.ts';
import { train } from '../../src/rl/trainer.ts';
import { noProgress } from '../../src/domain/progress.ts';
import { fakePolicy } from './fakePolicy.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import { close, creditOf } from './worked.ts';

const ROLES = [
  [1, 2, 2, 3, 2],
  [1, 2, 3, 2, 0],
  [1, 2, 2, 2, 2],
];
// a failed rollout may well be paid, and a solved one penalised
const REWARDS = [0, 0, 0, 0, -0.5, 0, 0, 0, 3, 0, 0, 0, 0, 0, 1];
const SOLVED = [1, 0, 1];

describe('rft', () => {
  it('gives the agent’s tokens of solved rollouts 1 and others 0, whatever they were paid', () => {
    const { advantages, returns } = creditOf(ROLES, REWARDS, { estimator: 'rft' }, { solved: SOLVED });
    close(advantages, [0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1], 1e-12);
    close(returns, new Array<number>(15).fill(0), 1e-12);
    close(creditOf(ROLES, REWARDS, { estimator: 'none' }, { solved: SOLVED }).advantages, [...returns], 1e-12);
  });

  it('is cross-entropy on the successes: the loss of the algorithm is the sum of their −log π, over all tokens in the loss', () => {
    const { advantages, masks } = creditOf(ROLES, REWARDS, { estimator: 'rft' }, { solved: SOLVED });
    const logprobs = Float64Array.from(advantages, (_, at) => -0.1 * (at + 1));
    const zeros = new Float64Array(15);
    const batch = {
      ...{ length: 5, logprobs, entropies: zeros, values: zeros, refLogprobs: zeros, oldValues: zeros, returns: zeros },
      // weights that are not those of the rollouts: a ratio would show
      ...{ oldLogprobs: logprobs.map((x) => x + 1), advantages },
      ...{ lossMask: masks.policy, regularizerMask: masks.regularizer, valueMask: zeros, observationMask: zeros },
    };
    const out = {
      dlogprobs: new Float64Array(15),
      policyWeights: new Float64Array(15),
      dentropies: new Float64Array(15),
      dvalues: new Float64Array(15),
    };
    const settings = objectiveSettings({ ...parseConfig(ALGORITHMS.rft.set), entropyCoef: 0 });
    const { total } = objective(batch, Int32Array.of(0, 1, 2), settings, out);
    const solved = [1, 2, 4, 11, 12, 13, 14];
    expect(total).toBeCloseTo(solved.reduce((sum, at) => sum - logprobs[at]!, 0) / 9, 12);
    close(
      out.dlogprobs,
      [...logprobs].map((_, at) => (solved.includes(at) ? -1 / 9 : 0)),
      1e-12,
    );
  });

  it('learns from exactly the rollouts that are counted as solved', async () => {
    const knobs = { prompts: 4, groupSize: 8, updates: 1, evalEvery: 0, evalTasks: 4, maxTurns: 4, range: 4 };
    const config = parseConfig({ ...ALGORITHMS.rft.set, ...knobs });
    const env = createEnv(config);
    const events = train({
      ...{ policy: fakePolicy(32, 200, env.vocabulary.length), env, rewardModel: null },
      ...{ config: () => config, now: () => 0, yieldToEvents: () => Promise.resolve(), lastConfig: null },
      ...{ progress: noProgress(), weightQueue: { earlier: [] } },
    });
    let batch: BatchView | undefined;
    for await (const event of events) {
      if (event.type !== 'batch') continue;
      ({ batch } = event);
      break;
    }
    if (!batch) throw new Error('no batch');
    const successes = batch.episodes.filter(({ success }) => success);
    expect(successes.length).toBeGreaterThan(0);
    expect(successes.length).toBeLessThan(batch.episodes.length);
    for (const { row, success } of batch.episodes) {
      const own = batch.advantages.subarray(row * batch.length, (row + 1) * batch.length);
      expect(Math.max(...own)).toBe(Number(success));
      expect(Math.min(...own)).toBe(0);
    }
  });
});
