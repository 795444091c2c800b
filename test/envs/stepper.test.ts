import { describe, expect, it, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { demonstrator, expertPlayer, playToEnd, randomPlayer } from '../../src/envs/players.ts';
import { openEpisode, type Stepper } from '../../src/envs/stepper.ts';
import { Purpose, random } from '../../src/base/rng.ts';
import { rowLength, rowsPerTurn } from '../../src/envs/rowsPerTurn.ts';
import { Role } from '../../src/domain/tokens.ts';

/** A turn’s or an answer’s three tokens in the first turn. */
const three = (role: Role) => [role, role, role].map((each) => [each, 1]);

const SEEDS = { seed: 5, environmentSeed: 5 };

/** An episode of number hunt with six turns, and how to write words in it. */
function hunt(knobs: Readonly<Record<string, unknown>> = {}, maxTokens?: number) {
  const config = parseConfig({ env: 'number-hunt', range: 16, maxTurns: 6, turnCost: 0.05, ...knobs });
  const env = createEnv(config);
  const table = { env, settings: envSettings(config), ...(maxTokens !== undefined && { maxTokens }) };
  const stepper = openEpisode(table, SEEDS);
  const id = (word: string) => env.vocabulary.indexOf(word);
  const say = (words: string) => words.split(' ').forEach((word) => stepper.take(id(word)));
  const read = () => stepper.tokens.map(({ token }) => env.vocabulary[token]).join(' ');
  return { env, table, stepper, id, say, read };
}

describe('an episode under way', () => {
  it('begins with the prompt, and has the agent write a turn before the environment answers', () => {
    const { stepper, say, read } = hunt();
    const prompt = read();
    expect(stepper.tokens.every(({ role, turn }) => role === Role.prompt && turn === 0)).toBe(true);
    say('<call> 9');
    expect([stepper.turnLength, stepper.turn, read()]).toEqual([2, 1, `${prompt} <call> 9`]);
    say('</call>');
    expect(read()).toMatch(/<call> 9 <\/call> <obs> (higher|lower) <\/obs>$/);
    expect([stepper.turnLength, stepper.turn]).toEqual([0, 2]);
    const roles = stepper.tokens.slice(prompt.split(' ').length).map(({ role, turn }) => [role, turn]);
    expect(roles).toEqual([...three(Role.action), ...three(Role.observation)]);
    expect(stepper.finishedTurns).toMatchObject([{ turn: 1, valid: true, toolCall: true, waited: 0 }]);
  });

  it('says what may be drawn, and how much before the environment speaks', () => {
    const { env, stepper, id, say } = hunt();
    expect([stepper.allowed(), stepper.budget]).toEqual([[id('<call>')], 3]);
    say('<call>');
    expect(stepper.allowed().map((token) => env.vocabulary[token])).toEqual(
      Array.from({ length: 16 }, (_, n) => `${n}`),
    );
    expect([stepper.budget, stepper.allows(id('7')), stepper.allows(id('</call>'))]).toEqual([2, true, false]);
    for (const none of [-1, 0.5, NaN, env.vocabulary.length]) expect(stepper.allows(none)).toBe(false);
  });

  it('refuses what cannot stand there and what comes after the end, and is as it was', () => {
    const { stepper, id, say, read } = hunt();
    say('<call>');
    const before = read();
    expect(() => stepper.take(id('<call>'))).toThrow(/the grammar does not allow token \d+ there/);
    expect(read()).toBe(before);
    say('3 </call>');
    playToEnd(stepper, expertPlayer);
    expect(stepper).toMatchObject({ stop: 'found', success: true, budget: 0 });
    expect([stepper.allowed(), stepper.allows(id('<call>'))]).toEqual([[], false]);
    expect(() => stepper.take(id('<call>'))).toThrow(/token \d+ comes after the end/);
    expect(stepper.tokens.at(-1)!.role).toBe(Role.action);
  });

  it.each([
    ['on', 2, Role.action],
    ['off', 5, Role.observation],
  ] as const)('with rewardOnLastAction %s pays a turn at its token %i', (rewardOnLastAction, later, role) => {
    const { stepper, say } = hunt({ rewardOnLastAction });
    const first = stepper.tokens.length;
    say('<call> 9 </call>');
    expect(stepper.tokenRewards).toEqual([{ tokenIndex: first + later, part: 'turnCost', reward: -0.05 }]);
    expect([stepper.tokens.length, stepper.tokens[first + later]!.role]).toEqual([first + 6, role]);
    say('<call> 8 </call>');
    expect(stepper.rewardSums).toMatchObject({ turnCost: -0.1, outcome: 0 });
  });

  it('pays a think span on its closing tag, wherever the rest is paid', () => {
    const { stepper, say, id } = hunt({ think: 'on', thinkReward: 0.2, rewardOnLastAction: 'off' });
    say('<call> 9 </call>');
    say('<call> 4 </call>');
    for (const token of stepper.episode.expert()) stepper.take(token);
    const thought = stepper.tokenRewards.filter(({ part }) => part === 'think');
    expect(thought.length).toBe(1);
    expect(stepper.tokens[thought[0]!.tokenIndex]!.token).toBe(id('</think>'));
  });

  it('is cut off where no room is left: inside a turn it pays as a malformed one, else on the agent’s own token where the answer does not fit', () => {
    const { length } = hunt().stepper.tokens;
    const inside = hunt({}, length + 2);
    expect(inside.stepper.budget).toBe(2);
    inside.say('<call> 9');
    expect(inside.stepper).toMatchObject({
      stop: 'tokens',
      tokenRewards: [{ tokenIndex: length + 1, part: 'format', reward: -0.1 }],
      finishedTurns: [{ turn: 1, valid: false, toolCall: false }],
    });
    for (const [maxTokens, stop] of [
      [length + 6, 'tokens'], // it could be read, but nothing could be drawn after it
      [length + 7, null],
    ] as const) {
      const tight = hunt({}, maxTokens);
      tight.say('<call> 9 </call>');
      expect(tight.stepper.stop).toBe(stop);
      expect(tight.stepper.tokens.length).toBe(length + (stop === null ? 6 : 3));
      expect(tight.stepper.tokenRewards[0]!.tokenIndex).toBe(length + 2);
    }
    expect(hunt({}, length).stepper).toMatchObject({ stop: 'tokens', budget: 0 });
    expect(() => hunt({}, length - 1)).toThrow(/the prompt has 2 tokens, and at most 1 fit/);
  });

  it('notes which tokens were choices of one', () => {
    const { stepper, say } = hunt();
    say('<call> 9 </call>');
    const turn = stepper.tokens.filter(({ role }) => role === Role.action);
    expect(turn.map(({ onlyLegal: single }) => single)).toEqual([true, false, true]);
  });
});

test.each(['number-hunt', 'multi-hop', 'frozen-lake', 'calculator'] as const)(
  'the same tokens lead through %s the same way, whoever writes them',
  (name) => {
    const config = parseConfig({ env: name, failureRate: 0.2, latency: 0.5, slip: 0.2, distractors: 1 });
    const env = createEnv(config);
    const table = { env, settings: envSettings(config) };
    const seen = ({
      tokens: written,
      tokenRewards: payments,
      finishedTurns: taken,
      rewardSums: parts,
      stop,
      episode,
    }: Stepper) => ({
      ...{ written, payments, taken, parts, stop },
      view: episode.view(),
    });
    const draws = () => random(3, Purpose.baseline);
    for (const player of [() => expertPlayer, () => demonstrator(0.3, draws()), () => randomPlayer(draws())]) {
      const played = playToEnd(openEpisode(table, SEEDS), player());
      const again = openEpisode(table, SEEDS);
      for (const { token, role } of played.tokens) if (role === Role.action) again.take(token);
      expect(seen(again)).toEqual(seen(played));
      expect(played.stop).not.toBe(null);
    }
  },
);

test('a player who has nothing to say before the end is a mistake, not an endless episode', () => {
  const { stepper } = hunt();
  expect(() => playToEnd(stepper, () => [])).toThrow(/number-hunt turn 1: the player returned no tokens/);
});

describe('an episode whose turns are rows of their own', () => {
  const play = (turns: number, maxTokens = 500, actions = true) => {
    const { table, env, id } = hunt({}, maxTokens);
    const stepper = openEpisode({ ...table, shown: { turns, actions } }, SEEDS);
    for (const n of ['0', '1', '2'])
      for (const word of ['<call>', n, '</call>']) if (stepper.stop === null) stepper.take(id(word));
    const words = stepper.tokens.map(({ token }) => env.vocabulary[token] ?? '');
    const contexts = new Map<number, { word: string; role: number; turn: number }[]>();
    stepper.tokens.forEach(({ contextStart, role, turn }, t) =>
      contexts.set(contextStart, [...(contexts.get(contextStart) ?? []), { word: words[t]!, role, turn }]),
    );
    const text = (tokens: readonly { readonly word: string }[]) => tokens.map(({ word }) => word).join(' ');
    return { stepper, texts: [...contexts.values()].map(text), contexts: [...contexts.values()] };
  };
  const [first, second, third] = [0, 1, 2].map((n) => `<call> ${n} </call> <obs> higher </obs>`);

  it('shows each turn the prompt, the last turns and the newest observation', () => {
    expect(play(1).texts).toEqual([
      '<bos> find <call> 0 </call>',
      `<bos> find ${first} <call> 1 </call>`,
      `<bos> find ${second} <call> 2 </call>`,
      `<bos> find ${third}`,
    ]);
    expect(play(2).texts[3]).toBe(`<bos> find ${second} ${third}`);
    expect(play(Infinity).texts[3]).toBe(`<bos> find ${first} ${second} ${third}`);
    expect(play(0).texts[3]).toBe('<bos> find <obs> higher </obs>');
    const answers = Array<string>(3).fill('<obs> higher </obs>').join(' ');
    expect(play(Infinity, 500, false).texts[3]).toBe(`<bos> find ${answers}`);
  });

  it('gives what is shown again the role of a prompt and the turn of its observation, which stays one', () => {
    const shown = play(2).contexts[3]!;
    const roles = shown.map(({ role }) => role);
    expect(roles).toEqual([...Array<number>(11).fill(Role.prompt), ...three(Role.observation).map(([role]) => role)]);
    expect(new Set(shown.map(({ turn }) => turn))).toEqual(new Set([3]));
  });

  it('counts what is shown again against the token limit', () => {
    // 5 + 11 + 17 tokens, and at least one more: the next context shows 14
    expect(play(2, 5 + 11 + 17 + 14 + 1).stepper.stop).toBeNull();
    expect(play(2, 5 + 11 + 17 + 14).stepper.stop).toBe('tokens');
  });

  it('pays on the observation’s last token if rewards go there', () => {
    const { table, id } = hunt({ rewardOnLastAction: 'off' });
    const stepper = openEpisode({ ...table, maxTokens: 500, shown: { turns: 1, actions: true } }, SEEDS);
    for (const word of ['<call>', '0', '</call>']) stepper.take(id(word));
    expect(stepper.tokenRewards.map(({ tokenIndex, reward }) => [tokenIndex, reward])).toEqual([[12, -0.05]]);
    expect(stepper.tokens).toHaveLength(13);
  });

  it.each([
    ['number-hunt', {}],
    ['number-hunt', { shown: 'last-turns', shownTurns: 2, distractors: 3, maxTurns: 6 }],
    ['calculator', { shown: 'last-turns' }],
    ['multi-hop', {}],
    ['frozen-lake', { maxTurns: 8 }],
  ] as const)('has room in a row for every episode of %s with %j', (env, knobs) => {
    const config = parseConfig({ env, rows: 'turn', ...knobs });
    const made = createEnv(config);
    const maxTokens = rowLength(config, made);
    expect(maxTokens).toBeGreaterThan(made.maxTokens);
    const settings = { ...envSettings(config), grammar: false };
    let longest = 0;
    for (let seed = 0; seed < 40; seed++) {
      const conditions = { env: made, settings, maxTokens, ...rowsPerTurn(config) };
      const stepper = openEpisode(conditions, { seed, environmentSeed: seed });
      const draw = random(seed, Purpose.demonstration);
      playToEnd(stepper, seed % 2 ? randomPlayer(draw) : demonstrator(0.3, draw));
      expect(stepper.stop).not.toBe('tokens');
      longest = Math.max(longest, stepper.tokens.length);
    }
    expect(longest).toBeGreaterThan(made.maxTokens);
    expect(longest).toBeLessThanOrEqual(maxTokens);
  });
});
