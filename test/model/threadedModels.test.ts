import { afterAll, expect, it, vi } from 'vitest';
import { checksumOf } from '../../src/base/checksum.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import { nodeThreads } from '../../src/cli/nodeThreads.ts';
import { initialAdapters, LINEAR_NAMES } from '../../src/model/loraAdapters.ts';
import { openCpuAdaptedPolicy } from '../../src/model/cpu/adapters/cpuAdaptedPolicy.ts';
import type { Helper, Threads } from '../../src/model/cpu/team/threads.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import { openCpuTextModel } from '../../src/model/cpu/cpuTextModel.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { alikeRecord, OBJECTIVE, ODD, oddGrammar, OPTIMIZER, randomRecord, rollOut, someCredit } from './policies.ts';
import { KINDS, randomSource, sampling, SMALL } from './textModels.ts';
import { Role } from '../../src/domain/tokens.ts';

const [ROWS, LENGTH] = [48, 60]; // enough tokens that the language head is divided into parts
const ADAPTERS = { rank: 3, alpha: 5, targets: LINEAR_NAMES };

/** Threads that cut whatever can be cut, and what has been started and ended of them. */
function counted(count: number): Threads & { readonly alive: Set<Helper> } {
  const { start, ...rest } = nodeThreads(count);
  const alive = new Set<Helper>();
  const began = (task: Parameters<typeof start>[0]): Helper => {
    const { started, end } = start(task);
    const helper = {
      started,
      end: () => {
        alive.delete(helper);
        end();
      },
    };
    alive.add(helper);
    return helper;
  };
  return { ...rest, minWork: 1, alive, start: began };
}

const all: (Threads & { readonly alive: Set<Helper> })[] = [1, 2, 3].map(counted);
afterAll(() => {
  // whoever opened helpers has ended them
  for (const { alive } of all) expect(alive.size).toBe(0);
});

it.each([
  ['shared', 3],
  ['separate', 8],
] as const)(
  'a small agent draws, scores and learns to the same bits in one, two and up to %2$i threads: %1$s critic',
  async (critic, most) => {
    const [rows, length] = [24, 80];
    // wide enough that drawing is divided too
    const sizes = { hidden_size: 64, intermediate_size: 172, attention_bias: true, qk_norm: true };
    const model = { ...ODD, ...sizes, value_head: critic === 'shared' };
    const spec = { model, critic, rows, length, minibatchRows: rows };
    const record = alikeRecord(rows, length, model.vocab_size, 3, 20);
    const everyRow = Int32Array.from({ length: rows }, (_, row) => row);
    const made = [];
    for (const threads of [...all.slice(0, 2), counted(most)]) {
      const policy = createCpuPolicy(spec, learningMath, { seed: 3, reason: '', threads });
      await policy.whenStarted();
      expect(policy.backend.threads).toBe(threads.count > 1 ? `${threads.count} threads` : '1 thread (one core)');
      const drawn = await rollOut(policy, oddGrammar(model.vocab_size), 4);
      policy.load(record, someCredit(record, [Role.action]));
      // the first part to be computed isn't always the first part: a wrong order of sums shows after a few passes
      for (let step = 0; step < 4; step++) await policy.learn(everyRow, OBJECTIVE, OPTIMIZER, 0.8);
      await policy.score(0.8, { reference: false, values: true });
      const { logprobs, values, steps } = await policy.report();
      made.push({ drawn, steps, bits: checksumOf([logprobs, values, policy.gradients(), await policy.readState()]) });
      policy.destroy();
      expect(threads.alive.size).toBe(0);
    }
    expect(made[0]!.steps.every(({ gradNorm }) => gradNorm > 0)).toBe(true);
    for (const other of made.slice(1)) expect(other).toEqual(made[0]);
  },
);

const MODELS = ['Qwen3, with norms of heads, as wide as it likes', 'wide enough for blocks of 32'] as const;

