import { expect, test } from 'vitest';
import { logprobGradient } from '../../src/analysis/attribution.ts';
import { parseConfig } from '../../src/config/config.ts';
import type { Weights } from '../../src/model/architecture.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { openSession } from '../../src/session/session.ts';
import { Role } from '../../src/domain/tokens.ts';
import { rowOf } from '../analysis/trained.ts';
import { host } from './host.ts';

const config = parseConfig({
  ...{ env: 'number-hunt', prompts: 4, groupSize: 4, epochs: 2, minibatches: 2, maxTurns: 3, entropyCoef: 0.02 },
  ...{ layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 16, learningRate: 0.01, klCoef: 0.05, weightDecay: 0.1 },
  ...{ warmStart: 'none', backend: 'gpu', updates: 10, evalEvery: 0, evalTasks: 4, seed: 5 },
});

test('the parts of an update that a GPU took, found on the CPU, add up to ⟨∇log π, Δθ⟩ of the GPU’s own weights', async () => {
  const session = await openSession(config, host, () => undefined);
  expect(session.policy.backend.kind).toBe('gpu');
  const weights: Weights[] = [];
  let batch: BatchView | undefined;
  while (weights.length < 4) {
    const next = await session.events.next();
    if (next.done === true) throw new Error('training goes on for ever');
    if (next.value.type === 'batch') batch = next.value.batch;
    if (next.value.type !== 'metrics') continue;
    const { policy } = await session.policy.readState();
    session.history.keepState(next.value.update, policy);
    weights.push(policy.weights);
  }
  const { roles, logprobs, length } = batch!;
  const i = roles.findLastIndex((role, at) => role === Role.action && logprobs[at]! < -0.5);
  const [row, position] = [Math.floor(i / length), i % length];
  const answer = await session.answer({ kind: 'why', update: batch!.update, row, position });
  if (answer.kind !== 'why' || !answer.why) throw new Error(`no answer: ${JSON.stringify(answer)}`);
  const { kl, entropy, value, momentum, decay, rollouts, residual, before, after } = answer.why;
  const parts = [kl, entropy, value, momentum, decay, ...rollouts];
  const explained = parts.reduce((a, b) => a + b, 0);

  const spec = { model: session.policy.model, critic: 'none', rows: 1, length, minibatchRows: 1 } as const;
  const reader = createCpuPolicy(spec, learningMath, { seed: 1, reason: '' });
  reader.setGrammar(session.env.grammar(true));
  reader.writeWeights(weights[2]!);
  let along = 0;
  for (const [name, gradient] of await logprobGradient(reader, rowOf(batch!, row), position, config.temperature)) {
    gradient.forEach((g, k) => (along += g * (weights[3]!.get(name)![k]! - weights[2]!.get(name)![k]!)));
  }
  expect(Math.max(...parts.map(Math.abs))).toBeGreaterThan(0.01);
  // two backends in float32, each over four steps
  expect(Math.abs(explained - along)).toBeLessThan(1e-3);
  expect(Math.abs(explained + residual - (after - before))).toBeLessThan(1e-6);
  session.dispose();
});
