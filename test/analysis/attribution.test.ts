import { describe, expect, test } from 'vitest';
import { attribute, logprobGradient } from '../../src/analysis/attribution.ts';
import { openReplay } from '../../src/analysis/replay.ts';
import { parseConfig } from '../../src/config/config.ts';
import { type ModelConfig, parameters, type Weights } from '../../src/model/architecture.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import type { Credit } from '../../src/model/learningMath.ts';
import type { BatchView, RecordedRow } from '../../src/domain/batch.ts';
import type { Why } from '../../src/domain/readings.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { creditOf, type Lesson } from '../../src/rl/lesson.ts';
import { creditSettings, objectiveSettings, optimizerSettings } from '../../src/rl/settings.ts';
import type { Session } from '../../src/session/session.ts';
import { Role } from '../../src/domain/tokens.ts';
import { rowOf, trained } from './trained.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';

const TINY = {
  ...{ prompts: 4, groupSize: 4, updates: 9, evalEvery: 0, evalTasks: 8, warmStart: 'none', seed: 7, backend: 'cpu' },
  ...{ layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 16, maxTurns: 3, learningRate: 0.01 },
};
/** Every way in which a loss can move a token: two epochs of two minibatches, KL, entropy, a shared critic, decay, clipping, older weights. */
const FULL = parseConfig({
  ...TINY,
  ...{ estimator: 'gae', critic: 'shared', epochs: 2, minibatches: 2, maxGradNorm: 0.5, criticWarmup: 0 },
  ...{ klCoef: 0.1, entropyCoef: 0.05, observationLoss: 0.2, weightDecay: 0.1, regularizerTokens: 'off' },
  ...{ staleness: 1, correction: 'masked', correctionLow: 0.9, correctionHigh: 1.1 },
});
/** The last token of a row that the agent chose: others than the one it took were likely too. */
function chosen({ roles, logprobs, length }: BatchView, row: number): number {
  const free = (t: number) => roles[row * length + t] === Role.action && logprobs[row * length + t]! < -0.5;
  const at = Array.from({ length }, (_, t) => t).findLast(free);
  if (at === undefined) throw new Error(`row ${row} has no token that was chosen`);
  return at;
}

/** log π of a token in float64, at weights + by·(to − weights). */
async function logprobAt(
  session: Session,
  row: RecordedRow,
  position: number,
  [from, to]: readonly [Weights, Weights],
  by: number,
): Promise<number> {
  const { model, length } = session.policy;
  const spec = { model, critic: 'shared', rows: 1, length, minibatchRows: 1 } as const;
  const exact = createCpuPolicy(spec, learningMath, { loops: NAIVE.f64, seed: 1, reason: '' });
  exact.setGrammar(session.env.grammar(true));
  const pool = exact.weightPool().policy;
  let at = 0;
  for (const { name, size } of parameters(model)) {
    for (let i = 0; i < size; i++) pool[at + i] = from.get(name)![i]! + by * (to.get(name)![i]! - from.get(name)![i]!);
    at += size;
  }
  exact.load(row);
  // the report is float32; the objective of one token alone is its log-probability, in float64
  const none = new Float32Array(length);
  const only = none.slice().fill(1, position, position + 1);
  const given = { oldLogprobs: none, refLogprobs: none, oldValues: none, returns: none, valueMask: none };
  exact.load(row, { ...given, advantages: only.map((x) => -x), lossMask: only });
  const objective = {
    ...objectiveSettings(FULL),
    surrogate: 'plain',
    klCoef: 0,
    entropyCoef: 0,
    valueCoef: 0,
  } as const;
  return (await exact.accumulate(Int32Array.of(0), objective, FULL.temperature)).policyLoss;
}

const explained = (why: Why) =>
  [why.kl, why.entropy, why.observation!, why.value, why.momentum, why.decay, ...why.rollouts].reduce(
    (a, b) => a + b,
    0,
  );

