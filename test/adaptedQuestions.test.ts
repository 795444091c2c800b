import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import { PRESETS } from '../src/config/presets.ts';
import { type BatchView, recordedRow } from '../src/domain/batch.ts';
import type { Why } from '../src/domain/readings.ts';
import { Role } from '../src/domain/tokens.ts';
import { bytesInMemory } from '../src/formats/byteSource.ts';
import { logprobGradient } from '../src/analysis/attribution.ts';
import { adapterConfig } from '../src/model/adapterKnobs.ts';
import type { Weights } from '../src/model/architecture.ts';
import { openCpuAdaptedPolicy } from '../src/model/cpu/adapters/cpuAdaptedPolicy.ts';
import { createCpuPolicy } from '../src/model/cpu/cpuPolicy.ts';
import { mergedSource } from '../src/model/mergedSource.ts';
import { readFloat32 } from '../src/model/weightSource.ts';
import { learningMath } from '../src/rl/plainLearningMath.ts';
import type { Host } from '../src/session/host.ts';
import { openSession, type Session } from '../src/session/session.ts';
import { openBase } from '../src/speaking/textCheckpoint.ts';
import type { RunEvent } from '../src/wire/commands.ts';
import type { Answer, Question } from '../src/wire/questions.ts';
import { tinyGguf } from './speaking/tinyGguf.ts';
import { bareHost } from './bareHost.ts';
import { NAIVE } from './model/naiveArithmetic.ts';

let clock = 0;
let tick = 0; // ms that each look at the clock takes
const host: Host = { ...bareHost, now: () => (clock += tick) };
const config = parseConfig({
  ...PRESETS['smollm2-hunt'].set,
  estimator: 'reinforce', // rollouts of random weights are paid alike, from which groups would learn nothing
  ...{ prompts: 1, groupSize: 2, maxTurns: 1, adapterRank: 2, adapterAlpha: 4, imitationSteps: 1, evalTasks: 1 },
  ...{ updates: 3, learningRate: 0.003, klCoef: 0.05, weightDecay: 0.1, backend: 'cpu' },
});
const UPDATE = 2;
const base = await openBase('tiny.gguf', [{ path: 'tiny.gguf', source: bytesInMemory('tiny.gguf', tinyGguf({}, 2)) }]);
let session: Session;
let batch: BatchView;
let begun: Weights; // before training: fresh adapters
let states: Weights[]; // after each update, from 0

beforeAll(async () => {
  session = await openSession(config, host, () => undefined, { openedBase: base });
  states = [];
  begun = (await session.policy.readState()).policy.weights;
  for (let update = -1; update < UPDATE;) {
    const event = (await session.events.next()).value as RunEvent;
    if (event.type === 'error') throw new Error(event.message);
    if (event.type === 'batch') ({ batch } = event);
    if (event.type !== 'metrics') continue;
    ({ update } = event);
    const { policy } = await session.policy.readState();
    session.history.keepState(update, policy);
    states.push(policy.weights);
  }
});
afterAll(() => session.dispose());

async function ask<K extends Question['kind']>(question: Extract<Question, { kind: K }>) {
  const answer: Answer = await session.answer(question);
  if (answer.kind !== question.kind) throw new Error(`asked ${question.kind}, got ${JSON.stringify(answer)}`);
  return answer as Extract<Answer, { kind: K }>;
}

/** The whole network with these adapters merged into it, in float64: the oracle. */
async function whole(adapters: Weights) {
  const { model, length } = session.policy;
  const spec = { model, critic: 'none', rows: 1, length, minibatchRows: 1 } as const;
  const oracle = createCpuPolicy(spec, learningMath, { loops: NAIVE.f64, seed: 1, reason: '' });
  const merged = mergedSource(base.weights, model, adapterConfig(config), adapters);
  oracle.setGrammar(session.env.grammar(config.grammar === 'on'));
  oracle.writeWeights(
    new Map(await Promise.all(Array.from(merged, async ([n, x]) => [n, await readFloat32(x)] as const))),
  );
  return oracle;
}

