import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { modelConfig } from '../../src/model/architecture.ts';
import { createCpuPolicy, type CpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import type { Attempt } from '../../src/domain/preferences.ts';
import { preferenceLoss, createRewardModel, pairBatch, VALUES_ONLY } from '../../src/rl/rewardModel.ts';
import type { Pair } from '../../src/rl/labeller.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { episodeRecord } from '../../src/rl/episodeRecord.ts';
import type { Rollouts } from '../../src/rl/rollout.ts';
import { random } from '../../src/base/rng.ts';
import { Role } from '../../src/domain/tokens.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';
import type { ReferenceLoops } from '../../src/model/cpu/arithmetic.ts';

const VOCABULARY = 9;
const LENGTH = 7;
const SMALL = parseConfig({ width: 8, heads: 2, kvHeads: 1, ffn: 12, layers: 1 });

function network(rows: number, loops?: ReferenceLoops): CpuPolicy {
  const model = modelConfig(SMALL, VOCABULARY, true);
  const spec = { model, critic: 'shared', rows, length: LENGTH + 1, minibatchRows: rows } as const;
  return createCpuPolicy(spec, learningMath, { seed: 5, reason: '', ...(loops && { loops }) });
}
const attempt = (...tokens: number[]): Attempt => ({
  tokens: Int32Array.from(tokens),
  roles: Uint8Array.from(tokens, (_, t) => (t === 0 ? Role.prompt : Role.action)),
});

/** A batch of random rollouts of lengths 2 … 7, four to a prompt. A rollout's utility is the count of one token in it. */
function batch(seed: number, rows = 32): Rollouts {
  const draw = random(seed, 5, 1);
  const record = episodeRecord(rows, LENGTH);
  const groups = Int32Array.from({ length: rows }, (_, row) => row >> 2);
  const episodes = Array.from(groups, (group, row) => {
    record.push(row, 1, { role: Role.prompt, turn: 0, grammarState: 0, logprob: 0 });
    let toolCalls = 0;
    for (let left = 1 + draw.int(LENGTH - 1); left > 0; left--) {
      const token = 2 + draw.int(VOCABULARY - 2);
      if (token === 4) toolCalls++;
      record.push(row, token, { role: Role.action, turn: 1, grammarState: 0, logprob: 0 });
    }
    return {
      ...{
        row,
        group,
        ...{ seed: 0, environmentSeed: 0 },
        question: '',
        names: new Map(),
        scores: null,
        reward: 0,
        preferenceScore: null,
        success: false,
        turns: 1,
        toolCalls,
      },
      ...({ stop: 'turns', invalidTurns: 0, waited: 0 } as const),
      parts: { outcome: 0, process: 0, call: 0, format: 0, think: 0, turnCost: 0, preference: 0, information: 0 },
      view: { kind: 'number-line', range: 1, target: 0, guesses: [] } as const,
    };
  });
  return { record, episodes, groups };
}
const LABELLER = { labellerNoise: 0, labellerTaste: 1 };

describe('a fitting step of the reward model', () => {
  const PAIRS: readonly Pair[] = [
    { better: attempt(1, 3, 4), worse: attempt(1, 5) },
    { better: attempt(1, 2, 2, 6, 7, 8, 3), worse: attempt(1, 3, 4, 5) },
    { better: attempt(1, 8), worse: attempt(1, 4, 4, 4, 4) },
  ];
  const policy = network(8, NAIVE.f64);
  const pool = policy.weightPool().policy;
  // a value head of zeros hides every other gradient
  const draw = random(11, 1, 0);
  for (let i = 0; i < pool.length; i++) pool[i] = pool[i]! + 0.3 * draw.normal();
  /**
   * r of a pair's sides in double precision. Reports are float32, too coarse for finite differences; the value loss is not:
   * aimed at −1000 it is ½(r + 1000)².
   */
  const scoresOf = async (pairs: readonly Pair[]) => {
    const { record, given } = pairBatch(policy, pairs, new Float64Array(2 * pairs.length));
    const found: number[] = [];
    for (const [row, { tokens }] of pairs.flatMap(({ better, worse }) => [better, worse]).entries()) {
      const closing = row * policy.length + tokens.length;
      const only = (x: number) => new Float32Array(given.returns.length).fill(x, closing, closing + 1);
      policy.load(record, {
        ...given,
        lossMask: only(1),
        valueMask: only(1),
        returns: only(-1000),
        oldValues: only(0),
      });
      const { valueLoss } = await policy.accumulate(Int32Array.of(row), VALUES_ONLY, 1);
      found.push(Math.sqrt(2 * valueLoss) - 1000);
    }
    return found;
  };
  const scores = () => scoresOf(PAIRS);
  const loss = async () => {
    const r = await scores();
    return PAIRS.reduce((sum, _, i) => sum + preferenceLoss(r[2 * i]!, r[2 * i + 1]!).loss / PAIRS.length, 0);
  };

  it('has the gradient of the Bradley–Terry loss, which finite differences find', async () => {
    const r = await scores();
    const { record, given, rows, loss: stated } = pairBatch(policy, PAIRS, r);
    expect(stated).toBeCloseTo(await loss(), 12);
    policy.load(record, given);
    const stats = await policy.accumulate(rows, VALUES_ONLY, 1);
    expect(stats.skipped).toBe('');
    const gradients = policy.gradients();
    const found = new Map<string, number[]>();
    const placed = [...gradients].map(([name, tensor]) => ({ name, tensor: Float64Array.from(tensor) }));
    // tensors lie in the pool one after the other, in this order
    let offset = 0;
    let worst = 0;
    let largest = 0;
    for (const { name, tensor } of placed) {
      const list: number[] = [];
      for (let i = 0; i < tensor.length; i += 1 + Math.floor(tensor.length / 9)) {
        const at = offset + i;
        const kept = pool[at]!;
        const step = 1e-5;
        pool[at] = kept + step;
        const up = await loss();
        pool[at] = kept - step;
        const down = await loss();
        pool[at] = kept;
        list.push((up - down) / (2 * step));
        worst = Math.max(worst, Math.abs(list.at(-1)! - tensor[i]!));
        largest = Math.max(largest, Math.abs(tensor[i]!));
      }
      found.set(name, list);
      offset += tensor.length;
    }
    expect(found.size).toBeGreaterThan(8);
    expect(largest).toBeGreaterThan(0.05);
    // returns are float32: about 1e-7 of numbers of order one
    expect(worst).toBeLessThan(2e-6);
  });

  it('sees the whole rollout: its last token moves r', async () => {
    const [whole] = await scores();
    const [other] = await scoresOf([{ better: attempt(1, 3, 5), worse: attempt(1, 5) }]);
    expect(Math.abs(other! - whole!)).toBeGreaterThan(1e-3);
    const reported = pairBatch(policy, PAIRS, await scores()).given;
    expect(reported.oldValues[3]).toBeCloseTo(whole!, 6);
    expect([...reported.valueMask.slice(0, policy.length)]).toEqual([0, 0, 0, 1, 0, 0, 0, 0]);
  });
});

describe('the reward model', () => {
  const model = (seed = 1) => createRewardModel(network(32), { seed, learningRate: 1e-2 });

  it('comes to agree with the labeller on pairs it was never fitted to', async () => {
    const judge = model();
    let last = await judge.fit();
    expect(last).toEqual({ pairs: 0, clicks: 0, loss: Math.LN2, agreement: null });
    for (let update = 0; update < 25; update++) {
      judge.observe(batch(update), LABELLER);
      last = await judge.fit();
    }
    expect(last.agreement).toBeGreaterThan(0.8);
    expect(last.loss).toBeLessThan(0.6);
    expect(last.pairs).toBeGreaterThan(300);
    const rolled = batch(99);
    const scores = await judge.score(rolled.record);
    const calls = rolled.episodes.map(({ toolCalls }) => toolCalls);
    const mean = (of: (calls: number) => boolean) => {
      const some = [...scores].filter((_, row) => of(calls[row]!));
      return some.reduce((a, b) => a + b, 0) / some.length;
    };
    expect(mean((n) => n >= 2)).toBeGreaterThan(mean((n) => n === 0) + 1);
  });

  it('is the same for the same seed', async () => {
    const run = async (seed: number) => {
      const judge = model(seed);
      judge.observe(batch(1), LABELLER);
      judge.observe(batch(2), { ...LABELLER, labellerNoise: 0.2 });
      return [await judge.fit(), [...(await judge.score(batch(3).record))]];
    };
    expect(await run(1)).toEqual(await run(1));
    expect(await run(2)).not.toEqual(await run(1));
  });

  it('learns from a person’s click: the chosen rollout gains on the other', async () => {
    const judge = model();
    const rolled = batch(4, 4);
    const gap = async () => {
      const r = await judge.score(rolled.record);
      return r[0]! - r[1]!;
    };
    const read = (row: number) => {
      const start = row * LENGTH;
      const end = start + rolled.record.lengths[row]!;
      return { tokens: rolled.record.tokens.slice(start, end), roles: rolled.record.roles.slice(start, end) };
    };
    const before = await gap();
    judge.prefer(read(0), read(1));
    expect(await judge.fit()).toMatchObject({ pairs: 0, clicks: 1, agreement: null });
    expect(await gap()).toBeGreaterThan(before);
    const then = await gap();
    // the same two, now the other way round: the last word counts
    judge.prefer(read(1), read(0));
    await judge.fit();
    await judge.fit();
    expect(await gap()).toBeLessThan(then);
  });

  it('scores more rollouts than it has rows, each by itself', async () => {
    const judge = model();
    judge.observe(batch(1), LABELLER);
    await judge.fit();
    const { record } = batch(7, 80);
    const all = await judge.score(record);
    expect(all).toHaveLength(80);
    expect(new Set(all).size).toBeGreaterThan(40);
    const few = createRewardModel(network(2), { seed: 1 });
    expect([...(await few.score(record))].every((r) => r === 0)).toBe(true); // the value head begins at zero
  });

  it('refuses a click on what is no rollout', () => {
    const judge = model();
    const good = attempt(1, 2);
    expect(() => judge.prefer(good, attempt())).toThrow(/0 tokens/);
    expect(() => judge.prefer(attempt(1, 2, 3, 4, 5, 6, 7, 8), good)).toThrow(/8 tokens/);
    expect(() => judge.prefer(good, attempt(1, 77))).toThrow(/token 77/);
    expect(() => judge.prefer(good, { tokens: good.tokens, roles: new Uint8Array(2) })).toThrow(/padding/);
  });
});
