import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import type { DecodeChunk, DecodedChunk } from '../../src/model/decoding.ts';
import { credit } from '../../src/rl/credit.ts';
import { rollout } from '../../src/rl/rollout.ts';
import { rewardSums } from '../../src/rl/rewards.ts';
import { trainSampling, trainTaskSeed } from '../../src/rl/settings.ts';
import { Role } from '../../src/domain/tokens.ts';
import { fakePolicy } from './fakePolicy.ts';
import { off, ON, PLAIN } from './worked.ts';

const ROWS = 24;

/** A batch of rollouts of a fake policy, with everything that was asked of it and answered. */
async function rolled(knobs: Record<string, unknown>, length?: number) {
  const config = parseConfig(knobs);
  const env = createEnv(config);
  const policy = fakePolicy(ROWS, length ?? env.maxTokens, env.vocabulary.length);
  const exchanged: { chunk: DecodeChunk; decoded: DecodedChunk }[] = [];
  const listening = {
    ...policy,
    async decode(chunk: DecodeChunk) {
      const decoded = await policy.decode(chunk);
      exchanged.push({ chunk, decoded });
      return decoded;
    },
  };
  const groups = Int32Array.from({ length: ROWS }, (_, row) => row >> 2);
  const { record, episodes } = await rollout(
    listening,
    env,
    {
      tasks: Array.from(groups, (group, environmentSeed) => ({
        seed: trainTaskSeed(config.seed, 3, group),
        environmentSeed,
      })),
      groups,
      settings: envSettings(config),
      sampling: trainSampling(config, 3),
      chunk: config.decodeChunk,
    },
    () => Promise.resolve(),
  );
  const rows = episodes.map(({ row }) =>
    Array.from({ length: record.lengths[row]! }, (_, t) => {
      const at = row * record.length + t;
      return { at, id: record.tokens[at]!, role: record.roles[at]!, turn: record.turns[at]! };
    }),
  );
  return { env, record, episodes, rows, exchanged, groups };
}

const CASES = [
  { env: 'number-hunt', processReward: 0.3, distractors: 2 },
  { env: 'multi-hop', processReward: 0.2, failureRate: 0.2 },
  { env: 'multi-hop', grammar: 'off', think: 'on', turnCost: 0.05 },
];

describe.each(CASES)('the record of %o', (knobs) => {
  it('holds the very ids that were forced and drawn, in order, and nothing else', async () => {
    const { rows, exchanged } = await rolled({ ...knobs, decodeChunk: 5 });
    for (const [row, tokens] of rows.entries()) {
      const happened = exchanged.flatMap(({ chunk, decoded }) => {
        const start = row * chunk.maxTokens;
        return [
          ...Array.from(chunk.forced.slice(start, start + chunk.forcedCounts[row]!), (id) => [
            id,
            chunk.forcedRoles[row],
          ]),
          ...Array.from(decoded.tokens.slice(start, start + decoded.counts[row]!), (id) => [id, Role.action]),
        ];
      });
      expect(tokens.map(({ id, role }) => [id, role])).toEqual(happened);
      expect(tokens.length).toBeGreaterThan(3);
    }
  });

  it('the token that ends a call was drawn and is trained on, the tags around its answer were not', async () => {
    const { env, rows } = await rolled(knobs);
    const word = (id: number) => env.vocabulary[id]!;
    let answered = 0;
    for (const tokens of rows) {
      for (let turn = 1; turn <= tokens.at(-1)!.turn; turn++) {
        const drawn = tokens.filter((token) => token.turn === turn && token.role === Role.action);
        const forced = tokens.filter((token) => token.turn === turn && token.role === Role.observation);
        if (!('grammar' in knobs)) expect(word(drawn.at(-1)!.id)).toMatch(/^<\/(call|answer)>$/);
        if (forced.length === 0) continue;
        expect(forced[0]!.at).toBe(drawn.at(-1)!.at + 1);
        expect([word(forced[0]!.id), word(forced.at(-1)!.id)]).toEqual(['<obs>', '</obs>']);
        answered++;
      }
    }
    expect(answered).toBeGreaterThan(ROWS / 2);
  });

  it('keeps the whole reward under the mask of agent tokens: Σ r·m = Σ r in every row', async () => {
    const { env, record, episodes, groups } = await rolled(knobs);
    const { rows, length, roles, rewards } = record;
    const zeros = new Float64Array(rows * length);
    const { masks } = credit(
      { rows, length, roles, values: zeros, oldLogprobs: zeros, refLogprobs: zeros },
      { rewards, groups },
      { ...PLAIN, masks: ON },
    );
    const inside = rewardSums(
      rewards.map((r, at) => r * masks.advantage[at]!),
      rows,
      length,
    );
    expect([...inside]).toEqual([...rewardSums(rewards, rows, length)]);
    for (const { row, reward } of episodes) expect(inside[row]).toBeCloseTo(reward, 5);
    expect(inside.some((score) => score !== 0)).toBe(true);
    expect(env.maxTokens).toBe(length);
  });

  it('the rewards of a row add up to what its own turns were paid, whatever the other rows got', async () => {
    const { record, episodes, rows } = await rolled(knobs);
    for (const { row, turns } of episodes) {
      const paid = rows[row]!.filter(({ at }) => record.rewards[at] !== 0);
      // At most one payment per turn, on its last drawn token.
      expect(paid.length).toBeLessThanOrEqual(turns);
      expect(new Set(paid.map(({ turn }) => turn)).size).toBe(paid.length);
    }
  });

  it('turns count every turn of the agent, the malformed and the last one too', async () => {
    const { episodes, rows } = await rolled(knobs);
    for (const { row, turns, toolCalls, invalidTurns, stop } of episodes) {
      expect(new Set(rows[row]!.filter(({ role }) => role === Role.action).map(({ turn }) => turn)).size).toBe(turns);
      expect(toolCalls + invalidTurns).toBeLessThanOrEqual(turns);
      if (stop !== 'answered') expect(toolCalls + invalidTurns).toBe(turns);
    }
  });
});

