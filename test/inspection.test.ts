import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import type { Weights } from '../src/model/architecture.ts';
import { createCpuPolicy } from '../src/model/cpu/cpuPolicy.ts';
import type { BatchView, RecordedRow } from '../src/domain/batch.ts';
import type { Answer, Question } from '../src/wire/questions.ts';
import { learningMath } from '../src/rl/plainLearningMath.ts';
import { openSession, type Session } from '../src/session/session.ts';
import { answerQueue } from '../src/worker/sessionAnswers.ts';
import { Role } from '../src/domain/tokens.ts';
import { bareHost } from './bareHost.ts';
import { NAIVE } from './model/naiveArithmetic.ts';

const config = parseConfig({
  ...{ prompts: 4, groupSize: 2, minibatches: 2, updates: 9, evalEvery: 0, evalTasks: 8, warmStart: 'none', seed: 7 },
  ...{ layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 16, maxTurns: 3, learningRate: 0.05, backend: 'cpu' },
  ...{ failureRate: 0.3, distractors: 1 }, // dice, so that a branch needs its rollout’s environment seed
});
/** Trains `updates` updates as the worker does, and calls `between` after every event. */
async function trained(updates: number, between: (session: Session) => Promise<void> = () => Promise.resolve()) {
  const session = await openSession(config, bareHost, () => undefined);
  const batches: BatchView[] = [];
  const weights: Weights[] = []; // after each update, from 0
  for (;;) {
    const next = await session.events.next();
    if (next.done === true) throw new Error('training goes on for ever');
    const { value } = next;
    if (value.type === 'batch') batches.push(value.batch);
    if (value.type === 'metrics') {
      const { policy } = await session.policy.readState();
      session.history.keepState(value.update, policy);
      weights.push(policy.weights);
    }
    await between(session);
    if (value.type === 'metrics' && value.update === updates) return { session, batches, weights };
  }
}

function rowOf(batch: BatchView, row: number): RecordedRow {
  const [from, to] = [row * batch.length, (row + 1) * batch.length];
  return {
    tokens: batch.tokens.slice(from, to),
    roles: batch.roles.slice(from, to),
    states: batch.states.slice(from, to),
  };
}
const actionsOf = ({ tokens, roles }: RecordedRow) => [...tokens].filter((_, t) => roles[t] === Role.action);

async function ask<K extends Question['kind']>(session: Session, question: Extract<Question, { kind: K }>) {
  const answer: Answer = await session.answer(question);
  if (answer.kind !== question.kind) throw new Error(`asked ${question.kind}, got ${JSON.stringify(answer)}`);
  return answer as Extract<Answer, { kind: K }>;
}

let session: Session;
let batches: BatchView[];
let weights: Weights[];
beforeAll(async () => {
  ({ session, batches, weights } = await trained(3));
});
afterAll(() => session.dispose());

