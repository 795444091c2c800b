import { describe, expect, it } from 'vitest';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import type { ToolEnv } from '../../src/envs/env.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { REWARD_PARTS } from '../../src/domain/episode.ts';
import { rollout, type Rollouts } from '../../src/rl/rollout.ts';
import { evalTaskSeed, trainSampling, trainTaskSeed } from '../../src/rl/settings.ts';
import { Role } from '../../src/domain/tokens.ts';
import { type FakePolicy, fakePolicy } from './fakePolicy.ts';

const ROWS = 24;
const yieldToEvents = () => Promise.resolve();

function roll(env: ToolEnv, config: RunConfig, policy: FakePolicy, count = ROWS): Promise<Rollouts> {
  const groups = Int32Array.from({ length: ROWS }, (_, row) => row >> 2);
  return rollout(
    policy,
    env,
    {
      tasks: Array.from({ length: count }, (_, environmentSeed) => ({
        seed: trainTaskSeed(config.seed, 3, groups[environmentSeed]!),
        environmentSeed,
      })),
      groups,
      settings: envSettings(config),
      sampling: trainSampling(config, 3),
      chunk: config.decodeChunk,
    },
    yieldToEvents,
  );
}

function setUp(knobs: Record<string, unknown>, length?: number) {
  const config = parseConfig(knobs);
  const env = createEnv(config);
  return { config, env, policy: fakePolicy(ROWS, length ?? env.maxTokens, env.vocabulary.length) };
}

/** Tokens of one row as [word, role] in order. */
function read({ record }: Rollouts, env: ToolEnv, row: number) {
  const start = row * record.length;
  return Array.from({ length: record.lengths[row]! }, (_, t) => ({
    word: env.vocabulary[record.tokens[start + t]!]!,
    role: record.roles[start + t]!,
    turn: record.turns[start + t]!,
    state: record.states[start + t]!,
    reward: record.rewards[start + t]!,
    logprob: record.logprobs[start + t]!,
  }));
}

describe.each([
  { env: 'number-hunt', processReward: 0.3 },
  { env: 'number-hunt', grammar: 'off', distractors: 2 },
  { env: 'multi-hop', processReward: 0.2, failureRate: 0.2 },
  { env: 'multi-hop', grammar: 'off', think: 'on', turnCost: 0.05 },
])('a rollout of %o', (knobs) => {
  it('does not depend on the decode chunk', async () => {
    const results = [];
    for (const decodeChunk of [1, 2, 3, 5, 16, 64]) {
      const { config, env, policy } = setUp({ ...knobs, decodeChunk });
      const { record, episodes } = await roll(env, config, policy);
      const { push, pay, clear, ...arrays } = record;
      for (const method of [push, pay, clear]) expect(method).toBeTypeOf('function');
      results.push({ arrays, episodes });
    }
    for (const result of results.slice(1)) expect(result).toEqual(results[0]);
  });

  it('gives the action role to drawn tokens only, and counts every turn', async () => {
    const { config, env, policy } = setUp(knobs);
    const rolled = await roll(env, config, policy);
    for (let row = 0; row < ROWS; row++) {
      const tokens = read(rolled, env, row);
      const promptLength = tokens.findIndex(({ role }) => role !== Role.prompt);
      expect(tokens[0]).toMatchObject({ word: '<bos>', role: Role.prompt, turn: 0 });
      expect(tokens[promptLength]).toMatchObject({ role: Role.action, turn: 1 });
      for (const token of tokens) {
        if (token.role === Role.action) expect(token.state).toBeGreaterThan(0);
        else expect(token).toMatchObject({ state: 0, logprob: 0, reward: 0 });
        if (token.role === Role.prompt) expect(token.turn).toBe(0);
        else expect(token.turn).toBeGreaterThan(0);
      }
      // nothing is appended after the end, so the last token is the agent's
      expect(tokens.at(-1)!.role).toBe(Role.action);
      expect(Math.max(...tokens.map(({ turn }) => turn))).toBe(rolled.episodes[row]!.turns);
    }
  });

  it('is paid on the last action token of turns, and the sum is the reward of the episode', async () => {
    const { config, env, policy } = setUp(knobs);
    const rolled = await roll(env, config, policy);
    for (const episode of rolled.episodes) {
      const tokens = read(rolled, env, episode.row);
      tokens.forEach(({ reward, role, turn }, t) => {
        if (reward === 0) return;
        expect(role).toBe(Role.action);
        const next = tokens[t + 1];
        expect(next?.role === Role.action && next.turn === turn).toBe(false);
      });
      expect(tokens.reduce((sum, { reward }) => sum + reward, 0)).toBeCloseTo(episode.reward, 5);
      if (episode.success) expect(tokens.at(-1)!.reward).toBeGreaterThan(0.5);
    }
  });

  it('replays: the action tokens of a row lead the environment through the same episode', async () => {
    const { config, env, policy } = setUp(knobs);
    const rolled = await roll(env, config, policy);
    for (const { row, seed, environmentSeed, view, stop } of rolled.episodes) {
      const episode = env.reset(seed, envSettings(config), environmentSeed);
      const tokens = read(rolled, env, row);
      const turns = rolled.episodes[row]!.turns;
      for (let turn = 1; turn <= turns; turn++) {
        const action = tokens.filter((token) => token.turn === turn && token.role === Role.action);
        const result = episode.step(
          action.map(({ word }) => env.vocabulary.indexOf(word)),
          envSettings(config),
        );
        expect(result.stop).toBe(turn === turns ? stop : null);
      }
      expect(episode.view()).toEqual(view);
    }
  });
});

