import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import { createCpuPolicy } from '../src/model/cpu/policy.ts';
import type { BatchView, RecordedRow } from '../src/domain/batch.ts';
import type { Answer, Question } from '../src/wire/questions.ts';
import { learningMath } from '../src/rl/learningMath.ts';
import { type Host, openSession, type Session } from '../src/session/session.ts';
import { Role } from '../src/domain/tokens.ts';
import { UpdateLog } from '../src/session/updateLog.ts';

const config = parseConfig({
  ...{ prompts: 4, groupSize: 2, minibatches: 2, updates: 9, evalEvery: 0, evalTasks: 8, warmStart: 'none', seed: 7 },
  ...{ layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 16, maxTurns: 3, learningRate: 0.05, backend: 'cpu' },
  ...{ failureRate: 0.3, distractors: 1 }, // dice, so that a branch needs its rollout's luck
});
const host: Host = {
  gpu: undefined,
  shippedFile: () => Promise.resolve(null),
  now: () => 0,
  breathe: () => Promise.resolve(),
};

/** Trains `updates` updates as the worker does, and calls `between` after every event. */
async function trained(updates: number, between: (session: Session) => Promise<void> = () => Promise.resolve()) {
  const session = await openSession(config, host, () => undefined);
  const batches: BatchView[] = [];
  for (;;) {
    const next = await session.events.next();
    if (next.done === true) throw new Error('training goes on for ever');
    const { value } = next;
    if (value.type === 'batch') batches.push(value.batch);
    if (value.type === 'metrics') {
      session.inspection.keep(value.update, (await session.policy.readState()).policy);
    }
    await between(session);
    if (value.type === 'metrics' && value.update === updates) return { session, batches };
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
  const answer: Answer = await session.inspection.answer(question);
  if (answer.kind !== question.kind) throw new Error(`asked ${question.kind}, got ${JSON.stringify(answer)}`);
  return answer as Extract<Answer, { kind: K }>;
}

let session: Session;
let batches: BatchView[];
beforeAll(async () => {
  ({ session, batches } = await trained(3));
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
      const { before } = await ask(session, { kind: 'distribution', config, row, position: t, state, update: 2 });
      const legal = [...before!].map((_, v) => (grammar.next[state * grammar.vocabulary + v] ?? -1) >= 0);
      expect([...before!].map(Number.isFinite)).toEqual(legal);
      const sum = before!.reduce((total, logprob) => total + Math.exp(logprob), 0);
      expect(sum).toBeCloseTo(1, 5);
      // float32 sums in another order
      expect(before![row.tokens[t]!]).toBeCloseTo(batch.logprobs[3 * batch.length + t]!, 5);
    }
  });

  test('after an update is that before the next, and weights of long ago are null', async () => {
    const row = rowOf(batches[0]!, 0);
    const at = { kind: 'distribution', config, row, position: 3, state: row.states[3]! } as const;
    const [one, two, last] = [
      await ask(session, { ...at, update: 1 }),
      await ask(session, { ...at, update: 2 }),
      await ask(session, { ...at, update: 3 }),
    ];
    expect(one.after).toEqual(two.before);
    expect(one.after).not.toEqual(one.before);
    expect(last.after).toEqual(last.now);
    expect(await ask(session, { ...at, update: 9 })).toMatchObject({ before: null, after: null });
  });
});

