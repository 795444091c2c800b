import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LanguageHead } from '../../src/model/cpu/head.ts';
import { EXPERT_DOUBT, writeExpertRows } from '../../src/model/learning/expertRows.ts';
import { freeGrammar, Role } from '../../src/domain/tokens.ts';
import { close } from '../rl/worked.ts';
import { NAIVE } from './naiveArithmetic.ts';
import { alikeRecord, everyRow, makePolicy, OBJECTIVE, ODD, oddGrammar, OPTIMIZER, someCredit } from './policies.ts';

type Numbers = readonly number[];
const VERL = JSON.parse(readFileSync(new URL('../fixtures/teacherVerl.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly {
    readonly logits: Numbers;
    readonly illegal: Numbers;
    readonly temperature: number;
    readonly teacher: Numbers;
    readonly kl: number;
    readonly expectedK1: number;
    readonly gradient: Numbers;
  }[];
};

/** The KL to a teacher and its gradient by the logits, at one token: a head of the identity, whose hidden state is its logits. */
function klOf(logits: Numbers, teacher: Numbers, illegal: Numbers, temperature: number) {
  const V = logits.length;
  const identity = Float64Array.from({ length: V * V }, (_, i) => (i % (V + 1) === 0 ? 1 : 0));
  const head = new LanguageHead(NAIVE.f64.make({ ...ODD, vocab_size: V, hidden_size: V }), 1);
  const one = { count: 1, positions: Int32Array.of(0), tokens: Int32Array.of(5), states: Int32Array.of(0) };
  const targets = { ...one, batchIndices: Int32Array.of(0) };
  const grammar = { ...freeGrammar(V), next: Int32Array.from(logits, (_, v) => (illegal.includes(v) ? -1 : 0)) };
  const hidden = Float64Array.from(logits);
  const rows = {
    teacherTable: Float64Array.from(teacher),
    ...{ teacherMask: Float32Array.of(1), teacherLogprobs: new Float64Array(1), dteachers: Float64Array.of(-1) },
  };
  const [entropies, dhidden] = [new Float64Array(1), new Float64Array(V)];
  const [ofToken, lists] = [new Float64Array(1), [[0]]];
  head.score(hidden, identity, targets, grammar, temperature, ofToken, entropies, { rows, lists, writes: false });
  const given = [Float64Array.of(0), Float64Array.of(-1), { rows, lists }] as const; // KL = −H − c
  head.backward(dhidden, null, hidden, identity, targets, grammar, temperature, ...given);
  return { kl: -entropies[0]! - rows.teacherLogprobs[0]!, gradient: dhidden };
}

describe('the KL to a teacher', () => {
  it('and its gradient are verl’s, which expects the same of its k1 over all tokens', () => {
    for (const { logits, illegal, temperature, teacher, kl, expectedK1, gradient } of VERL.cases) {
      const got = klOf(logits, teacher, illegal, temperature);
      close([got.kl, expectedK1], [kl, kl], 1e-9);
      close(got.gradient, gradient, 1e-9);
    }
  });

  it('is worked out by hand for two words: ½·log(½ / ¾) + ½·log(½ / ¼), and the gradient is half the halved difference', () => {
    const far = -50; // as good as illegal
    const words = [0, 0, far, far, far, far];
    const got = klOf(words, [Math.log(3 / 4), Math.log(1 / 4), 0, 0, 0, 0], [], 1);
    expect(got.kl).toBeCloseTo(0.5 * Math.log(4 / 3), 12);
    // p·(log p − log q − KL): ¼·(log ⅔ − log 2)
    expect(got.gradient[0]).toBeCloseTo(0.25 * Math.log(1 / 3), 12);
    expect(got.gradient[1]).toBeCloseTo(-0.25 * Math.log(1 / 3), 12);
  });
});

describe('an expert as a teacher', () => {
  it('has 95 % on its token and the rest on the other legal ones, all of it where only one is legal, and nothing where it’s unknown', () => {
    const grammar = { ...freeGrammar(4), states: 2, next: Int32Array.of(0, -1, 1, 1, -1, 0, -1, -1) };
    const out = { teacherTable: new Float64Array(12).fill(7), teacherMask: new Float32Array(3) };
    writeExpertRows(out, { expertTokens: Int32Array.of(3, 0, 2), states: Uint8Array.of(0, 0, 1) }, grammar);
    expect([...out.teacherMask]).toEqual([1, 0, 1]);
    const few = Math.log(EXPERT_DOUBT / 2);
    close(out.teacherTable, [few, 0, Math.log(0.95), few, 7, 7, 7, 7, 0, 0, 0, 0], 1e-12);
  });
});

/** A policy with a batch whose rows begin alike, scored beside a teacher. */
async function taught(teacher: 'reference' | 'expert', share: boolean) {
  const policy = makePolicy({ loops: NAIVE.f64, rows: 4, length: 15, share, teacher: true });
  policy.freezeReference();
  const V = ODD.vocab_size;
  policy.setGrammar(oddGrammar(V));
  const weights = policy.weightPool().policy;
  for (let i = 0; i < weights.length; i++) weights[i]! *= 1 + 0.2 * Math.sin(i); // away from the reference
  const record = alikeRecord(4, 15, V, 2, 8);
  policy.load(record, someCredit(record, [Role.action]));
  // rows that begin alike have different experts; every third token has none
  const expertTokens = Int32Array.from(record.roles, (role, at) =>
    role === Role.action && at % 3 > 0 ? 1 + (at % V) : 0,
  );
  const states = new Uint8Array(record.roles.length);
  await policy.score(0.7, { reference: false, values: false, teacher: teacher === 'reference' ? teacher : { expertTokens, states } }); // prettier-ignore
  return policy;
}
const SETTINGS = { ...OBJECTIVE, clipLow: 5, clipHigh: 5, dualClip: 0, entropyCoef: 0.02, teacherCoef: 0.6 };

describe.each(['reference', 'expert'] as const)('the gradient of the KL to the %s through the network', (teacher) => {
  it('is what finite differences of the total find in float64, and the same if every row runs alone', async () => {
    const policy = await taught(teacher, true);
    const rows = everyRow(policy);
    const total = async () => (await policy.accumulate(rows, SETTINGS, 0.7)).total;
    await total();
    const gradient = [...policy.gradients().values()].flatMap((tensor) => [...tensor]);
    const weights = policy.weightPool().policy;
    for (let i = 3; i < weights.length; i += 41) {
      const kept = weights[i]!;
      weights[i] = kept + 1e-5;
      const up = await total();
      weights[i] = kept - 1e-5;
      const found = (up - (await total())) / 2e-5;
      weights[i] = kept;
      // as in cpuGradients.test.ts
      expect(Math.abs(gradient[i]! - found)).toBeLessThan(1e-8 + 1e-6 * Math.abs(found));
    }
    const alone = await taught(teacher, false);
    await alone.accumulate(rows, SETTINGS, 0.7);
    close(
      [...alone.gradients().values()].flatMap((tensor) => [...tensor]),
      gradient,
      1e-6,
    );
  });

  it('is left out at weight 0, and the KL is measured all the same', async () => {
    const policy = await taught(teacher, true);
    const rows = everyRow(policy);
    const on = await policy.accumulate(rows, SETTINGS, 0.7);
    const off = await policy.accumulate(rows, { ...SETTINGS, teacherCoef: 0 }, 0.7);
    expect(off.teacherKl).toBeCloseTo(on.teacherKl, 12);
    expect(off.teacherKl).toBeGreaterThan(0.01);
    expect(on.total - off.total).toBeCloseTo(0.6 * on.teacherKl, 12);
    const steps = [];
    for (let step = 0; step < 30; step++) await policy.learn(rows, { ...SETTINGS, teacherCoef: 50 }, OPTIMIZER, 0.7);
    for (const { teacherKl } of (await policy.report()).steps) steps.push(teacherKl);
    expect(steps.at(-1)!).toBeLessThan(0.7 * steps[0]!);
  });
});
