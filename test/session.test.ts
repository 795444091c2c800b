import { describe, expect, it } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import { parseFacts } from '../src/facts/parse.ts';
import { NoGpuError } from '../src/gpu/gpuAdapter.ts';
import { initialWeights, modelConfig } from '../src/model/architecture.ts';
import { weightsFileOf } from '../src/model/weightsFile.ts';
import { BackendError, type PolicySpec } from '../src/model/policy.ts';
import type { Preferences } from '../src/domain/preferences.ts';
import type { RunEvent } from '../src/wire/commands.ts';
import { createEnv } from '../src/envs/index.ts';
import type { Host, OpenGpuPolicy } from '../src/session/host.ts';
import { openSession, type Session } from '../src/session/session.ts';
import type { BackendInfo } from '../src/domain/backendInfo.ts';
import { createCpuPolicy } from '../src/model/cpu/cpuPolicy.ts';
import { learningMath } from '../src/rl/plainLearningMath.ts';
import { fakePolicy } from './rl/fakePolicy.ts';
import { bareHost } from './bareHost.ts';

const tiny = { prompts: 4, groupSize: 2, minibatches: 2, updates: 2, evalEvery: 0, evalTasks: 16, warmStart: 'none' };
const gpu = {} as GPU;
// what a shipped file may hold: of the default shapes, and unlike the weights any run draws for itself
const MODEL = modelConfig(parseConfig(tiny), createEnv(parseConfig(tiny)).vocabulary.length, false);
const WEIGHTS = initialWeights(MODEL, 99);

async function open(knobs: Record<string, unknown>, host: Host = bareHost) {
  const events: RunEvent[] = [];
  const session = await openSession(parseConfig({ ...tiny, ...knobs }), host, (event) => events.push(event));
  return { session, events };
}

/** Runs the imitation of a session to its end. Returns its last step. */
async function imitate(session: Session): Promise<RunEvent> {
  for (;;) {
    const { value } = (await session.events.next()) as { value: RunEvent };
    if (value.type === 'imitated' && value.done === value.total) return value;
    expect(['phase', 'imitated']).toContain(value.type);
  }
}