describe('WOW-34: why a token moved', () => {
  test('the contributions are the directional derivative along the update, and with the residual the measured change', async () => {
    const { session, batches, weights } = await trained(FULL, 3);
    const batch = batches[2]!;
    const hash = await session.parametersHash();
    for (const row of [0, 5, 11]) {
      const record = rowOf(batch, row);
      const position = chosen(batch, row);
      const answer = await session.answer({ kind: 'why', update: batch.update, row, position });
      if (answer.kind !== 'why' || !answer.why) throw new Error('no answer');
      const { why } = answer;
      const way = [weights[2]!, weights[3]!] as const;
      const at = (by: number) => logprobAt(session, record, position, way, by);
      const H = 1e-4; // float64: the error of the difference is about H², that of rounding 1e-12
      const derivative = ((await at(H)) - (await at(-H))) / (2 * H);
      // float32 weights and gradients of a few thousand numbers
      expect(Math.abs(explained(why) - derivative)).toBeLessThan(1e-4 + 1e-3 * Math.abs(derivative));
      const measured = (await at(1)) - (await at(0));
      expect(Math.abs(explained(why) + why.residual - measured)).toBeLessThan(1e-3);
      expect(Math.abs(why.after - why.before - measured)).toBeLessThan(1e-4);
      expect(why.steps).toBe(4);
      for (const part of [why.kl, why.entropy, why.observation!, why.value, why.momentum, why.decay, why.residual]) {
        expect(Math.abs(part)).toBeGreaterThan(1e-7);
      }
    }
    expect(await session.parametersHash()).toBe(hash);
    session.dispose();
  });

  test('a rollout’s part is what the step lacks when its advantages are 0, where the step is linear in the gradient', async () => {
    const config = parseConfig({ ...TINY, estimator: 'grpo', epochs: 1, minibatches: 1, entropyCoef: 0 });
    const { session, batches, weights } = await trained(config, 2);
    const batch = batches[1]!;
    const settings = creditSettings(config, 0, 1);
    // an eps far above √v̂ makes of AdamW a step of fixed length per gradient
    const far = { eps: 1e4, learningRate: 100, maxGradNorm: 1e9, weightDecay: 0 };
    const optimizer = { ...optimizerSettings(config, 2), ...far };
    const rows = Int32Array.from({ length: batch.rows }, (_, row) => row);
    const step = { rows, objective: objectiveSettings(config), optimizer, temperature: 1 };
    const lesson: Lesson = { credit: settings, steps: [step] };
    const credit = creditOf(batch, settings);
    const { model, length } = session.policy;
    const one = { model, critic: 'none', rows: 1, length, minibatchRows: 1 } as const;
    const reader = createCpuPolicy(one, learningMath, { seed: 1, reason: '' });
    reader.setGrammar(session.env.grammar(true));
    reader.writeWeights(weights[1]!);
    const probe = await logprobGradient(reader, rowOf(batch, 3), chosen(batch, 3), 1);
    const zeros = new Map([...weights[1]!].map(([name, tensor]) => [name, new Float32Array(tensor.length)]));
    const before = { weights: weights[1]!, adamM: zeros, adamV: zeros, steps: 0 };
    const replay = openReplay(session.policy, 1);
    replay.policy.setGrammar(session.env.grammar(true));
    const parts = await attribute(replay, batch, { lesson, credit }, before, probe);

    /** ⟨probe, Δθ⟩ of a plain step in float64, without the advantages of a row. */
    const plain = async (without: number | null): Promise<number> => {
      const spec = { model, critic: 'none', rows: batch.rows, length, minibatchRows: batch.rows } as const;
      const exact = createCpuPolicy(spec, learningMath, { loops: NAIVE.f64, seed: 1, reason: '' });
      exact.setGrammar(session.env.grammar(true));
      exact.writeWeights(weights[1]!);
      const kept = credit.advantages.map((a, i) => (Math.floor(i / length) === without ? 0 : a));
      exact.load(
        { tokens: batch.tokens, roles: batch.roles, states: batch.states },
        givenBy(batch, { ...credit, advantages: kept }),
      );
      const start = exact.weightPool().policy.slice();
      await exact.learn(rows, step.objective, optimizer, 1);
      return along(model, probe, start, exact.weightPool().policy);
    };
    const whole = await plain(null);
    const sizes = [...parts.rollouts].map(Math.abs);
    const most = Math.max(...sizes);
    expect(most).toBeGreaterThan(1e-5);
    for (const row of [3, sizes.indexOf(most), 8]) {
      expect(Math.abs(parts.rollouts[row]! - (whole - (await plain(row))))).toBeLessThan(1e-3 * most);
    }
    expect(Math.abs([...parts.rollouts].reduce((a, b) => a + b, 0) - whole)).toBeLessThan(1e-3 * most);
    expect([parts.momentum, parts.kl, parts.entropy, parts.value, parts.decay].map(Math.abs)).toEqual([0, 0, 0, 0, 0]);
    session.dispose();
  });
});

function givenBy({ logprobs, refLogprobs, values }: BatchView, { advantages, returns, masks }: Credit) {
  return {
    ...{ oldLogprobs: logprobs, refLogprobs, oldValues: values, lossMask: masks.policy, valueMask: masks.value },
    ...{ advantages: Float32Array.from(advantages), returns: Float32Array.from(returns) },
  };
}

function along(model: ModelConfig, probe: Weights, from: ArrayLike<number>, to: ArrayLike<number>): number {
  let [sum, at] = [0, 0];
  for (const { name, size } of parameters(model)) {
    for (let i = 0; i < size; i++) sum += probe.get(name)![i]! * (to[at + i]! - from[at + i]!);
    at += size;
  }
  return sum;
}