describe.each([
  { env: 'number-hunt', processReward: 0.3, turnCost: 0.05 },
  { env: 'number-hunt', processReward: 0.3, think: 'on', thinkReward: 0.2, failureRate: 0.3 },
  { env: 'number-hunt', grammar: 'off', think: 'on', thinkReward: 0.2, processReward: 0.3, outcomeReward: 2 },
  { env: 'multi-hop', processReward: 0.2, turnCost: 0.05, think: 'on', thinkReward: 0.2, outcomeReward: 3 },
  { env: 'multi-hop', processReward: 0.2, turnCost: 0.05, relations: 1, entities: 3, think: 'on', thinkReward: 0.2 },
])('the parts of the reward of %o', (knobs) => {
  describe.each(['on', 'off'])('with rewardOnLastAction %s', (rewardOnLastAction) => {
    const { config, env, policy } = setUp({ ...knobs, rewardOnLastAction });

    it('add up to it, token by token and rollout by rollout', async () => {
      const { record, episodes } = await roll(env, config, policy);
      record.rewards.forEach((reward, at) => {
        expect(reward).toBe(Math.fround(REWARD_PARTS.reduce((sum, part) => sum + record.parts[part][at]!, 0)));
      });
      for (const { row, parts, reward, preferenceScore } of episodes) {
        const start = row * record.length;
        for (const part of REWARD_PARTS) {
          const written = record.parts[part].slice(start, start + record.length).reduce((sum, x) => sum + x, 0);
          expect(written).toBeCloseTo(parts[part], 5); // float32 at each token
        }
        expect(REWARD_PARTS.reduce((sum, part) => sum + parts[part], 0)).toBeCloseTo(reward, 12);
        expect(parts.preference).toBe(0);
        expect(preferenceScore).toBeNull();
      }
      expect(record.rewards.some((x) => x !== 0)).toBe(true);
    });

    it('stand where they belong', async () => {
      const rolled = await roll(env, config, policy);
      const { parts, length } = rolled.record;
      for (const { row } of rolled.episodes) {
        const tokens = read(rolled, env, row);
        tokens.forEach(({ word, role, turn }, t) => {
          const at = row * length + t;
          if (parts.think[at] !== 0) expect([word, role]).toEqual(['</think>', Role.action]);
          for (const part of ['outcome', 'process', 'format', 'turnCost'] as const) {
            if (parts[part][at] === 0) continue;
            const ofTurn = tokens.flatMap((token, i) => (token.turn === turn ? [{ ...token, i }] : []));
            const drawn = ofTurn.filter((token) => token.role === Role.action);
            expect(t).toBe((rewardOnLastAction === 'on' ? drawn : ofTurn).at(-1)!.i);
          }
        });
      }
    });
  });

  it('are paid in full whatever they stand on; on an observation the advantage mask drops them', async () => {
    const [on, off] = await Promise.all(
      ['on', 'off'].map(async (rewardOnLastAction) => {
        const { config, env, policy } = setUp({ ...knobs, rewardOnLastAction });
        const rolled = await roll(env, config, policy);
        const seen = rolled.record.rewards.filter((_, at) => rolled.record.roles[at] === Role.action);
        return { ...rolled, seen: seen.reduce((sum, x) => sum + Math.abs(x), 0) };
      }),
    );
    expect(off!.episodes).toEqual(on!.episodes);
    expect(off!.record.tokens).toEqual(on!.record.tokens);
    expect(off!.seen).toBeLessThan(on!.seen - 0.1);
  });
});

