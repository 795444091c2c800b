import { describe, expect, test } from 'vitest';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import type { ModelConfig, Weights } from '../../src/model/architecture.ts';
import type { Answer, Question } from '../../src/wire/questions.ts';
import type { Session } from '../../src/session/session.ts';
import { Role } from '../../src/domain/tokens.ts';
import { rowOf, trained } from './trained.ts';

const TINY = {
  ...{ prompts: 4, groupSize: 4, updates: 9, evalEvery: 0, evalTasks: 8, warmStart: 'none', seed: 7, backend: 'cpu' },
  ...{ layers: 2, width: 16, heads: 2, kvHeads: 1, ffn: 16, maxTurns: 3, learningRate: 0.02 },
  ...{ epochs: 1, minibatches: 1 }, // one pass: what is learned with is what it began with
};
async function ask<K extends Question['kind']>(session: Session, question: Extract<Question, { kind: K }>) {
  const answer: Answer = await session.answer(question);
  if (answer.kind !== question.kind) throw new Error(`asked ${question.kind}, got ${JSON.stringify(answer)}`);
  return answer as Extract<Answer, { kind: K }>;
}

describe('WOW-39: a mask that is tried', () => {
  test.each([
    ['lossMask', { estimator: 'grpo' }],
    ['lossMask', { estimator: 'gae', critic: 'separate', advantageMask: 'off' }],
    ['advantageMask', { estimator: 'gae', critic: 'shared', lambda: 0.9, criticWarmup: 0 }],
    ['advantageMask', { estimator: 'gae', critic: 'shared', lossMask: 'off', klRewardCoef: 0.1, criticWarmup: 0 }],
    ['masks', { estimator: 'gae', critic: 'shared', lambda: 0.9, criticWarmup: 0 }],
    ['masks', { estimator: 'gae', critic: 'shared', lossMask: 'off', criticWarmup: 0 }],
    ['masks', { estimator: 'grpo', lossMask: 'off', advantageMask: 'off' }],
    ['masks', { estimator: 'grpo', lossMask: 'off', advantageMask: 'off', observationLoss: 0.5 }],
    ['observationLoss', { estimator: 'grpo' }],
    ['trainTurns', { estimator: 'gae', critic: 'shared', entropyCoef: 0.01, observationLoss: 0.5 }],
  ] as const)('%s gives what a run with it turned would have learned from the same batch: %o', async (flipped, set) => {
    const config = parseConfig({ ...TINY, ...set });
    const { lossMask, advantageMask } = config;
    const both = lossMask === 'off' && advantageMask === 'off' ? ('on' as const) : ('off' as const);
    const turnedTo: Partial<RunConfig> =
      flipped === 'masks'
        ? { lossMask: both, advantageMask: both }
        : flipped === 'observationLoss'
          ? { observationLoss: 0.5 }
          : flipped === 'trainTurns'
            ? { trainTurns: 'last' }
            : { [flipped]: config[flipped] === 'on' ? 'off' : 'on' };
    const other = parseConfig({ ...config, ...turnedTo });
    // the first batch of both runs is the same: their weights have not parted yet
    const [run, turned] = [await trained(config, 1), await trained(other, 1)];
    const hash = await run.session.parametersHash();
    const batch = run.batches[0]!;
    const real = turned.batches[0]!;
    expect(batch.tokens).toEqual(real.tokens);
    const asked = await ask(run.session, { kind: 'preview', update: 1, changes: turnedTo });
    const preview = asked.preview?.batch;
    expect(preview!.lossMask).toEqual(real.lossMask);
    expect(preview!.advantageMask).toEqual(real.advantageMask);
    expect(preview!.observationMask).toEqual(real.observationMask ?? new Float32Array(real.lossMask.length));
    // the same arithmetic on numbers that were rounded to float32 in between
    const most = Math.max(...real.gradWeights.map(Math.abs));
    expect(most).toBeGreaterThan(1e-4);
    real.gradWeights.forEach((weight, i) => {
      expect(Math.abs(preview!.gradWeights[i]! - weight)).toBeLessThan(1e-5 * most);
    });
    const differs = batch.gradWeights.some((weight, i) => Math.abs(weight - preview!.gradWeights[i]!) > 0.01 * most);
    expect(differs).toBe(true);
    expect(await run.session.parametersHash()).toBe(hash);
    run.session.dispose();
    turned.session.dispose();
  });
});