test('WOW-36: the change of every token is that of a fresh forward pass under both sets of weights', async () => {
  const batch = batches[2]!;
  const row = rowOf(batch, 5);
  const { before, after } = await ask(session, { kind: 'logprobs', config, row, update: 3 });
  const { model, length } = session.policy;
  const spec = { model, critic: 'none' as const, rows: 1, length, minibatchRows: 1 };
  const fresh = createCpuPolicy({ ...spec, model: { ...model, value_head: false } }, learningMath, {
    precision: 'f64',
    seed: 1,
    reason: '',
  });
  const weights = [...(await session.policy.readState()).policy.weights].filter(
    ([name]) => !name.includes('value_head'),
  );
  fresh.writeWeights(new Map(weights));
  fresh.setGrammar(session.env.grammar(true));
  fresh.load(row);
  fresh.score(config.temperature, { reference: false, values: false });
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
  const base = { kind: 'branch', config, temperature: 1, take: 0 } as const;

  test('with all of a rollout’s own tokens is that rollout: same words, same rewards', async () => {
    const batch = batches[0]!;
    for (const { row, seed, luck, reward, stop } of batch.episodes) {
      const own = rowOf(batch, row);
      const { branch } = await ask(session, { ...base, seed, luck, script: actionsOf(own) });
      expect(branch.tokens).toEqual(own.tokens);
      expect(branch.roles).toEqual(own.roles);
      expect(branch.states).toEqual(own.states);
      expect(branch.episodes[0]).toMatchObject({ reward, stop });
      expect(branch.lossMask.some((m) => m !== 0)).toBe(false);
    }
  });

  test('follows the script up to the token that was changed, then draws on, the same for the same take', async () => {
    const batch = batches[0]!;
    const own = rowOf(batch, 0);
    const actions = actionsOf(own);
    const vocabulary = session.env.vocabulary;
    const guess = vocabulary.indexOf(vocabulary[actions[1]!] === '5' ? '6' : '5');
    const { seed, luck } = batch.episodes[0]!;
    const question = { ...base, seed, luck, script: [actions[0]!, guess] };
    const { branch } = await ask(session, question);
    const again = await ask(session, question);
    expect(again.branch.tokens).toEqual(branch.tokens);
    expect(actionsOf(rowOf(branch, 0)).slice(0, 2)).toEqual(question.script);
    expect(actionsOf(rowOf(branch, 0)).length).toBeGreaterThan(2);
    const takes = new Set<string>();
    for (const take of [1, 2, 3, 4]) takes.add((await ask(session, { ...question, take })).branch.tokens.join(' '));
    expect(takes.size).toBeGreaterThan(1);
  });

  test('at a temperature near 0 takes the likeliest token wherever it draws', async () => {
    const { seed, luck } = batches[0]!.episodes[0]!;
    const { branch } = await ask(session, { ...base, seed, luck, script: [], temperature: 0.001 });
    branch.roles.forEach((role, i) => {
      if (role === Role.action) expect(branch.logprobs[i]).toBeGreaterThan(-0.7); // no other can be likelier
    });
  });

  test('with a token that is not legal there is refused in words', async () => {
    const { seed, luck } = batches[0]!.episodes[0]!;
    const question = { ...base, seed, luck, script: [0] };
    await expect(session.inspection.answer(question)).rejects.toThrow('token 0 cannot stand there');
  });
});

test('questions asked after every event leave the run as it would have been, bit for bit', async () => {
  const plain = await session.parametersHash();
  let batch: BatchView | undefined;
  const { session: asked } = await trained(3, async (run) => {
    batch ??= batches[0]!;
    const row = rowOf(batch, 1);
    await ask(run, { kind: 'distribution', config, row, position: 3, state: row.states[3]!, update: 1 });
    await ask(run, { kind: 'logprobs', config, row, update: 1 });
    const { seed, luck } = batch.episodes[1]!;
    await ask(run, { kind: 'branch', config, seed, luck, script: actionsOf(row).slice(0, 1), temperature: 2, take: 5 });
  });
  expect(await asked.parametersHash()).toBe(plain);
  expect((await ask(asked, { kind: 'checksum' })).checksum).toBe(plain);
  asked.dispose();
});

test('a log keeps what was before and after 64 updates, and at most 32 MiB', () => {
  const log = new UpdateLog<Float32Array>((entry) => entry.byteLength);
  const weights = (size: number) => new Float32Array(size);
  const kept = (last: number) => Array.from({ length: last + 1 }, (_, i) => i).filter((update) => log.at(update));
  for (let update = 0; update < 200; update++) log.keep(update, weights(10));
  const some = kept(199);
  expect(some.slice(-25)).toEqual(Array.from({ length: 25 }, (_, i) => 175 + i)); // before and after the last 24
  expect(some.slice(0, 2)).toEqual([0, 1]);
  const withBatch = some.filter((update) => some.includes(update - 1));
  expect(withBatch.length).toBeGreaterThanOrEqual(64); // two that are kept may stand side by side
  expect(some.length).toBeLessThanOrEqual(2 * 64);
  const quarter = 2 * 2 ** 20; // floats: 8 MiB
  for (let update = 200; update < 210; update++) log.keep(update, weights(quarter));
  expect(kept(209)).toEqual([206, 207, 208, 209]);
  log.keep(300, weights(5 * quarter));
  expect(log.at(300)).toBeUndefined();
});