/** log π (T) of a row, by the oracle. */
async function logprobsOf(adapters: Weights, of: BatchView, row: number): Promise<Float32Array> {
  const oracle = await whole(adapters);
  oracle.load(recordedRow(of, row));
  await oracle.score(config.temperature, { reference: false, values: false });
  return (await oracle.report()).logprobs;
}

/** The first position of a row that the agent chose. */
const chosen = (of: BatchView, row: number) => {
  const at = of.roles.subarray(row * of.length, (row + 1) * of.length).indexOf(Role.action);
  if (at < 1) throw new Error(`row ${row} has no token of the agent`);
  return at;
};
const far = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a).reduce((most, x, i) => Math.max(most, Math.abs(x - b[i]!)), 0);
// float32 weights, merged and run in another order
const ROUNDING = 1e-4;

describe('questions about a run beside a checkpoint', () => {
  it('what could stand at a token is what the merged network says there, before the update, after it and before training', async () => {
    const position = chosen(batch, 1) + 3;
    const rollout = { update: UPDATE, row: 1 };
    const { before, after, now } = await ask({ kind: 'distribution', rollout, position });
    const since = await ask({ kind: 'distribution', rollout, position, since: 'begun' });
    const token = batch.tokens[batch.length + position]!;
    const [was, is] = [await logprobsOf(states[1]!, batch, 1), await logprobsOf(states[2]!, batch, 1)];
    expect(Math.abs(before![token]! - was[position]!)).toBeLessThan(ROUNDING);
    expect(Math.abs(after![token]! - is[position]!)).toBeLessThan(ROUNDING);
    expect(now).toEqual(after); // update 2 is the newest
    expect(Math.abs(is[position]! - was[position]!)).toBeGreaterThan(10 * ROUNDING);
    expect(now.reduce((sum, logprob) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 4);
    // B is 0 before training: the checkpoint itself
    const plain = await whole(begun);
    plain.load(recordedRow(batch, 1));
    const logits = Array.from(await plain.nextLogits(0, position), (z) => z / config.temperature);
    const norm = Math.log(logits.reduce((sum, z) => sum + Math.exp(z), 0));
    expect(
      far(
        since.before!,
        logits.map((z) => z - norm),
      ),
    ).toBeLessThan(ROUNDING);
    expect(since.after).toEqual(now);
  });

  it('log-probabilities of a row and of a whole batch are those of the merged network', async () => {
    const one = await ask({ kind: 'logprobs', update: UPDATE, row: 0 });
    const all = await ask({ kind: 'logprobs', update: UPDATE, row: null });
    const rows = [0, 1].map(async (row) => logprobsOf(states[2]!, batch, row));
    const [first, second] = await Promise.all(rows);
    expect(far(one.after!, first!)).toBeLessThan(ROUNDING);
    expect(far(all.after!, [...first!, ...second!])).toBeLessThan(ROUNDING);
    expect(far(all.before!, all.after!)).toBeGreaterThan(10 * ROUNDING);
  });

  it('a branch keeps what was written before its token and is written on by the adapters as they are', async () => {
    const hash = await session.parametersHash();
    const position = chosen(batch, 0) + 2;
    const drawn = batch.tokens[position]!;
    const token = drawn === 40 ? 41 : 40;
    const of = { update: UPDATE, row: 0 };
    const question = { kind: 'branch', rollout: of, position, token, temperature: 1, drawIndex: 5 } as const;
    const { branch, id } = await ask(question);
    expect([...branch.tokens.subarray(0, position)]).toEqual([...batch.tokens.subarray(0, position)]);
    expect(branch.tokens[position]).toBe(token);
    expect(branch.lengths[0]!).toBeGreaterThan(position + 1);
    expect(far(branch.logprobs, await logprobsOf(states[2]!, branch, 0))).toBeLessThan(ROUNDING);
    expect((await ask(question)).branch.tokens).toEqual(branch.tokens);
    const at = await ask({ kind: 'distribution', rollout: { branch: id }, position });
    expect(Math.abs(at.now[token]! - branch.logprobs[position]!)).toBeLessThan(ROUNDING);
    expect(await session.parametersHash()).toBe(hash);
  });

  it('talks with the weights before training and with those it has, each with log-probabilities of its own network', async () => {
    const sampling = { temperature: 1, topK: 0, topP: 1, greedy: true };
    const talk = {
      kind: 'talk',
      chosenTask: { seed: 3 },
      environmentSeed: 1,
      agentPrefix: [],
      sampling,
      drawIndex: 1,
    } as const;
    for (const [voice, weights] of [
      ['begun', begun],
      ['now', states[2]!],
    ] as const) {
      const { batch: said } = await ask({ ...talk, voice });
      expect(said.roles.includes(Role.action)).toBe(true);
      expect(far(said.logprobs, await logprobsOf(weights, said, 0))).toBeLessThan(ROUNDING);
    }
  });

  it('the attention of a token is that of the merged network that drew it', async () => {
    const position = chosen(batch, 1) + 1;
    const { attention } = await ask({ kind: 'attention', update: UPDATE, row: 1, position });
    const oracle = await whole(states[1]!);
    oracle.load(recordedRow(batch, 1));
    const wanted = await oracle.attention(0, position);
    expect(attention).toMatchObject({ layers: 2, heads: 4, count: position });
    expect(far(attention!.weights, wanted.weights)).toBeLessThan(ROUNDING);
  });

  it('its tasks are played again by the adapters before and after an update, as they were drawn before it', async () => {
    const { before, after } = await ask({ kind: 'rerun', update: UPDATE });
    expect(before!.tokens).toEqual(batch.tokens);
    expect(after!.rows).toBe(2);
  });
});

const parts = (why: Why) => [
  why.kl,
  why.entropy,
  why.value,
  why.momentum,
  why.decay,
  why.together ?? 0,
  ...why.rollouts,
];
const sumOf = (why: Why) => parts(why).reduce((sum, part) => sum + part, 0);

describe('why an update moved a token of a run beside a checkpoint', () => {
  it('is split by rollout and term through the adapters: the parts are the derivative along their change, with the residual what was measured', async () => {
    const position = chosen(batch, 1) + 3;
    const { why, splitCost } = await ask({ kind: 'why', update: UPDATE, row: 1, position });
    expect(splitCost).toBeNull();
    const { model, length } = session.policy;
    const spec = { model, critic: 'none', rows: 1, length, minibatchRows: 1 } as const;
    const options = { seed: 1, reason: '', loops: NAIVE.f64 } as const;
    const exact = await openCpuAdaptedPolicy(spec, base.weights, adapterConfig(config), learningMath, options);
    const record = recordedRow(batch, 1);
    exact.setGrammar(session.env.grammar(config.grammar === 'on'));
    /** log π at weights + by·(their change), in float64 but for the weights, whose rounding is left out by a wide step. */
    const at = async (by: number) => {
      const mixed = Array.from(states[1]!, ([name, from]) => {
        const to = states[2]!.get(name)!;
        return [name, from.map((w, i) => w + by * (to[i]! - w))] as const;
      });
      exact.writeWeights(new Map(mixed));
      exact.load(record);
      await exact.score(config.temperature, { reference: false, values: false });
      return (await exact.report()).logprobs[position]!;
    };
    const [was, is] = [await at(0), await at(1)];
    exact.writeWeights(states[1]!);
    const gradient = await logprobGradient(exact, record, position, config.temperature);
    let derivative = 0;
    for (const [name, g] of gradient) {
      g.forEach((x, i) => (derivative += x * (states[2]!.get(name)![i]! - states[1]!.get(name)![i]!)));
    }
    // the gradient itself, against a difference whose error is of second order and of float32
    const H = 0.05;
    expect(Math.abs(((await at(H)) - (await at(-H))) / (2 * H) - derivative)).toBeLessThan(
      1e-4 + 0.01 * Math.abs(derivative),
    );
    expect(Math.abs(derivative)).toBeGreaterThan(1e-3);
    expect(Math.abs(sumOf(why!) - derivative)).toBeLessThan(1e-5 + 1e-3 * Math.abs(derivative));
    expect(Math.abs(why!.after - why!.before - (is - was))).toBeLessThan(ROUNDING);
    expect(Math.abs(sumOf(why!) + why!.residual - (is - was))).toBeLessThan(ROUNDING);
    expect(why!.steps).toBe(1);
    for (const part of [why!.kl, why!.momentum, why!.decay, why!.residual]) {
      expect(Math.abs(part)).toBeGreaterThan(1e-9);
    }
  });

  it('is left together where telling its rollouts apart is dear, which says what it costs; the parts that remain are the same', async () => {
    const position = chosen(batch, 0) + 1;
    const question = { kind: 'why', update: UPDATE, row: 0, position } as const;
    const full = (await ask(question)).why!;
    tick = 1e5; // as if readings took minutes
    await ask({ kind: 'logprobs', update: UPDATE, row: 0 });
    const dear = await session.answer(question);
    if (dear.kind !== 'dear') throw new Error(`got ${dear.kind}`);
    expect(dear.cost.seconds).toBeGreaterThan(100);
    const { why, splitCost: apart } = await ask({ ...question, anyway: true });
    expect(apart!.seconds).toBeGreaterThan(dear.cost.seconds);
    expect(apart!.bytes).toBeGreaterThan(0);
    const [kept, gone] = [
      why!.together!,
      full.kl + full.entropy + full.value + full.rollouts.reduce((a, b) => a + b, 0),
    ];
    expect(Math.abs(kept - gone)).toBeLessThan(1e-5 + 1e-3 * Math.abs(gone));
    expect(Math.abs(gone)).toBeGreaterThan(1e-4);
    expect(far([why!.momentum, why!.decay], [full.momentum, full.decay])).toBeLessThan(1e-6);
    expect(far([why!.residual], [full.residual])).toBeLessThan(1e-5);
    expect(why!.rollouts.every((part) => part === 0)).toBe(true);
    const split = await ask({ ...question, byRollout: true });
    expect(split.why!.together).toBeUndefined();
    expect(far(split.why!.rollouts, full.rollouts)).toBeLessThan(1e-6);
    tick = 0;
  });
});

it('a preview of klCoef takes its reference from the weights after imitation, as the update itself would', async () => {
  const knobs = { ...config, klCoef: 0, imitationSteps: 3, updates: 1 };
  const run = await openSession(knobs, bareHost, () => undefined, { openedBase: base });
  let drawn: BatchView | null = null;
  for (let update = -1; update < 1;) {
    const event = (await run.events.next()).value as RunEvent;
    if (event.type === 'error') throw new Error(event.message);
    if (event.type === 'batch') drawn = event.batch;
    if (event.type !== 'metrics') continue;
    ({ update } = event);
    run.history.keepState(update, (await run.policy.readState()).policy);
  }
  const answer = await run.answer({ kind: 'preview', update: 1, changes: { klCoef: 0.1 } });
  if (answer.kind !== 'preview' || !answer.preview || !drawn) throw new Error(JSON.stringify(answer));
  const { refLogprobs } = answer.preview.batch;
  // the first update is drawn by the policy as it is after imitation, which is the reference: f32 rounding of two orders of sums
  const apart = Array.from(drawn.roles, (role, i) =>
    role === Role.action ? Math.abs(refLogprobs[i]! - drawn.logprobs[i]!) : 0,
  );
  expect(drawn.roles).toContain(Role.action);
  expect(Math.max(...apart)).toBeLessThan(1e-3);
  run.dispose();
});