describe('the distribution at a token', () => {
  test('is a distribution over the legal tokens, and gives the drawn one what the batch recorded', async () => {
    const batch = batches[1]!;
    const row = rowOf(batch, 3);
    const grammar = session.env.grammar(true);
    for (let t = 0; t < batch.lengths[3]!; t++) {
      if (row.roles[t] !== Role.action) continue;
      const state = row.states[t]!;
      const { before } = await ask(session, { kind: 'distribution', rollout: { update: 2, row: 3 }, position: t });
      const legal = [...before!].map((_, v) => (grammar.next[state * grammar.vocabulary + v] ?? -1) >= 0);
      expect([...before!].map(Number.isFinite)).toEqual(legal);
      const sum = before!.reduce((total, logprob) => total + Math.exp(logprob), 0);
      expect(sum).toBeCloseTo(1, 5);
      // float32 sums in another order
      expect(before![row.tokens[t]!]).toBeCloseTo(batch.logprobs[3 * batch.length + t]!, 5);
    }
  });

  test('before and after an update is by the weights of then, and now by those of the last', async () => {
    const { model, length } = session.policy;
    const spec = { model, critic: 'none', rows: 1, length, minibatchRows: 1 } as const;
    const fresh = createCpuPolicy(spec, learningMath, { seed: 1, reason: '' });
    fresh.setGrammar(session.env.grammar(true));
    for (const update of [1, 2, 3]) {
      const batch = batches[update - 1]!;
      const from = 2 * batch.length;
      const position = batch.logprobs.subarray(from, from + batch.length).findLastIndex((logprob) => logprob < -0.1);
      const got = await ask(session, { kind: 'distribution', rollout: { update, row: 2 }, position });
      const by = async (after: number) => {
        fresh.writeWeights(weights[after]!);
        fresh.load(rowOf(batch, 2));
        await fresh.score(config.temperature, { reference: false, values: false });
        return (await fresh.report()).logprobs[position]!;
      };
      const drawn = rowOf(batch, 2).tokens[position]!;
      // float32 sums in another order
      expect(got.before![drawn]).toBeCloseTo(await by(update - 1), 5);
      expect(got.after![drawn]).toBeCloseTo(await by(update), 5);
      expect(got.now[drawn]).toBeCloseTo(await by(3), 5);
      expect(Math.abs(got.after![drawn]! - got.before![drawn]!)).toBeGreaterThan(1e-4);
    }
    fresh.destroy();
  });

  test('of an update that is not kept is refused in words', async () => {
    const question = { kind: 'distribution', rollout: { update: 9, row: 0 }, position: 3 } as const;
    await expect(session.answer(question)).rejects.toThrow('The rollouts of update 9 are no longer kept.');
  });

  test('and the batch itself is given with its configuration', async () => {
    expect((await ask(session, { kind: 'batch', update: 2 })).kept).toEqual({ batch: batches[1], config });
    expect((await ask(session, { kind: 'batch', update: 9 })).kept).toBeNull();
  });
});

test('WOW-36: the change of every token is that of a fresh forward pass under both sets of weights', async () => {
  const batch = batches[2]!;
  const row = rowOf(batch, 5);
  const { before, after } = await ask(session, { kind: 'logprobs', update: 3, row: 5 });
  const { model, length } = session.policy;
  const spec = { model, critic: 'none' as const, rows: 1, length, minibatchRows: 1 };
  const fresh = createCpuPolicy({ ...spec, model: { ...model, value_head: false } }, learningMath, {
    loops: NAIVE.f64,
    seed: 1,
    reason: '',
  });
  const weights = [...(await session.policy.readState()).policy.weights].filter(
    ([name]) => !name.includes('value_head'),
  );
  fresh.writeWeights(new Map(weights));
  fresh.setGrammar(session.env.grammar(true));
  fresh.load(row);
  await fresh.score(config.temperature, { reference: false, values: false });
  const { logprobs } = await fresh.report();
  let moved = 0;
  row.roles.forEach((role, t) => {
    if (role !== Role.action) return;
    expect(Math.abs(after![t]! - logprobs[t]!)).toBeLessThan(1e-4);
    expect(Math.abs(before![t]! - batch.logprobs[5 * length + t]!)).toBeLessThan(1e-4);
    moved = Math.max(moved, Math.abs(after![t]! - before![t]!));
  });
  expect(moved).toBeGreaterThan(1e-3);
});