describe('the same tasks and draws, before and after an update', () => {
  test('the policy before it plays the batch again; the one after parts from it somewhere', async () => {
    const config = parseConfig(TINY);
    const { session, batches } = await trained(config, 3);
    const hash = await session.parametersHash();
    const { before, after } = await ask(session, { kind: 'rerun', update: 2 });
    const batch = batches[1]!;
    for (const part of ['tokens', 'roles', 'turns', 'lengths'] as const) expect(before![part]).toEqual(batch[part]);
    expect(before!.episodes).toEqual(batch.episodes);
    expect(after!.tokens).not.toEqual(batch.tokens);
    // the prompts are the tasks’, and so are the first draws of most rows: one update moves little
    const same = after!.tokens.filter((token, i) => token === batch.tokens[i]).length;
    expect(same / batch.tokens.length).toBeGreaterThan(0.3);
    expect(await session.parametersHash()).toBe(hash);
    session.dispose();
  });

  test('of a batch whose weights are not kept there are none, and an update that is not kept is refused in words', async () => {
    const config = parseConfig(TINY);
    const { session } = await trained(config, 1);
    const { batch } = session.history.batch(1)!;
    session.history.keepBatch({ ...batch, update: 7 }, config); // as one that a resumed run brings along
    expect(await ask(session, { kind: 'rerun', update: 7 })).toMatchObject({ before: null, after: null });
    expect(await ask(session, { kind: 'why', update: 7, row: 0, position: 3 })).toMatchObject({ why: null });
    expect(await ask(session, { kind: 'preview', update: 7, changes: { lossMask: 'off' } })).toMatchObject({
      preview: null,
    });
    const of = { update: 7, row: 0 };
    const position = batch.roles.indexOf(Role.action);
    const got = await ask(session, { kind: 'distribution', rollout: of, position });
    expect(got).toMatchObject({ before: null, after: null });
    expect(got.now.reduce((sum, logprob) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 5);
    await expect(session.answer({ kind: 'rerun', update: 8 })).rejects.toThrow('update 8 are no longer kept');
    session.dispose();
  });
});

describe('another run’s weights', () => {
  test('its policy is asked at a token, and plays a task, as in its own run; this run doesn’t change', async () => {
    const config = parseConfig(TINY);
    // the first batch of both is the same: they part by what they learn from it
    const [own, other] = [await trained(config, 2), await trained(parseConfig({ ...config, clipHigh: 0.01, learningRate: 0.05 }), 2)]; // prettier-ignore
    expect(other.batches[0]!.tokens).toEqual(own.batches[0]!.tokens);
    const hash = await own.session.parametersHash();
    const { policy } = await other.session.policy.readState();
    const { weights } = policy;
    const { roles, singles } = own.batches[0]!;
    const position = roles.findIndex((role, t) => role === Role.action && singles[t] === 0); // a choice
    const at = { kind: 'distribution', rollout: { update: 1, row: 0 }, position } as const;
    const [own1, other1] = [await ask(own.session, { ...at, since: weights }), await ask(other.session, at)];
    expect(own1.before).toEqual(other1.now);
    expect(own1.after).toEqual((await ask(own.session, at)).now);
    expect(own1.after).not.toEqual(own1.before);
    const play = { kind: 'branch', rollout: { update: 1, row: 0 }, position: 0, token: null, ...{ temperature: 1, drawIndex: 1 } } as const; // prettier-ignore
    const played = await ask(own.session, { ...play, weights });
    expect(played.branch.tokens).toEqual((await ask(other.session, play)).branch.tokens);
    expect(played.branch.logprobs).toEqual((await ask(other.session, play)).branch.logprobs);
    expect(await own.session.parametersHash()).toBe(hash);
    const larger = await trained(parseConfig({ ...config, width: 32 }), 1);
    const { policy: large } = await larger.session.policy.readState();
    await expect(own.session.answer({ ...play, weights: large.weights })).rejects.toThrow('another size');
    for (const { session } of [own, other, larger]) session.dispose();
  });
});

describe('attention', () => {
  test('each head’s weights add up to 1 over the tokens before, and the first layer’s are what q and k say', async () => {
    const config = parseConfig(TINY);
    const { session, batches, weights } = await trained(config, 2);
    const batch = batches[1]!;
    const row = rowOf(batch, 0);
    const { model } = session.policy;
    for (const position of [1, 4, batch.lengths[0]! - 1]) {
      const { attention } = await ask(session, { kind: 'attention', row: 0, position, update: 2 });
      const { layers, heads, count } = attention!;
      expect([layers, heads, count]).toEqual([2, 2, position]);
      for (let head = 0; head < layers * heads; head++) {
        const own = attention!.weights.subarray(head * count, (head + 1) * count);
        expect(own.reduce((sum, w) => sum + w, 0)).toBeCloseTo(1, 5);
        expect(own.every((w) => w >= 0)).toBe(true);
      }
      for (let head = 0; head < heads; head++) {
        const want = firstLayer(model, weights[1]!, [...row.tokens.subarray(0, position)], head);
        want.forEach((w, j) => expect(attention!.weights[head * count + j]).toBeCloseTo(w, 4));
      }
    }
    session.dispose();
  });
});

/** softmax(q·k/√D) of the last token in layer 0, written out from the paper’s equations. */
function firstLayer(model: ModelConfig, weights: Weights, tokens: readonly number[], head: number): number[] {
  const { hidden_size: d, head_dim: D, num_attention_heads: H, num_key_value_heads: K } = model;
  const tensor = (name: string) => weights.get(name)!;
  const normed = tokens.map((token) => {
    const x = [...tensor('model.embed_tokens.weight').subarray(token * d, (token + 1) * d)];
    const scale = Math.sqrt(x.reduce((sum, v) => sum + v * v, 0) / d + model.rms_norm_eps);
    return x.map((v, i) => (v / scale) * tensor('model.layers.0.input_layernorm.weight')[i]!);
  });
  const project = (name: string, at: number, position: number): number[] => {
    const out = Array.from({ length: D }, (_, c) =>
      normed[position]!.reduce((sum, v, i) => sum + v * tensor(name)[(at * D + c) * d + i]!, 0),
    );
    return out.map((v, c) => {
      const pair = c % (D / 2);
      const angle = position * model.rope_theta ** ((-2 * pair) / D);
      const turned = c < D / 2 ? -out[c + D / 2]! : out[c - D / 2]!;
      return v * Math.cos(angle) + turned * Math.sin(angle);
    });
  };
  const last = tokens.length - 1;
  const q = project('model.layers.0.self_attn.q_proj.weight', head, last);
  const scores = tokens.map((_, j) => {
    const k = project('model.layers.0.self_attn.k_proj.weight', Math.floor((head * K) / H), j);
    return q.reduce((sum, v, c) => sum + v * k[c]!, 0) / Math.sqrt(D);
  });
  const exps = scores.map((s) => Math.exp(s - Math.max(...scores)));
  const sum = exps.reduce((a, b) => a + b, 0);
  return exps.map((e) => e / sum);
}

test('with and without these questions a run goes the same way, bit for bit', async () => {
  const config = parseConfig({
    ...TINY,
    estimator: 'gae',
    critic: 'shared',
    criticWarmup: 0,
    epochs: 2,
    minibatches: 2,
  });
  const { session: plain } = await trained(config, 3);
  const { session: asked } = await trained(config, 3, async (session, batch) => {
    const update = batch.update - 1; // the last that is through
    if (update === 0) return;
    const position = batch.roles.indexOf(Role.action);
    await ask(session, { kind: 'rerun', update });
    await ask(session, { kind: 'tries', tasks: 4, tries: 2 });
    await ask(session, { kind: 'spread-gradients', update });
    await ask(session, { kind: 'why', update, row: 0, position });
    await ask(session, { kind: 'attention', row: 0, position, update });
    await ask(session, { kind: 'preview', update, changes: { clipHigh: 0.5 } });
  });
  expect(await asked.parametersHash()).toBe(await plain.parametersHash());
  plain.dispose();
  asked.dispose();
});