describe('a rollout', () => {
  it('begins its episodes as it is told', async () => {
    const { config, env, policy } = setUp({ env: 'multi-hop', oneHopShare: 0 });
    const groups = Int32Array.from({ length: ROWS }, (_, row) => row);
    const { record, episodes } = await rollout(
      policy,
      env,
      {
        tasks: Array.from(groups, (seed) => ({ seed, environmentSeed: 50 + seed })),
        groups,
        settings: envSettings(config),
        sampling: trainSampling(config, 1),
        chunk: 4,
        begin: env.naiveRag!,
      },
      yieldToEvents,
    );
    for (const { row, turns, toolCalls, stop } of episodes) {
      expect({ turns, toolCalls, stop }).toEqual({ turns: 1, toolCalls: 0, stop: 'answered' });
      const tokens = read({ record, groups, episodes }, env, row);
      expect(tokens.findIndex(({ role }) => role === Role.action)).toBe(tokens.length - 3);
      expect(tokens.at(-4)).toMatchObject({ word: '</obs>', role: Role.prompt, turn: 0 });
    }
  });

  it('gives rollouts of one prompt the same task and different draws', async () => {
    const { config, env, policy } = setUp({ env: 'multi-hop' });
    const { episodes, record } = await roll(env, config, policy);
    const texts = new Set<string>();
    for (const { row, group, question } of episodes) {
      expect(question).toBe(episodes.find((other) => other.group === group)!.question);
      texts.add(record.tokens.slice(row * record.length, (row + 1) * record.length).join());
    }
    expect(new Set(episodes.map(({ question }) => question)).size).toBeGreaterThan(3);
    expect(texts.size).toBeGreaterThan(ROWS / 2);
  });

  it('leaves rows without a task idle', async () => {
    const { config, env, policy } = setUp({});
    const { record, episodes } = await roll(env, config, policy, 5);
    expect(episodes).toHaveLength(5);
    expect([...record.lengths.slice(5)].every((length) => length === 0)).toBe(true);
    expect([...record.lengths.slice(0, 5)].every((length) => length > 3)).toBe(true);
  });

  it.each([8, 9, 10, 11, 12, 13])('is cut off at %i tokens without a draw beyond them', async (length) => {
    const { config, env } = setUp({ env: 'multi-hop', processReward: 0.2 });
    const policy = fakePolicy(ROWS, length, env.vocabulary.length);
    const rolled = await roll(env, config, policy);
    const cut = rolled.episodes.filter(({ stop }) => stop === 'tokens');
    expect(cut.length).toBeGreaterThan(0);
    for (const { row, success } of cut) {
      const tokens = read(rolled, env, row);
      expect(tokens.length).toBeLessThanOrEqual(length);
      expect(tokens.at(-1)!.role).toBe(Role.action);
      expect(success).toBe(false);
    }
  });

  it('cuts a turn that never stops and counts it as malformed', async () => {
    const { config, env, policy } = setUp({ grammar: 'off' });
    const { episodes } = await roll(env, config, policy);
    const malformed = episodes.filter(({ invalidTurns }) => invalidTurns > 0);
    expect(malformed.length).toBeGreaterThan(ROWS / 2);
    for (const { reward, invalidTurns, success } of malformed) {
      expect(reward).toBeCloseTo((success ? 1 : 0) - 0.1 * invalidTurns, 6);
    }
  });

  it('notes which tokens were choices of one, and what was drawn from where the policy says it cut some away', async () => {
    const { config, env, policy } = setUp({ env: 'number-hunt', decodeChunk: 3 });
    const decode = policy.decode.bind(policy);
    policy.decode = async (chunk) => {
      const decoded = await decode(chunk);
      return { ...decoded, logMass: decoded.logprobs.map((_, i) => -0.01 * ((i % chunk.maxTokens) + 1)) };
    };
    const { record } = await roll(env, config, policy);
    let seen = 0;
    record.roles.forEach((role, i) => {
      const word = env.vocabulary[record.tokens[i]!];
      const gap = record.drawnLogprobs[i]! - record.logprobs[i]!;
      if (role !== Role.action) {
        expect([record.singles[i], gap]).toEqual([0, 0]);
        return;
      }
      seen++;
      // in number hunt a turn is a tag, a number and a tag: only the number is a choice
      expect(record.singles[i]).toBe(word === '<call>' || word === '</call>' ? 1 : 0);
      expect([0.01, 0.02, 0.03].some((cut) => Math.abs(gap - cut) < 1e-6)).toBe(true);
    });
    expect(seen).toBeGreaterThan(100);
    expect(new Set(record.drawnLogprobs.map((x, i) => Math.round(100 * (x - record.logprobs[i]!)))).size).toBe(4);
  });

  it('counts the turns that were waited for tools, and an observation to the turn it answers', async () => {
    const { config, env, policy } = setUp({ env: 'number-hunt', maxTurns: 8, latency: 1, range: 64 });
    const rolled = await roll(env, config, policy);
    for (const { row, waited, turns } of rolled.episodes) {
      expect(waited).toBeGreaterThanOrEqual(0);
      expect(waited + turns).toBeLessThanOrEqual(8);
      let turn = 0;
      for (const token of read(rolled, env, row)) {
        if (token.word === '<call>') turn++;
        expect(token.turn).toBe(turn);
      }
    }
    expect(rolled.episodes.some(({ waited }) => waited > 1)).toBe(true);
  });

  it('stops at a token that its grammar forbids, naming row and token', async () => {
    const { config, env, policy } = setUp({ env: 'number-hunt' });
    const decode = policy.decode.bind(policy);
    policy.decode = async (chunk) => {
      const decoded = await decode(chunk);
      return { ...decoded, tokens: decoded.tokens.fill(0) };
    };
    await expect(roll(env, config, policy)).rejects.toThrow(/row 0 drew token 0, which is illegal/);
  });

  it('ends on the agent’s token, unpaid for what it cannot read, where the answer leaves no room for a draw', async () => {
    const { config, env } = setUp({ env: 'number-hunt', range: 64, rewardOnLastAction: 'off', turnCost: 0.05 });
    // <bos> find, three of a turn, three of an answer: with eight there is no room for a draw after it, with nine there is
    for (const [length, turns] of [
      [8, 1],
      [9, 2],
    ] as const) {
      const rolled = await roll(env, config, fakePolicy(ROWS, length, env.vocabulary.length));
      for (const { row, stop, success } of rolled.episodes) {
        if (success) continue;
        const tokens = read(rolled, env, row);
        expect([stop, tokens.at(-1)!.turn, tokens.at(-1)!.role]).toEqual(['tokens', turns, Role.action]);
        const paid = tokens.findIndex(({ reward }) => reward < -0.01);
        // the first turn’s price stands on its own last token, or on that of the answer that was read
        expect(paid).toBe(turns === 1 ? 4 : 7);
      }
    }
  });

  it('refuses more tasks than the policy has rows', async () => {
    const { config, env } = setUp({});
    await expect(roll(env, config, fakePolicy(4, env.maxTokens, env.vocabulary.length))).rejects.toThrow(/4 rows/);
  });
});

describe('task seeds', () => {
  it('give each target of number hunt once in a batch of 16 prompts, in another order for each update', () => {
    const targets = (update: number) => Array.from({ length: 16 }, (_, group) => trainTaskSeed(7, update, group) % 16);
    for (const update of [1, 2, 3]) expect(new Set(targets(update)).size).toBe(16);
    expect(new Set([1, 2, 3, 4, 5, 6].map((update) => targets(update)[0])).size).toBeGreaterThan(2);
  });

  it('of held-out tasks never occur in training', () => {
    for (let i = 0; i < 2000; i++) {
      expect(trainTaskSeed(i % 7, i, i * 3)).toBeLessThan(2 ** 31);
      expect(evalTaskSeed(i % 7, i)).toBeGreaterThanOrEqual(2 ** 31);
      expect(evalTaskSeed(i, 4095)).toBeLessThan(2 ** 32);
    }
  });
});
