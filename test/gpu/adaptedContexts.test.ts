import { afterAll, expect, test } from 'vitest';
import { relativeError } from '../../tools/golden/goldenFixture.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import { Role } from '../../src/domain/tokens.ts';
import { openCpuAdaptedPolicy } from '../../src/model/cpu/adapters/cpuAdaptedPolicy.ts';
import { openGpuAdaptedPolicy } from '../../src/model/gpu/adapters/openGpuAdaptedPolicy.ts';
import { initialAdapters, LINEAR_NAMES } from '../../src/model/loraAdapters.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { contextRecords, expectScoresOfDraws, playContexts } from '../model/contextRecords.ts';
import { NAIVE } from '../model/naiveArithmetic.ts';
import { OBJECTIVE, oddGrammar, sampling } from '../model/policies.ts';
import { apart, LLAMA } from './textModels.ts';
import { packedSource } from './textSources.ts';

const MODEL = { ...LLAMA, vocab_size: 44 };
const LENGTH = 40;
const GRAMMAR = oddGrammar(MODEL.vocab_size);
const opened: { readonly destroy: () => void }[] = [];
afterAll(() => opened.forEach((policy) => policy.destroy()));

/** Adapters away from their start: on the device, or on the CPU in float64. */
async function adapted(where: 'gpu' | 'cpu', rows: number, critic: 'none' | 'shared' = 'none') {
  const model = { ...MODEL, value_head: critic === 'shared' };
  const spec = { model, critic, rows, length: LENGTH, minibatchRows: rows };
  const source = packedSource(MODEL, 7, () => 'Q4_1');
  const adapters = { rank: 3, alpha: 5, targets: LINEAR_NAMES };
  const settings = { seed: 3, reason: '', maxTokens: LENGTH }; // the least: a pass has 128 tokens
  const policy =
    where === 'gpu'
      ? await openGpuAdaptedPolicy(navigator.gpu, spec, source, adapters, learningMath, settings)
      : await openCpuAdaptedPolicy(spec, source, adapters, learningMath, { ...settings, loops: NAIVE.f64 });
  const draw = random(8, Purpose.weights);
  const fresh = initialAdapters(model, adapters, 3);
  policy.writeWeights(new Map([...fresh].map(([name, tensor]) => [name, tensor.map((x) => x + 0.2 * draw.normal())])));
  policy.setGrammar(GRAMMAR);
  opened.push(policy);
  return policy;
}

test.each([3, 30])(
  'contexts beside adapters are drawn as on the CPU and as they are scored, in chunks of %i',
  async (chunk) => {
    const [there, here] = [await adapted('gpu', 5), await adapted('cpu', 5)];
    const [got, want] = [
      await playContexts(there, GRAMMAR, sampling(), chunk),
      await playContexts(here, GRAMMAR, sampling(), chunk),
    ];
    expect(got.tokens).toEqual(want.tokens);
    const logprobs = ({ drawn }: typeof got) => drawn.map(({ logprob }) => logprob);
    expect(apart(logprobs(got), logprobs(want))).toBeLessThan(1e-5); // float32 against float64
    await expectScoresOfDraws(there, got, sampling().temperature, 1e-4); // two orders of sums in float32
  },
);

test('contexts beside adapters are scored and learned as rows of their own, and as on the CPU', async () => {
  const counts = [4, 1, 3];
  const { joined, apart: records, rows, places, credit, moved } = contextRecords(MODEL.vocab_size, LENGTH, counts);
  const of = async (where: 'gpu' | 'cpu', kind: 'joined' | 'apart') => {
    const policy = await adapted(where, kind === 'joined' ? counts.length : rows, 'shared');
    const [record, given] = kind === 'joined' ? [joined, credit] : [records, moved];
    policy.load(record);
    await policy.score(0.7, { reference: false, values: true });
    const report = await policy.report();
    policy.load(record, given);
    const everyRow = Int32Array.from({ length: policy.rows }, (_, row) => row);
    const { computedTokens } = await policy.accumulate(everyRow, { ...OBJECTIVE, entropyCoef: 0.02 }, 0.7);
    return { report, computedTokens, gradients: policy.gradients() };
  };
  const [got, ...wanted] = [await of('gpu', 'joined'), await of('gpu', 'apart'), await of('cpu', 'joined')] as const;
  for (const [i, want] of wanted.entries()) {
    const kind = i === 0 ? 'apart' : 'joined';
    // rows of their own sum in float32 in another order; the CPU sums in float64
    const [rounding, ofGradients] = i === 0 ? [1e-6, 2e-5] : [1e-4, 1e-4];
    for (const name of ['logprobs', 'entropies', 'values'] as const) {
      const numbers = places.map((place) => want.report[name][place[kind]]!);
      expect(Math.hypot(...numbers), name).toBeGreaterThan(1);
      expect(relativeError(places.map((place) => got.report[name][place.joined]!), numbers), name).toBeLessThanOrEqual(rounding); // prettier-ignore
    }
    for (const [name, gradient] of want.gradients) {
      expect(Math.hypot(...gradient), name).toBeGreaterThan(1e-4);
      expect(relativeError(got.gradients.get(name)!, gradient), name).toBeLessThanOrEqual(ofGradients);
    }
    expect(got.computedTokens).toBe(want.computedTokens);
  }
  for (const place of places) if (place.first) expect(got.report.logprobs[place.joined]).toBe(0);
});

test('contexts that share nearly all tokens may have more targets than a pass has tokens', async () => {
  const rows = 16;
  // every context has two tokens: 22 different firsts, and after each 14 or 15 different others
  const tokens = Int32Array.from({ length: rows * LENGTH }, (_, i) => Math.floor(i / 2) % 22 + (i % 2) * Math.floor(i / 44)); // prettier-ignore
  const contextStarts = Int32Array.from(tokens, (_, i) => (i % LENGTH) - (i % 2));
  const record = { tokens, roles: new Uint8Array(tokens.length).fill(Role.prompt), states: new Uint8Array(tokens.length), contextStarts }; // prettier-ignore
  const [got, want] = await Promise.all(
    (['gpu', 'cpu'] as const).map(async (where) => {
      const policy = await adapted(where, rows);
      policy.load(record);
      await policy.score(1, { reference: false, values: false });
      return (await policy.report()).logprobs;
    }),
  );
  expect(apart([...got!], [...want!])).toBeLessThan(1e-4);
});