it.each(MODELS)('adapters learn and draw to the same bits in one, two and three threads: %s', async (kind) => {
  const made = [];
  for (const threads of all) {
    const model = { ...KINDS[kind]!, value_head: true };
    const spec = { model, critic: 'shared', rows: ROWS, length: LENGTH, minibatchRows: ROWS } as const;
    const source = randomSource({ ...model, value_head: false }, 1);
    const options = { seed: 3, reason: '', threads };
    const policy = await openCpuAdaptedPolicy(spec, source, ADAPTERS, learningMath, options);
    if (threads.count > 1) expect(policy.backend.adapter).toBe(`WebAssembly SIMD, ${threads.count} threads`);
    const draw = random(8, Purpose.weights);
    const rough = [...initialAdapters(model, ADAPTERS, 3)].map(
      ([name, tensor]) => [name, tensor.map((x) => x + 0.2 * draw.normal())] as const,
    );
    policy.writeWeights(new Map(rough));
    const drawn = await rollOut(policy, oddGrammar(model.vocab_size), 4);
    const record = randomRecord(ROWS, LENGTH, model.vocab_size);
    policy.load(record, someCredit(record, [Role.action]));
    const rows = Int32Array.from({ length: ROWS }, (_, row) => row);
    for (let step = 0; step < 2; step++) await policy.learn(rows, OBJECTIVE, OPTIMIZER, 0.8);
    await policy.score(0.8, { reference: false, values: true });
    const { logprobs, values, steps } = await policy.report();
    made.push({ drawn, logprobs, values, steps, gradients: policy.gradients(), state: await policy.readState() });
    policy.destroy();
  }
  expect(made[0]!.steps.every(({ gradNorm }) => gradNorm > 0)).toBe(true);
  expect(made[1]).toEqual(made[0]);
  expect(made[2]).toEqual(made[0]);
});

it.each([{}, { packWeights: false }, { float16Cache: false }])(
  'a model draws the same in one, two and three threads: %j',
  async (options) => {
    const model = KINDS['wide enough for blocks of 32']!;
    const texts = [
      [1, 2, 3],
      [1, 2, 3, 4, 5],
      [7, 8],
    ];
    const made = [];
    for (const threads of all) {
      const opened = { rows: 3, length: 40, threads, ...options };
      const reader = await openCpuTextModel(model, randomSource(model, 11), opened);
      await reader.begin(texts);
      const drawn = await reader.draw([0, 1, 2], { maxTokens: 12, stops: [] }, sampling());
      const alone = await reader.draw([1], { maxTokens: 12, stops: [] }, sampling());
      made.push({ drawn, alone, likeliest: await reader.likeliest([0], 5) });
      reader.destroy();
      expect(threads.alive.size).toBe(0);
    }
    expect(made[1]).toEqual(made[0]);
    expect(made[2]).toEqual(made[0]);
  },
);

it('a model that cannot be opened leaves no helpers', async () => {
  const unread = new Map(
    [...randomSource(SMALL, 1)].map(([name, tensor]) => [
      name,
      { ...tensor, read: () => Promise.reject(new Error('no such disk')) },
    ]),
  );
  const [, threads] = all;
  await expect(openCpuTextModel(SMALL, unread, { rows: 1, length: 8, threads: threads! })).rejects.toThrow('no such disk'); // prettier-ignore
  expect(threads!.alive.size).toBe(0);
});

it('a small agent uses one thread where its memory cannot be shared, and says so', () => {
  const { Memory } = WebAssembly;
  const spy = vi.spyOn(WebAssembly, 'Memory').mockImplementation(function (descriptor) {
    if (descriptor.shared) throw new RangeError('could not allocate memory');
    return new Memory(descriptor);
  });
  const [, threads] = all;
  const spec = { model: ODD, critic: 'none', rows: 8, length: 80, minibatchRows: 8 } as const;
  const policy = createCpuPolicy(spec, learningMath, { seed: 3, reason: '', threads: threads! });
  spy.mockRestore();
  // a run records the adapter alone, because threads don't change its results
  expect(policy.backend).toMatchObject({ adapter: 'WebAssembly SIMD', threads: '1 thread (no shared memory of that size)' }); // prettier-ignore
  policy.destroy();
});

it('helpers that cannot begin are not counted, and what they would have done is done', async () => {
  const start = () => ({ started: Promise.resolve(false), end: () => undefined });
  const threads: Threads = { count: 2, reason: '', start, minWork: 1 };
  const reader = await openCpuTextModel(SMALL, randomSource(SMALL, 11), { rows: 1, length: 20, threads });
  expect(reader.backend).toBe('WebAssembly SIMD, 1 thread (others could not begin)');
  const alone = await openCpuTextModel(SMALL, randomSource(SMALL, 11), { rows: 1, length: 20 });
  const draws = [];
  for (const each of [reader, alone]) {
    await each.begin([[1, 2]]);
    draws.push(await each.draw([0], { maxTokens: 12, stops: [] }, sampling()));
    each.destroy();
  }
  expect(draws[0]).toEqual(draws[1]);
});
