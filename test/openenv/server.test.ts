import { afterEach, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { SERVER_PRESET } from '../../src/config/presets.ts';
import { EnvironmentServerError } from '../../src/domain/serverAddress.ts';
import type { Stepper } from '../../src/envs/stepper.ts';
import type { SocketHost } from '../../src/openenv/serverConnection.ts';
import { openServer } from '../../src/openenv/openServer.ts';
import { checkpointOf } from '../../src/runs/checkpoint.ts';
import { openSession, type Session } from '../../src/session/session.ts';
import type { RunEvent } from '../../src/wire/commands.ts';
import { type Mischief, type OpenenvServer, openenvServer } from './openenvServer.ts';
import { HASTY, playTurns, serverEnv, shippedFile, spoken } from './serverPlay.ts';

let server: OpenenvServer | null = null;
const started = async (mischief: Mischief = {}, port = 0) => (server = await openenvServer(mischief, port));
afterEach(async () => {
  await server?.kill();
  server = null;
});

/** Adds one to the number of the task, and answers with the sum. */
const right = ({ episode }: Stepper) => {
  const a = Number(/is (\d+) \+/.exec(episode.question)?.[1]);
  return [{ tool: 'add', values: { a, b: 1 } }, { answer: String(a + 1) }];
};
const seedsFrom = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);
/** A place that notes what it is asked for. */
const noting = () => {
  const [connects, waits]: [string[], number[]] = [[], []];
  const place: SocketHost = {
    connect: (url) => (connects.push(url), HASTY.connect(url)),
    setTimer: (ms, ring) => (waits.push(ms), HASTY.setTimer(ms, ring)),
  };
  return { place, connects, waits };
};
/** What a promise is refused with. */
const reason = async (promise: Promise<unknown>) => {
  const error = await promise.then(
    () => null,
    (why: unknown) => why,
  );
  expect(error).toBeInstanceOf(EnvironmentServerError);
  return error instanceof Error ? error.message : '';
};

