import { expect, test } from 'vitest';
import { Role } from '../../src/domain/tokens.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { openEpisode } from '../../src/envs/stepper.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import type { Rollouts } from '../../src/rl/rollout.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { spellingHunt, expectDrawnAfterEncoded } from './retokenizedRows.ts';

const playOnCpu = async (knobs: Readonly<Record<string, unknown>>) => {
  const { spec, play } = spellingHunt(knobs);
  return play(createCpuPolicy(spec, learningMath, { seed: 5, reason: '' }));
};

/** The agent's tokens of each row's turn, with a number of each. */
function turnOf({ record, episodes }: Rollouts, turn: number, list: ArrayLike<number> = record.tokens) {
  const { length, roles, turns } = record;
  return episodes.map((_, row) =>
    Array.from({ length }, (_token, t) => row * length + t)
      .filter((i) => roles[i] === Role.action && turns[i] === turn)
      .map((i) => list[i]!),
  );
}
const sum = (list: readonly number[]) => list.reduce((total, x) => total + x, 0);

test('a turn is drawn after the encoded tokens of the turns before it, whatever the chunk', async () => {
  const played = await playOnCpu({ retokenize: 'on' });
  expectDrawnAfterEncoded(played, 1e-4); // f32 caches against f32 passes
  const bytes = ({ record }: Rollouts) => Object.entries(record).filter(([, list]) => ArrayBuffer.isView(list));
  expect(bytes((await playOnCpu({ retokenize: 'on', decodeChunk: 5 })).played)).toEqual(bytes(played.played));
});

test('a turn keeps its text, its log-probability and its reward at its end; the next one is another', async () => {
  const [{ played: on, codec }, { played: off }] = [await playOnCpu({ retokenize: 'on' }), await playOnCpu({})];
  expect(off.record.drifted.includes(1)).toBe(false);
  const texts = (played: Rollouts, turn: number) => turnOf(played, turn).map((ids) => codec.decode(ids));
  expect(texts(on, 1)).toEqual(texts(off, 1));
  expect(turnOf(on, 1)).not.toEqual(turnOf(off, 1));
  expect(texts(on, 2)).not.toEqual(texts(off, 2));
  for (const name of ['logprobs', 'drawnLogprobs'] as const) {
    const want = turnOf(off, 1, off.record[name]).map(sum);
    // each number is rounded to f32, some thirty of about −7
    turnOf(on, 1, on.record[name]).forEach((list, row) => expect(sum(list)).toBeCloseTo(want[row]!, 3));
  }
  const paid = turnOf(on, 1, on.record.rewards);
  expect(paid.map((list) => list.findIndex((reward) => reward !== 0))).toEqual(paid.map(({ length }) => length - 1));
});

test('drifted tokens share equally what their text was drawn with; a turn that would not fit stays', () => {
  const { config, tokenizer } = spellingHunt({ retokenize: 'on' });
  const env = createEnv(config, null, tokenizer);
  const seeds = { seed: 1, environmentSeed: 1 };
  const { length: prompt } = openEpisode({ env, settings: envSettings(config) }, seeds).tokens;
  const id = (word: string) => env.vocabulary.indexOf(word);
  const drawn = ['<tool_call>', 'n', 'a', 'm', 'e', '<|im_end|>'].map(id);
  const take = (ids: readonly number[], maxTokens = env.maxTokens) => {
    const stepper = openEpisode({ env, settings: envSettings(config), maxTokens }, seeds);
    ids.forEach((token, i) => stepper.take(token, -1 - i, -i));
    return stepper.tokens.slice(prompt).filter(({ role }) => role === Role.action);
  };
  const shown = take(drawn).map(({ token, ...rest }) => [
    env.vocabulary[token],
    rest.logprob,
    rest.drawnLogprob,
    rest.drifted,
  ]);
  expect(shown).toEqual([
    ['<tool_call>', -1, -0, false],
    ['name', -3.5 * 4, -2.5 * 4, true],
    ['<|im_end|>', -6, -5, false],
  ]);
  // half of a character becomes what stands for it, which is longer
  const half = ['‹E2›', '<|im_end|>'].map(id);
  expect(take(half).length).toBeGreaterThan(half.length);
  expect(take(half, prompt + half.length).map(({ token }) => token)).toEqual(half);
});

test('with a row per turn each turn keeps what was drawn, and later turns are shown what it is encoded to', async () => {
  const { played, report, codec } = await playOnCpu({ retokenize: 'on', rows: 'turn' });
  const { record } = played;
  expect(record.drifted.includes(1)).toBe(false);
  record.roles.forEach((role, i) => {
    if (role === Role.action) expect(Math.abs(report.logprobs[i]! - record.logprobs[i]!)).toBeLessThan(1e-4);
  });
  const textOf = (ids: readonly number[]) => codec.decode(ids);
  turnOf(played, 1).forEach((ids, row) => {
    const shown = record.tokens.subarray(row * record.length, (row + 1) * record.length).join(' ');
    expect(shown).toContain(codec.encode(textOf(ids)).join(' '));
  });
});
