import { beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { random, Purpose } from '../../src/base/rng.ts';
import type { Episode, ToolEnv } from '../../src/envs/env.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { demonstrator, expertPlayer, playToEnd } from '../../src/envs/players.ts';
import { openEpisode } from '../../src/envs/stepper.ts';
import { readDeclaration } from '../../src/written/script/declaration.ts';
import { EXPERT, playTasks } from '../../src/written/plays.ts';
import { openEpisodes } from '../../src/written/openEpisodes.ts';
import { writtenEnvironment } from '../../src/written/writtenEnvironment.ts';
import { BYTES } from '../text/bytesTokenizer.ts';
import { acting, sandboxOf } from './machine.ts';
import { NUMBERS, SIGNS } from './numbers.ts';

const made = async (source: string) =>
  writtenEnvironment(readDeclaration(source), await sandboxOf(source), { chatTokenizer: BYTES, think: false });
const settings = envSettings(parseConfig({ language: 'text', processReward: 1, invalidPenalty: 0.1 }));

const STOP = BYTES.codec.stops[0] ?? 0;
const said = (ids: readonly number[]) => BYTES.codec.decode(ids);
const call = (tool: string, values: object) => [
  ...BYTES.codec.encode(`<tool_call>\n${JSON.stringify({ name: tool, arguments: values })}\n</tool_call>`),
  STOP,
];
const answer = (text: string) => [...BYTES.codec.encode(text), STOP];

let env: ToolEnv;
beforeAll(async () => {
  env = await made(NUMBERS);
});

describe('an episode of a person’s environment', () => {
  const begin = (seed = 3) => env.reset(seed, settings);
  const step = (episode: Episode, action: readonly number[]) => episode.step(action, settings);
  /** The number that is hidden, as the expert says it. */
  const hidden = (episode: Episode) => Number(/"n": (\d)/.exec(said(episode.expert()))?.[1]);

  test('opens with the comment of the class, its tools with their types, and what reset() returns', () => {
    const prompt = said(begin(17).prompt);
    expect(prompt).toContain('Find the number.\nguess(n: number): Guesses the number.\nask(loud: boolean): ');
    expect(prompt).toContain('train 17');
  });

  test('takes its task from the seed, among the tasks of its split; a test task is never one of training', () => {
    expect(begin(1003).key).toBe(begin(3).key);
    expect(env.splits.heldOut?.reset(2 ** 31 + 25, settings).key).toBe('test 13'); // (2³¹ + 25) mod 20
    expect(new Set([begin(3).key, env.splits.heldOut?.reset(3, settings).key]).size).toBe(2);
  });

  test('calls each tool with its arguments, and pays turnReward() for the call', () => {
    const episode = begin();
    expect(said(step(episode, call('ask', { loud: true })).observation)).toContain(
      hidden(episode) % 2 === 0 ? 'even' : 'odd',
    );
    const wrong = (hidden(episode) + 5) % 10;
    const turn = step(episode, call('guess', { n: wrong }));
    expect(turn.parts).toMatchObject({ process: 0.25, outcome: 0, format: 0 });
    expect(turn).toMatchObject({ valid: true, toolCall: true, stop: null });
  });

  test('pays the parts of getReward() by their weights when it is done, and counts as solved by the first part', () => {
    const episode = begin();
    const turn = step(episode, call('guess', { n: hidden(episode) }));
    expect(turn).toMatchObject({ success: true, stop: 'found' });
    expect(turn.parts.outcome).toBeCloseTo(1.5, 12); // 1 · right + ½ · close
  });

  test('answers an error of a tool with its words, and charges the format penalty', () => {
    const turn = step(begin(), call('guess', { n: 12 }));
    expect(said(turn.observation)).toContain('At most 9.');
    expect(turn).toMatchObject({ valid: false, toolCall: false, stop: null });
    expect(turn.parts.format).toBe(-0.1);
  });

  test.each([
    ['a tool that there is not', call('peek', {}), 'one of guess, ask'],
    ['an argument of another type', call('ask', { loud: 'yes' }), 'true or false'],
    ['an argument of another tool', call('guess', { loud: true }), 'the argument loud of guess'],
  ])('names the mistake in %s without a call', (_, action, words) => {
    const turn = step(begin(), action);
    expect(said(turn.observation)).toContain(words);
    expect(turn).toMatchObject({ valid: false, parts: { format: -0.1 } });
  });

  test('ends at a text without a call, and at its last turn; both are paid what getReward() says', () => {
    expect(step(begin(), answer('seven'))).toMatchObject({ stop: 'answered', success: false });
    const episode = begin();
    const wrong = call('guess', { n: (hidden(episode) + 5) % 10 });
    const turns = [wrong, wrong, wrong].map((action) => step(episode, action));
    expect(turns.map(({ stop }) => stop)).toEqual([null, null, 'turns']);
    expect(turns[2]?.parts.outcome).toBeCloseTo(0.25, 12); // ½ · (1 − 5/10)
    expect(turns[2]?.observation).toEqual([]);
  });
});

test.each([
  [-0, 'Infinity', null], // JSON has no sign of a zero, in the page and in exports
  [1e39, '', /once = 1e\+39.*a million.*train task 0/],
  [6e5, '', /The reward is 1200000.*a million.*train task 0/],
])('a call with %d is played as in an export, and a reward beyond a million is a fault', async (n, reply, fault) => {
  const episode = (await made(SIGNS)).reset(0, settings);
  const turn = episode.step(call('act', { n }), settings);
  expect(said(turn.observation)).toMatch(reply);
  const end = () => episode.step(call('act', { n }), settings).parts.outcome;
  if (fault) expect(end).toThrow(fault);
  else expect(end()).toBe(0);
});

test('the expert solves every task; a demonstrator who is right half the time makes well-formed calls and solves some', () => {
  const table = { env, settings };
  const seeds = Array.from({ length: 40 }, (_, seed) => ({ seed, environmentSeed: seed }));
  const played = (player: Parameters<typeof playToEnd>[1]) =>
    seeds.map((each) => playToEnd(openEpisode(table, each), player));
  expect(played(expertPlayer).every(({ success }) => success)).toBe(true);
  const half = played(demonstrator(0.5, random(1, Purpose.demonstration, 0, 0)));
  const solved = half.filter(({ success, finishedTurns: taken }) => success && taken.length === 1).length;
  expect(half.every(({ finishedTurns: taken }) => taken.every(({ valid }) => valid))).toBe(true);
  expect(solved).toBeGreaterThan(10); // 22 in the mean: half the time right, else one of ten numbers; σ 3
  expect(solved).toBeLessThan(34);
});

test('an answer that is longer than all that were measured is cut to the room there is, with a mark', async () => {
  // no player of the measurement asks for anything louder than 40
  const source = acting(
    'return word === "more" ? "0123456789".repeat(40) : "short";',
    '',
    'static maxTurns = 3; expert() { return { tool: "act", arguments: { word: "mild" } }; }',
  );
  const brief = await made(source);
  const { observation } = brief.reset(0, settings).step(call('act', { word: 'more' }), settings);
  expect(said(observation)).toMatch(/\n(?:0123456789)*0?1?2?…/);
  expect(said(observation)).not.toContain('0123456789');
});

test('episodes that the virtual machine has no room for any more are played again to where they were', async () => {
  const counting = NUMBERS.replace('last = -1;', 'last = -1; calls = 0;').replace(
    'this.paid = 0.25;',
    'this.paid = 0.25; return `${++this.calls} calls, `;',
  );
  const few = openEpisodes(await sandboxOf(counting), 2);
  const many = openEpisodes(await sandboxOf(counting), 100);
  const tasks = Array.from({ length: 5 }, (_, index) => ({ split: 'train' as const, index }));
  const [squeezed, roomy] = [few, many].map((begin) => {
    const episodes = tasks.map(begin);
    const calls = [2, 7, 5].flatMap((n) =>
      episodes.map((episode) => episode.ask([{ op: 'call', tool: 'guess', values: [n] }, { op: 'reward' }])),
    );
    return [episodes.map(({ prompt }) => prompt), calls];
  });
  expect(squeezed).toEqual(roomy);
  expect(JSON.stringify(roomy)).toContain('3 calls, ');
});

test('a tool that never ends is named with its line, its task and its turn', async () => {
  const source = acting(
    'if (word === "hang") for (;;);\nreturn "x";',
    '',
    'expert() { return { tool: "act", arguments: { word: "abcd" } }; }',
  );
  const hanging = await made(source);
  const episode = hanging.reset(4, settings);
  episode.step(call('act', { word: 'x' }), settings);
  expect(() => episode.step(call('act', { word: 'hang' }), settings)).toThrow(
    expect.objectContaining({
      problems: [
        expect.objectContaining({
          line: 6,
          what: expect.stringMatching(/computed too long.*train task 4, turn 2/) as string,
        }),
      ],
    }) as Error,
  );
});

test('an environment whose episodes would be longer than can be trained on is refused, with what makes them long', async () => {
  const wordy = NUMBERS.replace("return split + ' ' + index", "return 'x'.repeat(4000)");
  await expect(made(wordy)).rejects.toThrow(/a prompt of 4000 tokens.*maxTurns/s);
});

test('without its file, an environment that a person wrote is refused with the command that trains on it', () => {
  const config = parseConfig({ env: 'your-environment', language: 'text' });
  expect(() => createEnv(config, null, BYTES)).toThrow(/npm run train -- --env-file/);
});

// test/python/test_environments.py has the same of exported Python
test('the expert draws the same numbers in training and in the check: of its turn, its task and its split', async () => {
  const source = NUMBERS.replace('expert() { return { tool: "guess", arguments: { n: this.hidden } }; }', 'expert(draw) { return { tool: "guess", arguments: { n: 1000 + draw.int(1000) } }; }'); // prettier-ignore
  const declaration = readDeclaration(source);
  // seed 0 draws the task, seeds 1, 2 and 3 the expert's turns; then the task's index, and 1 for a test task
  const drawn = (split: 'train' | 'test', index: number) =>
    [1, 2, 3].map((turn) => 1000 + random(turn, Purpose.environment, index, split === 'train' ? 0 : 1).int(1000));
  expect([drawn('train', 5), drawn('test', 5)]).toEqual([
    [1663, 1793, 1097],
    [1400, 1010, 1248],
  ]);
  const trained = await made(source);
  const tasks = [
    { split: 'train', index: 5, episode: trained.reset(5, settings) },
    { split: 'test', index: 5, episode: trained.splits.heldOut!.reset(5, settings) },
  ] as const;
  for (const { split, index, episode } of tasks) {
    const moves = [0, 1, 2].map(() => {
      const move = Number(/"n": (\d+)/.exec(said(episode.expert()))?.[1]);
      episode.step(call('ask', { loud: true }), settings);
      return move;
    });
    expect(moves, split).toEqual(drawn(split, index));
  }
  const sandbox = await sandboxOf(source);
  const checked = playTasks(sandbox, declaration.tools, tasks, { seed: 0, maxTurns: 3, player: EXPERT });
  expect(checked.map(({ moves }) => moves.map((move) => 'values' in move && move.values['n']))).toEqual(tasks.map(({ split, index }) => drawn(split, index))); // prettier-ignore
  sandbox.dispose();
});