describe('an OpenEnv server as an environment', () => {
  it('plays a hundred episodes on twenty sessions, each its own, with its rewards added up', async () => {
    const { address, resets } = await started();
    const env = await serverEnv(address);
    expect(env.tools).toEqual([{ name: 'add', description: 'Adds two numbers.', parameters: ['a', 'b'] }]);
    const steppers: Stepper[] = [];
    for (let batch = 0; batch < 5; batch++) steppers.push(...(await playTurns(env, seedsFrom(20 * batch, 20), right)));
    expect(steppers).toHaveLength(100);
    for (const { success, stop, finishedTurns: taken, episode, rewardSums: parts, seeds } of steppers) {
      const refused = seeds.seed % 50 === 13;
      expect([success, stop, taken.map(({ valid }) => valid)]).toEqual([true, 'answered', [!refused, true]]);
      expect(episode.question).toBe(`train: what is ${seeds.seed % 50} + 1?`);
      expect(parts.outcome).toBe(refused ? 1 : 1.25);
    }
    expect(resets.length).toBeGreaterThanOrEqual(100);
    expect(server?.connections).toBeLessThanOrEqual(21); // one looked at the tools before
    env.asyncAnswers?.close();
  });

  it('says a tool’s answer to the agent as text, and of a stack trace only what went wrong', async () => {
    const env = await serverEnv((await started()).address);
    const [first = '', bad = ''] = await Promise.all((await playTurns(env, [7, 13], right)).map(spoken));
    expect(first).toContain('<|im_start|>tool\n8<|im_end|>');
    expect(bad).toContain('ValueError: thirteen');
    expect(bad).not.toMatch(/Traceback|someone/);
  });

  it('makes no special token of what a server says', async () => {
    const told = JSON.stringify({ type: 'observation', data: { observation: { text: 'a<|im_end|>b' }, reward: 0 } });
    const env = await serverEnv(
      (await started({ instead: ({ type }) => (type === 'reset' ? told : undefined) })).address,
    );
    const [stepper] = await playTurns(env, [1], () => []);
    const ends = stepper?.tokens.filter(({ token }) => env.vocabulary[token] === '<|im_end|>').length;
    expect(ends).toBe(2); // of the system prompt and of the question
    expect(stepper && (await spoken(stepper))).toContain('a<|im_end|>b');
  });

  it('asks for tasks by seeds that are others in evaluation, or by the numbers of its Task API', async () => {
    const { address, resets } = await started();
    const env = await serverEnv(address);
    const seeds = [1, 5, 2 ** 30 + 5];
    const held = env.splits.heldOut?.reset;
    if (!held) throw new Error('no test tasks');
    const before = resets.length;
    await held.opener?.open(
      seeds.map((seed) => ({ seed, environmentSeed: seed })),
      {} as never,
    );
    await playTurns(env, seeds, () => []);
    const of = (split: string) =>
      resets
        .slice(before)
        .filter((data) => data['split'] === split)
        .map(({ seed }) => seed);
    expect(of('train')).toEqual([1, 5, 5]);
    expect(of('test')).toEqual([1, 5, 5].map((seed) => seed + 2 ** 30));
    const counted = await serverEnv(`${address}?train=3&test=2`);
    await playTurns(counted, [4], () => []);
    expect(resets.at(-1)).toEqual({ seed: 4, split: 'train', index: 1 });
    expect(counted.reset.opener?.keyOf(4, {} as never)).toBe(counted.reset.opener?.keyOf(1, {} as never));
  });

  it('is lost with its batch when it is killed in the middle, and goes on when it is back', async () => {
    const first = await started();
    const env = await serverEnv(first.address);
    const lost = playTurns(env, seedsFrom(0, 8), right, first.kill);
    expect(await reason(lost)).toContain('No server answers');
    const waiting = playTurns(env, seedsFrom(0, 8), right); // tries again while it is away
    await started({}, first.port);
    expect((await waiting).every(({ success }) => success)).toBe(true);
  });

  it('that stays away is given up after a few tries', async () => {
    const { address, kill } = await started();
    const { place, connects, waits } = noting();
    const env = await serverEnv(address, place);
    await kill();
    [connects.length, waits.length] = [0, 0];
    expect(await reason(playTurns(env, [1], right))).toContain('No server answers');
    expect(connects).toHaveLength(6);
    expect(waits.filter((ms) => ms !== 30_000)).toEqual([250, 500, 1000, 2000, 4000]); // 30 s: the limit of each message
  });

  it('that is full says how many sessions the run needs, and is tried again', async () => {
    const { address, ...at } = await started({ sessions: 4 });
    const env = await serverEnv(address);
    expect(await reason(playTurns(env, seedsFrom(0, 8), right))).toMatch(/limit is 4.* 8.*max_concurrent_envs=8/);
    if (server) server.mischief = {};
    expect(at.resets.length).toBeGreaterThan(0);
    expect(await playTurns(env, seedsFrom(0, 8), right)).toHaveLength(8);
  });

  it('that doesn’t answer within the seconds of its address is given up', async () => {
    const { address } = await started({ instead: ({ type, data }) => (type === 'step' && data['type'] === 'call_tool' ? null : undefined) }); // prettier-ignore
    const { place, waits } = noting();
    const env = await serverEnv(`${address}?seconds=2`, place);
    expect(await reason(playTurns(env, [1, 2], right))).toMatch(/within 2 s.*seconds=8/);
    expect(new Set(waits)).toEqual(new Set([2000]));
  });

  const observation = (data: unknown) => JSON.stringify({ type: 'observation', data });
  it.each([
    ['no JSON', 'it’s fine', /isn’t JSON/],
    ['bytes', Buffer.from([1, 2, 3]), /bytes/],
    ['a number', '7', /said 7/],
    ['no data', '{"type":"observation"}', /can’t be understood/],
    [
      'lists nested 200,000 deep',
      `{"type":"observation","data":{"observation":{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}},"reward":1}}`,
      /nested over 500 deep/,
    ],
    [
      'a reward of objects nested 100,000 deep',
      `{"type":"observation","data":{"observation":{},"reward":${'{"[\\"":'.repeat(100_000)}1${'}'.repeat(100_000)}}}`,
      /nested over 500 deep/,
    ],
    ['a list as an observation', observation({ observation: [], reward: 1, done: false }), /can’t be understood/],
    ['a reward that is a word', observation({ observation: {}, reward: 'much', done: false }), /reward is "much"/],
    ['a reward beyond all bounds', observation({ observation: {}, reward: 1e300, done: false }), /reward/],
    ['two million characters', observation({ observation: { text: 'x'.repeat(2e6) } }), /2000\d+ characters/],
  ])('that says garbage to a step is told what it said: %s', async (_, said, want) => {
    const { address } = await started({ instead: ({ type, data }) => (type === 'step' && data['type'] === 'call_tool' ? said : undefined) }); // prettier-ignore
    expect(await reason(playTurns(await serverEnv(address), [1, 2], right))).toMatch(want);
  });

  const tool = (name: string, schema: unknown = {}) => ({ name, description: 'd', input_schema: schema });
  it.each([
    ['none', [], /no tools/],
    ['only answer', [tool('answer', { properties: { text: { type: 'string' } } })], /no tool except answer/],
    ['a name that is markup', [tool('<b>')], /named/],
    ['two of a name', [tool('a'), tool('a')], /twice/],
    ['forty', Array.from({ length: 40 }, (_, i) => tool(`t${i}`)), /40 tools/],
    [
      'an argument that is a list',
      [tool('a', { properties: { xs: { type: 'array' } }, required: ['xs'] })],
      /argument xs/,
    ],
    ['a special token', [{ ...tool('a'), description: 'ends<|im_end|>here' }], /special token/],
  ])('whose tools are %s is refused', async (_, tools, want) => {
    expect(await reason(serverEnv((await started({ tools })).address))).toMatch(want);
  });

  it('without tools is refused with what it says, in one line', async () => {
    const error = JSON.stringify({ type: 'error', data: { message: 'Invalid message\nTraceback', code: 'VALIDATION_ERROR' } }); // prettier-ignore
    const { address } = await started({ instead: ({ type }) => (type === 'step' ? error : undefined) });
    expect(await reason(serverEnv(address))).toMatch(/no tools: Invalid message An agent.*CallToolAction/);
  });

  it('trains: a run whose server is killed in an update goes on from before it, to the same weights', async () => {
    const config = parseConfig({
      ...SERVER_PRESET.set,
      ...{ backend: 'cpu', warmStart: 'none', layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 16 },
      ...{ prompts: 2, groupSize: 4, minibatches: 1, evalTasks: 4, updates: 2, seed: 5, entropyCoef: 0.05 },
    });
    const begin = async (address: string): Promise<Session> => {
      const host = { gpu: undefined, shippedFile, now: () => 0, yieldToEvents: () => Promise.resolve() };
      const ownEnvironment = openServer(`${address}?turns=2&observation=16`, HASTY).environment;
      return openSession(config, { ...host, ownEnvironment }, () => undefined);
    };
    const until = async (session: Session, update: number, kill?: () => Promise<void>) => {
      for (;;) {
        const event = (await session.events.next()).value as RunEvent; // a loop over them would end them
        if (event.type === 'phase' && event.phase === 'sampling' && event.update === 2) await kill?.();
        if (event.type === 'metrics' && event.update === update) return;
      }
    };
    const { address, port, kill } = await started();
    const undisturbed = await begin(address);
    await until(undisturbed, 2);
    const session = await begin(address);
    await until(session, 1);
    const kept = await session.checkpoint();
    const before = await session.parametersHash();
    expect(await reason(until(session, 2, kill))).toContain('No server answers');
    await started({}, port);
    session.restore(kept);
    await until(session, 2);
    expect(await session.parametersHash()).not.toBe(before);
    expect(await session.parametersHash()).toBe(await undisturbed.parametersHash());
    session.dispose();
    undisturbed.dispose();
    await expect.poll(() => server?.open).toBe(0); // nothing stays connected
  });

  it('goes on with the weights of a run that imitated a player elsewhere: its warm start is over', async () => {
    const { address } = await started();
    const small = { layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 16, prompts: 2, groupSize: 4, evalTasks: 4 };
    const config = parseConfig({ ...SERVER_PRESET.set, backend: 'cpu', warmStart: 'none', seed: 5, ...small });
    const host = { gpu: undefined, shippedFile, now: () => 0, yieldToEvents: () => Promise.resolve() };
    const onServer = { ...host, ownEnvironment: openServer(`${address}?turns=2&observation=16`, HASTY).environment };
    const begun = await openSession(config, onServer, () => undefined);
    const { networks, ...rest } = await begun.checkpoint();
    const imitated = { ...config, warmStart: 'train', imitationSteps: 5 } as const;
    const from = checkpointOf({ ...rest, networks, begun: imitated, config: imitated });
    const continued = await openSession(imitated, onServer, () => undefined, { resumedFrom: from });
    expect(await continued.parametersHash()).toBe(await begun.parametersHash());
    begun.dispose();
    continued.dispose();
  });

  it.each([{ warmStart: 'train' }, { language: 'words', warmStart: 'none' }])(
    'can’t be trained with %o',
    async (knobs) => {
      const { address } = await started();
      const host = { gpu: undefined, shippedFile, now: () => 0, yieldToEvents: () => Promise.resolve() };
      const config = parseConfig({ ...SERVER_PRESET.set, backend: 'cpu', ...knobs });
      const opening = openSession(
        config,
        { ...host, ownEnvironment: openServer(address, HASTY).environment },
        () => undefined,
      );
      await expect(opening).rejects.toThrow(/no player|Language to text/);
    },
  );
});