describe('a branch', () => {
  const base = { kind: 'branch', temperature: 1, drawIndex: 0 } as const;
  /** The agent's positions in a row of the first batch. */
  const actionPositions = (row: number) =>
    [...rowOf(batches[0]!, row).roles.keys()].filter((t) => rowOf(batches[0]!, row).roles[t] === Role.action);

  test('with all of a rollout’s own tokens is that rollout: same words, same rewards', async () => {
    const batch = batches[0]!;
    for (const { row, reward, stop } of batch.episodes) {
      const own = rowOf(batch, row);
      const position = actionPositions(row).at(-1)!;
      const { branch } = await ask(session, {
        ...base,
        rollout: { update: 1, row },
        position,
        token: own.tokens[position]!,
      });
      expect(branch.tokens).toEqual(own.tokens);
      expect(branch.roles).toEqual(own.roles);
      expect(branch.states).toEqual(own.states);
      expect(branch.episodes[0]).toMatchObject({ reward, stop });
      expect(branch.lossMask.some((m) => m !== 0)).toBe(false);
    }
  });

  test('follows the rollout up to the token that was changed, then draws on, the same for the same take', async () => {
    const own = rowOf(batches[0]!, 0);
    const actions = actionsOf(own);
    const vocabulary = session.env.vocabulary;
    const token = vocabulary.indexOf(vocabulary[actions[1]!] === '5' ? '6' : '5');
    const question = { ...base, rollout: { update: 1, row: 0 }, position: actionPositions(0)[1]!, token };
    const { branch } = await ask(session, question);
    const again = await ask(session, question);
    expect(again.branch.tokens).toEqual(branch.tokens);
    expect(actionsOf(rowOf(branch, 0)).slice(0, 2)).toEqual([actions[0]!, token]);
    expect(actionsOf(rowOf(branch, 0)).length).toBeGreaterThan(2);
    const takes = new Set<string>();
    for (const drawIndex of [1, 2, 3, 4])
      takes.add((await ask(session, { ...question, drawIndex })).branch.tokens.join(' '));
    expect(takes.size).toBeGreaterThan(1);
  });

  test('can be asked about and branched from like a rollout, until forty more were played', async () => {
    const own = rowOf(batches[0]!, 0);
    const position = actionPositions(0)[0]!;
    const first = { ...base, rollout: { update: 1, row: 0 }, position, token: own.tokens[position]! };
    const { branch, id } = await ask(session, { ...first, drawIndex: 7 });
    const played = rowOf(branch, 0);
    const last = played.roles.lastIndexOf(Role.action);
    const rollout = { branch: id };
    const { now } = await ask(session, { kind: 'distribution', rollout, position: last });
    expect(now[played.tokens[last]!]).toBeCloseTo(branch.logprobs[last]!, 5);
    const on = await ask(session, { ...base, rollout, position: last, token: played.tokens[last]! });
    expect(on.branch.tokens).toEqual(branch.tokens);
    for (let n = 0; n < 39; n++) await ask(session, first);
    await expect(session.answer({ kind: 'distribution', rollout, position: last })).rejects.toThrow('no longer kept');
  });

  test('at a temperature near 0 takes the likeliest token wherever it draws', async () => {
    const position = actionPositions(0)[0]!;
    const token = rowOf(batches[0]!, 0).tokens[position]!;
    const { branch } = await ask(session, {
      ...base,
      rollout: { update: 1, row: 0 },
      position,
      token,
      temperature: 0.001,
    });
    branch.roles.forEach((role, i) => {
      // no other can be likelier
      if (role === Role.action && i > position) expect(branch.logprobs[i]).toBeGreaterThan(-0.7);
    });
  });

  test('with a token that is not legal there is refused in words', async () => {
    const question = { ...base, rollout: { update: 1, row: 0 }, position: actionPositions(0)[0]!, token: 0 };
    await expect(session.answer(question)).rejects.toThrow('does not allow token 0');
  });
});

test('questions asked after every event leave the run as it would have been, bit for bit', async () => {
  const plain = await session.parametersHash();
  const { session: asked } = await trained(3, async (run) => {
    const kept = run.history.batch(1)?.batch;
    if (!kept) return;
    const of = { update: 1, row: 1 };
    const position = rowOf(kept, 1).roles.indexOf(Role.action);
    await ask(run, { kind: 'distribution', rollout: of, position });
    await ask(run, { kind: 'logprobs', update: 1, row: 1 });
    await ask(run, {
      kind: 'branch',
      rollout: of,
      position,
      token: rowOf(kept, 1).tokens[position]!,
      temperature: 2,
      drawIndex: 5,
    });
  });
  expect(await asked.parametersHash()).toBe(plain);
  expect((await ask(asked, { kind: 'checksum' })).checksum).toBe(plain);
  asked.dispose();
});

test('a question waits until the one before it is answered, and is put to the run that there is then', async () => {
  const begun: (() => void)[] = []; // each ends the answer to a question that was begun
  const slow: Session['answer'] = () =>
    new Promise((resolve) => begun.push(() => resolve({ kind: 'checksum', checksum: 'a' })));
  let run: Session | null = { ...session, answer: slow };
  const told: (readonly [number, string])[] = [];
  const put = answerQueue(
    () => run,
    ({ id, answer }) => told.push([id, answer.kind]),
  );
  const asked = [4, 5].map((id) => put({ id, question: { kind: 'checksum' } }));
  await new Promise((resolve) => setTimeout(resolve));
  expect(begun).toHaveLength(1);
  run = null;
  begun[0]?.();
  await Promise.all(asked);
  expect(told).toEqual([
    [4, 'checksum'],
    [5, 'refused'],
  ]);
});
