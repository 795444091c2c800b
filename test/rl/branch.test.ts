import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { createEnv } from '../../src/envs/index.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import { branch } from '../../src/rl/branch.ts';
import { Role } from '../../src/domain/tokens.ts';
import { fakePolicy } from './fakePolicy.ts';

const config = (decodeChunk: number) => parseConfig({ env: 'number-hunt', maxTurns: 5, decodeChunk });
const TASK = { seed: 9, environmentSeed: 9, temperature: 1, drawIndex: 3 };

async function branched(words: string, decodeChunk = 4, changes: Partial<typeof TASK> = {}) {
  const chosen = config(decodeChunk);
  const env = createEnv(chosen);
  const policy = fakePolicy(1, env.maxTokens, env.vocabulary.length);
  const agentPrefix = words === '' ? [] : words.split(' ').map((word) => env.vocabulary.indexOf(word));
  const batch = await branch(policy, env, chosen, { ...TASK, ...changes, agentPrefix });
  const said = (role: Role) =>
    Array.from(batch.tokens.slice(0, batch.lengths[0]))
      .filter((_, t) => batch.roles[t] === role)
      .map((id) => env.vocabulary[id])
      .join(' ');
  return { batch, policy, action: said(Role.action), observed: said(Role.observation) };
}

/** What a batch holds that a chunk's size could change. */
const written = ({ tokens, roles, turns, states, episodes }: BatchView) => ({ tokens, roles, turns, states, episodes });

describe('a branch', () => {
  test.each(['', '<call>', '<call> 3', '<call> 3 </call>', '<call> 3 </call> <call> 12 </call> <call>'])(
    'that begins with “%s” says that first and the policy’s words after it, whatever a chunk holds',
    async (script) => {
      const whole = await branched(script, 64);
      expect(whole.action.startsWith(script)).toBe(true);
      expect(whole.action.length).toBeGreaterThan(script.length);
      if (script.includes('3 </call>')) expect(whole.observed).toMatch(/^<obs> (higher|lower) <\/obs>/);
      for (const chunk of [1, 2, 3, 5, 7])
        expect(written((await branched(script, chunk)).batch)).toEqual(written(whole.batch));
    },
  );

  test('draws by its take, and the same take is the same branch', async () => {
    const takes = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((take) => branched('<call> 3 </call>', 4, { drawIndex: take })),
    );
    expect(new Set(takes.map(({ action }) => action)).size).toBeGreaterThan(2);
    expect((await branched('<call> 3 </call>', 4, { drawIndex: 5 })).action).toBe(takes[5]!.action);
    const { policy } = takes[2]!;
    expect(policy.samplings[0]).toMatchObject({ update: 2, temperature: 1, greedy: false });
  });

  test('is scored at its temperature without reference and values, and nothing learns from it', async () => {
    const { batch, policy } = await branched('<call> 3 </call>', 4, { temperature: 0.5 });
    expect(policy.scored).toEqual([{ temperature: 0.5, reference: false, values: false }]);
    expect(policy.loaded[0]!.tokens).toEqual(batch.tokens);
    expect([policy.learned, batch.update, [...batch.kept]]).toEqual([[], 0, [0]]);
  });

  test('refuses a word that cannot stand where it is put, and a policy of several rows', async () => {
    await expect(branched('<call> <call>')).rejects.toThrow(/the grammar does not allow token 4 there/);
    const chosen = config(4);
    const env = createEnv(chosen);
    const two = fakePolicy(2, env.maxTokens, env.vocabulary.length);
    await expect(branch(two, env, chosen, { ...TASK, agentPrefix: [] })).rejects.toThrow(/the policy has 2 rows/);
  });
});