describe('a row that is cut off', () => {
  it('inside a call runs no tool, and is as long as what was written', async () => {
    let inside = 0;
    for (const length of [7, 8, 9, 10, 11, 14, 15]) {
      const { env, episodes, rows, record } = await rolled({ env: 'multi-hop', processReward: 0.2 }, length);
      for (const { row, stop, turns, toolCalls, invalidTurns, success } of episodes) {
        const last = env.vocabulary[rows[row]!.at(-1)!.id]!;
        if (stop !== 'tokens' || last.startsWith('</')) continue;
        inside++;
        // The turn that was cut is not one of its calls, and pays as a malformed one.
        expect(toolCalls).toBeLessThan(turns);
        expect(invalidTurns).toBe(1);
        expect(success).toBe(false);
        const paid = rows[row]!.filter(({ at, turn }) => turn === turns && record.rewards[at] !== 0);
        expect(paid.map(({ at }) => [at, record.rewards[at]])).toEqual([[(row + 1) * length - 1, Math.fround(-0.1)]]);
        expect(record.lengths[row]).toBe(length);
      }
    }
    expect(inside).toBeGreaterThan(ROWS);
  });

  it('never draws without room: no chunk asks for more tokens than are left', async () => {
    for (const length of [8, 10, 13]) {
      const { exchanged } = await rolled({ env: 'multi-hop', decodeChunk: 64 }, length);
      const written = new Int32Array(ROWS);
      for (const { chunk, decoded } of exchanged) {
        for (let row = 0; row < ROWS; row++) {
          if (chunk.states[row]! >= 0) {
            expect(written[row]! + chunk.forcedCounts[row]! + chunk.budgets[row]!).toBeLessThanOrEqual(length);
            expect(chunk.budgets[row]).toBeGreaterThan(0);
          }
          written[row]! += chunk.forcedCounts[row]! + decoded.counts[row]!;
        }
      }
      expect(Math.max(...written)).toBeGreaterThan(length - 5);
    }
  });
});

describe('what a turn is paid', () => {
  const config = parseConfig({ env: 'number-hunt' });
  const env = createEnv(config);
  const settings = envSettings(config);
  const ids = (text: string) => text.split(' ').map((word) => env.vocabulary.indexOf(word));
  const sum = (parts: Readonly<Record<string, number>>) => Object.values(parts).reduce((a, x) => a + x, 0);
  const total = (turn: (n: number) => string, change = {}) => {
    const episode = env.reset(9, settings);
    let paid = 0;
    for (let n = 0; n < config.maxTurns; n++) {
      const result = episode.step(ids(turn(n)), { ...settings, failureRate: 0, ...change });
      paid += sum(result.parts);
      if (result.stop !== null) break;
    }
    return paid;
  };

  it('running out of turns scores 0, malformed turns a penalty each, success 1: to end badly is never better', () => {
    expect(total((n) => `<call> ${n} </call>`)).toBe(0);
    expect(total(() => '<call> <call>')).toBeCloseTo(-config.invalidPenalty * config.maxTurns, 9);
    expect(total(() => '<call> 9 </call>')).toBe(1);
    expect(config.invalidPenalty).toBeGreaterThan(0);
  });

  it('the same call again and again earns no more than once', () => {
    const change = { processReward: 0.3 };
    const once = total((n) => (n === 0 ? '<call> 7 </call>' : '<call> <call>'), { ...change, invalidPenalty: 0 });
    expect(once).toBeGreaterThan(0.05);
    expect(total(() => '<call> 7 </call>', change)).toBeCloseTo(once, 9);
  });

  it('repeating well-formed blocks in one turn is malformed, not paid twice', () => {
    const episode = env.reset(9, settings);
    const result = episode.step(ids('<call> 7 </call> <call> 7 </call>'), { ...settings, processReward: 0.3 });
    expect(result.valid).toBe(false);
    expect(sum(result.parts)).toBeCloseTo(-config.invalidPenalty, 9);
  });
});

describe('the advantage mask', () => {
  it('moves no advantage of grpo on agent tokens in a real rollout', async () => {
    const { record, groups } = await rolled({ env: 'number-hunt', processReward: 0.3 });
    const { rows, length, roles, rewards } = record;
    const zeros = new Float64Array(rows * length);
    const batch = { rows, length, roles, values: zeros, oldLogprobs: zeros, refLogprobs: zeros };
    const of = (masks: typeof ON) =>
      [...credit(batch, { rewards, groups }, { ...PLAIN, estimator: 'grpo', masks }).advantages].filter(
        (_, at) => roles[at] === Role.action,
      );
    expect(of(off('advantage'))).toEqual(of(ON));
    expect(of(ON).filter((a) => Math.abs(a) > 0.1).length).toBeGreaterThan(10);
  });
});