describe('a session', () => {
  it('says ready once, with the vocabulary and why it runs on the CPU', async () => {
    const { session, events } = await open({});
    expect(events.map(({ type }) => type)).toEqual(['phase', 'ready']);
    expect(events[1]).toMatchObject({ backend: { kind: 'cpu', reason: 'There is no WebGPU here.' } });
    expect(events[1]).toMatchObject({ vocabulary: session.env.vocabulary });
    session.dispose();
  });

  it('trains to the same weights twice, whatever the decode chunk, and to others with another seed', async () => {
    const hash = async (knobs: Record<string, unknown>) => {
      const { session } = await open(knobs);
      const first = await session.parametersHash();
      for await (const event of session.events) if (event.type === 'running') break;
      const last = await session.parametersHash();
      expect(last).not.toBe(first);
      return last;
    };
    const once = await hash({ seed: 11, width: 8, heads: 2, kvHeads: 2, ffn: 8 });
    expect(await hash({ seed: 11, width: 8, heads: 2, kvHeads: 2, ffn: 8, decodeChunk: 3 })).toBe(once);
    expect(await hash({ seed: 12, width: 8, heads: 2, kvHeads: 2, ffn: 8 })).not.toBe(once);
  });

  it('changes live and next knobs, refuses others by name, and then changes nothing', async () => {
    const { session } = await open({ critic: 'none' });
    session.configure({ learningRate: 1e-4, temperature: '0.7' });
    expect(session.config()).toMatchObject({ learningRate: 1e-4, temperature: 0.7 });
    expect(() => session.configure({ width: 64, learningRate: 1 })).toThrow(/learningRate: 1 /);
    expect(() => session.configure({ width: 64, entropyCoef: 0 })).toThrow(/width: can’t change during a run/);
    expect(() => session.configure({ estimator: 'gae' })).toThrow(/needs a critic/);
    expect(() => session.configure({ speed: 3 })).toThrow(/no such knob/);
    expect(session.config()).toMatchObject({ learningRate: 1e-4, entropyCoef: 0.003, estimator: 'grpo' });
  });

  it('takes the GPU where there is an adapter, and the CPU where none answers', async () => {
    const fake = fakePolicy(8, createEnv(parseConfig()).maxTokens, 1);
    const openGpuPolicy = () => Promise.resolve(fake);
    const { session } = await open({}, { ...bareHost, gpu, openGpuPolicy });
    expect(session.policy).toBe(fake);
    const refused = () => Promise.reject(new NoGpuError('no adapter answers'));
    const other = await open({}, { ...bareHost, gpu, openGpuPolicy: refused });
    expect(other.session.policy.backend).toMatchObject({ kind: 'cpu', reason: 'no adapter answers' });
    const forced = await open({ backend: 'cpu' }, { ...bareHost, gpu, openGpuPolicy });
    expect(forced.session.policy.backend).toMatchObject({ kind: 'cpu', reason: '' });
  });

  it('takes the backend the host finds faster, and its reason, unless one is asked for', async () => {
    const fake = fakePolicy(8, createEnv(parseConfig()).maxTokens, 1);
    const reasons: unknown[] = [];
    const openGpuPolicy: Host['openGpuPolicy'] = (_, _spec, { reason }) => {
      reasons.push(reason);
      return Promise.resolve(fake);
    };
    const choosing = (kind: 'gpu' | 'cpu'): Host => ({
      ...bareHost,
      gpu,
      openGpuPolicy,
      chooseBackend: () => Promise.resolve({ kind, reason: `${kind} is faster` }),
    });
    const slow = await open({}, choosing('cpu'));
    expect(slow.session.policy.backend).toMatchObject({ kind: 'cpu', reason: 'cpu is faster' });
    expect((await open({}, choosing('gpu'))).session.policy).toBe(fake);
    expect((await open({ backend: 'gpu' }, choosing('cpu'))).session.policy).toBe(fake);
    // halves are for WebGPU, so nothing is left to choose
    expect((await open({ storage: 'f16' }, choosing('cpu'))).session.policy).toBe(fake);
    expect(reasons).toEqual(['gpu is faster', '', '']);
    const none = () => Promise.reject(new NoGpuError('no adapter answers'));
    const without = await open({}, { ...choosing('gpu'), chooseBackend: none });
    expect(without.session.policy.backend).toMatchObject({ kind: 'cpu', reason: 'no adapter answers' });
  });

  it('refuses what cannot run, naming the knobs', async () => {
    await expect(open({ backend: 'gpu' })).rejects.toMatchObject({ name: 'BackendError', demands: ['backend'] });
    for (const asked of ['cpu', 'auto'] as const) {
      const refused = { name: 'BackendError', demands: ['storage', 'backend'] };
      await expect(open({ backend: asked, storage: 'f16' })).rejects.toMatchObject(refused);
    }
    const tooLarge = () => Promise.reject(new BackendError('too large', 'make width smaller', ['width']));
    await expect(open({}, { ...bareHost, gpu, openGpuPolicy: tooLarge })).rejects.toThrow('too large');
    await expect(openSession({ ...parseConfig(tiny), heads: 3 }, bareHost, () => undefined)).rejects.toThrow(/heads/);
  });

  it('begins from a shipped file that fits, and imitates when there is none', async () => {
    const asked: string[] = [];
    const shippedFile = (file: string) => {
      asked.push(file);
      return Promise.resolve(weightsFileOf(MODEL, WEIGHTS));
    };
    const { session } = await open({ warmStart: 'shipped' }, { ...bareHost, shippedFile });
    expect(asked).toEqual(['warm/number-hunt-16-d32-l2-h4-4-f96.safetensors']);
    const begun = async ({ policy }: Session) => (await policy.readState()).policy.weights;
    const shipped = await begun(session);
    for (const [name, tensor] of WEIGHTS) expect(shipped.get(name), name).toEqual(tensor);
    const random = await begun((await open({ warmStart: 'none' }, { ...bareHost, shippedFile })).session);
    expect(random.get('model.embed_tokens.weight')).not.toEqual(WEIGHTS.get('model.embed_tokens.weight'));
    expect(asked).toHaveLength(1);
    const small = { width: 8, heads: 2, kvHeads: 2, ffn: 8, layers: 1, prompts: 1 };
    const { session: without } = await open({ ...small, warmStart: 'shipped' }, { ...bareHost, shippedFile });
    expect(asked).toHaveLength(1);
    expect(await imitate(without)).toMatchObject({ done: 200, total: 200 });
    const { value: next } = (await session.events.next()) as { value: RunEvent };
    expect(next).toMatchObject({ type: 'phase', phase: 'evaluating' }); // with the shipped weights nothing is imitated
  });

  it('imitates on from a shipped file where that is continued, for the steps that are asked for', async () => {
    const continued = { warmStart: 'continued', imitationSteps: 2 };
    const begun = async (rate: number) => {
      const shipped = new Map([...WEIGHTS].map(([name, tensor]) => [name, tensor.map((x) => x * rate)]));
      const shippedFile = () => Promise.resolve(weightsFileOf(MODEL, shipped));
      const { session } = await open(continued, { ...bareHost, shippedFile });
      expect(await imitate(session)).toMatchObject({ done: 2, total: 2 });
      const { weights } = (await session.policy.readState()).policy;
      session.dispose();
      return [...shipped].flatMap(([name, tensor]) =>
        Array.from(weights.get(name)!, (x, i) => Math.abs(x - tensor[i]!)),
      );
    };
    // two steps of AdamW at a tenth of the rate or less move no weight by more than twice that, and most of them
    for (const moved of [await begun(1), await begun(0.5)]) {
      expect(Math.max(...moved)).toBeLessThan(2 * 3e-4 + 1e-6);
      expect(moved.filter((x) => x > 0).length).toBeGreaterThan(moved.length / 2);
    }
  });

  it.each(['shipped', 'train'] as const)('measures KL from the weights it begins with: %s', async (warmStart) => {
    const knobs = { warmStart, klRewardCoef: 0.5, learningRate: 0.01, backend: 'cpu', evalTasks: 1 };
    const narrow = { width: 8, heads: 2, kvHeads: 2, ffn: 8, layers: 1 };
    const { session } =
      warmStart === 'train'
        ? await open({ ...knobs, ...narrow })
        : await open(knobs, { ...bareHost, shippedFile: () => Promise.resolve(weightsFileOf(MODEL, WEIGHTS)) });
    const penalty = async (update: number) => {
      for (;;) {
        const { value } = (await session.events.next()) as { value: RunEvent };
        if (value.type === 'metrics' && value.update === update) return value.values['actor/reward_kl_penalty'];
      }
    };
    // the same arithmetic on the same weights: to the bit
    expect(await penalty(1)).toBe(0);
    expect(await penalty(2)).not.toBe(0);
    session.dispose();
  });

  it('asks about the facts that are shipped, or those it is given, and says what is missing', async () => {
    const csv = new TextEncoder().encode('a,r,b\nb,s,c\nc,t,d\nd,r,e\ne,s,f\nf,t,a');
    const shippedFile = (path: string) => Promise.resolve(path === 'worlds/countries.csv' ? csv.buffer : null);
    const { session } = await open({ env: 'world-facts', names: 'own' }, { ...bareHost, shippedFile });
    expect(session.env.vocabulary.filter((word) => /^e\d+$/.test(word))).toHaveLength(6);
    const { facts } = parseFacts('three.csv', 'a,r,b\nb,s,c\nc,t,d');
    const config = parseConfig({ ...tiny, env: 'your-facts', names: 'own' });
    const own = await openSession(config, bareHost, () => undefined, { facts });
    expect(own.env.vocabulary.filter((word) => /^e\d+$/.test(word))).toHaveLength(4);
    await expect(open({ env: 'your-facts' })).rejects.toThrow(/there are none\. Give a CSV file/);
  });

  it('tells the GPU backend its shape and its kernels, and passes on what it says', async () => {
    const told: [PolicySpec, Parameters<OpenGpuPolicy>[2]][] = [];
    const openGpuPolicy: OpenGpuPolicy = (_, spec, options) => {
      told.push([spec, options]);
      return Promise.resolve(fakePolicy(8, createEnv(parseConfig()).maxTokens, 1));
    };
    const host = { ...bareHost, gpu, openGpuPolicy };
    const { events } = await open({ critic: 'shared', estimator: 'gae' }, host);
    await open({ critic: 'none' }, host);
    await open({ kernels: 'shared' }, host);
    const [[spec, auto], [plain], [, named]] = told as [(typeof told)[0], (typeof told)[0], (typeof told)[0]];
    expect(spec).toMatchObject({ critic: 'shared', rows: 8, minibatchRows: 4, model: { value_head: true } });
    expect(plain.model.value_head).toBe(false);
    expect([auto.kernels, auto.resumedKernels]).toEqual([undefined, undefined]);
    expect(named.kernels).toBe('shared');
    auto.progress?.(3, 9);
    expect(events.at(-1)).toEqual({ type: 'phase', phase: 'compiling', update: 0, done: 3, total: 9 });
    auto.onLost?.('the driver was reset');
    expect(events.at(-1)).toMatchObject({ type: 'error', fatal: true, cause: 'device-lost' });
  });

  it('saves which kernels it runs on, and goes on with them', async () => {
    const resumed: unknown[] = [];
    const reasons: unknown[] = [];
    const choice = 'shared';
    const onGpu: OpenGpuPolicy = (_, spec, options) => {
      resumed.push(options.resumedKernels);
      reasons.push(options.reason);
      const policy = createCpuPolicy(spec, learningMath, { seed: 1, reason: '' });
      const kernels = { choice, reason: 'forced' } as unknown as NonNullable<BackendInfo['kernels']>;
      return Promise.resolve(Object.assign(policy, { backend: { ...policy.backend, kind: 'gpu' as const, kernels } }));
    };
    const host = { ...bareHost, gpu, openGpuPolicy: onGpu };
    const saved = await (await open({}, host)).session.checkpoint();
    expect(saved.kernels).toBe('shared');
    const config = parseConfig({ ...tiny });
    await openSession(config, host, () => undefined, { resumedFrom: saved });
    expect(resumed).toEqual([undefined, choice]);
    const gone = { ...saved, kernels: 'broadcast-4+persistent' };
    await openSession(config, host, () => undefined, { resumedFrom: gone });
    expect(resumed.at(-1)).toBeUndefined();
    expect(reasons.at(-1)).toBe(
      'The run began with kernels broadcast-4+persistent, which no longer exist. Others round differently.',
    );
    expect(await (await open({})).session.checkpoint()).not.toHaveProperty('kernels');
  });

  it('refuses halves on the CPU in one sentence or two, and a damaged shipped file by its name', async () => {
    const halves = 'Storage f16 is for WebGPU; on the CPU all numbers are f32.';
    await expect(open({ backend: 'cpu', storage: 'f16' })).rejects.toMatchObject({
      message: `${halves} Set storage to f32.`,
    });
    const why = { what: `${halves} There is no WebGPU here.`, remedy: 'Set storage to f32.' };
    await expect(open({ storage: 'f16' })).rejects.toMatchObject(why);
    await expect(open({ backend: 'gpu' })).rejects.toMatchObject({
      remedy: expect.stringMatching(/Set backend to auto or cpu/) as string,
    });
    const damaged = { ...bareHost, shippedFile: () => Promise.resolve(new ArrayBuffer(40)) };
    await expect(open({ warmStart: 'shipped' }, damaged)).rejects.toThrow(
      /^warm\/number-hunt-16-d32-l2-h4-4-f96\.safetensors: .+ Fetch it again, or set warmStart to train\.$/,
    );
  });

  it('opens a reward model beside the policy, which a person can teach; without one that is refused', async () => {
    const small = { width: 8, heads: 2, kvHeads: 2, ffn: 8, layers: 1 };
    const { session } = await open({ ...small, rewardModel: 'on', preferenceReward: 0.5, updates: 3 });
    const heard: Preferences[] = [];
    for await (const event of session.events) {
      if (event.type === 'preferences') heard.push(event.preferences);
      if (event.type === 'batch' && event.batch.update === 2) {
        const { tokens, roles, lengths, length } = event.batch;
        // a rollout that fills its row to the end still has a place for r after it
        const row = (at: number) => ({
          tokens: tokens.slice(at, at + lengths[0]!),
          roles: roles.slice(at, at + lengths[0]!),
        });
        const full = { tokens: new Int32Array(length).fill(5), roles: new Uint8Array(length).fill(2) };
        session.prefer(row(0), full);
      }
      if (event.type === 'running') break;
    }
    expect(heard).toHaveLength(3);
    expect(heard[0]!.clicks).toBe(0);
    expect(heard.at(-1)!.clicks).toBe(1);
    expect(heard.every(({ loss }) => loss > 0 && loss < 2)).toBe(true);
    session.dispose();
    const without = await open(small);
    const attempt = { tokens: Int32Array.of(1), roles: Uint8Array.of(2) };
    expect(() => without.session.prefer(attempt, attempt)).toThrow(/rewardModel: off, so there is nothing to train/);
  });
});
