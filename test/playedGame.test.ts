import { describe, expect, it } from 'vitest';
import { FIELDS, parseConfig } from '../src/config/config.ts';
import { createEnv, envSettings } from '../src/envs/index.ts';
import type { Metrics } from '../src/domain/metrics.ts';
import { openGame } from '../src/session/playedGame.ts';
import { PRESETS } from '../src/config/presets.ts';
import type { PlayedTask } from '../src/domain/playedTask.ts';
import type { Answer } from '../src/wire/questions.ts';
import { rollout } from '../src/rl/rollout.ts';
import { trainSampling } from '../src/rl/settings.ts';
import { openSession } from '../src/session/session.ts';
import { Role } from '../src/domain/tokens.ts';
import { factsFor } from './envs/factFiles.ts';
import { fakePolicy } from './rl/fakePolicy.ts';
import { bareHost } from './bareHost.ts';
import { isWeekly } from './weekly.ts';

const ROWS = isWeekly ? 24 : 8;

function seated(task: PlayedTask): Extract<Answer, { kind: 'play' }> {
  const answer = openGame()(task, { facts: factsFor(task.config.env) });
  if (answer.kind !== 'play') throw new Error(answer.kind === 'refused' ? answer.message : answer.kind);
  return answer;
}

function configOf(env: string, knobs: Readonly<Record<string, unknown>>) {
  const preset = Object.entries(PRESETS).find(([name]) => name === env)?.[1].set;
  const paid = { processReward: 0.5, turnCost: 0.05, thinkReward: 0.2, failureRate: 0.1 };
  return parseConfig({ ...preset, env, ...paid, ...knobs });
}

const MODES = [
  { grammar: 'on', think: 'off' },
  { grammar: 'on', think: 'on' },
  { grammar: 'off', think: 'off' },
];

describe.each(FIELDS.env.choices.flatMap((env) => MODES.map((mode) => ({ env, ...mode }))))(
  '%o',
  ({ env: name, ...mode }) => {
    const config = configOf(name, mode);
    const env = createEnv(config, factsFor(name));
    const settings = envSettings(config);

    it('plays the tokens of a rollout to the same words, masks, rewards and end', async () => {
      const policy = fakePolicy(ROWS, env.maxTokens, env.vocabulary.length);
      const { record, episodes } = await rollout(
        policy,
        env,
        {
          tasks: Array.from({ length: ROWS }, (_, row) => ({ seed: 900 + row, environmentSeed: 70 + row })),
          groups: Int32Array.from({ length: ROWS }, (_, row) => row),
          settings,
          sampling: trainSampling(config, 1),
          chunk: 5,
        },
        () => Promise.resolve(),
      );
      for (const episode of episodes) {
        const from = episode.row * record.length;
        const [tokens, roles, turns] = [record.tokens, record.roles, record.turns].map((of) =>
          Array.from(of.subarray(from, from + (record.lengths[episode.row] ?? 0))),
        );
        const written = tokens!.filter((_, t) => roles![t] === Role.action);
        const { played, expert } = seated({
          config,
          seed: episode.seed,
          environmentSeed: episode.environmentSeed,
          tokens: written,
        });
        expect(Array.from(played.tokens)).toEqual(tokens);
        expect(Array.from(played.roles)).toEqual(roles);
        expect(Array.from(played.turns)).toEqual(turns);
        expect(played).toMatchObject({ stop: episode.stop, success: episode.success, question: episode.question });
        expect(played.reward).toBeCloseTo(episode.reward, 6); // sums in another order
        for (const [part, amount] of Object.entries(episode.parts)) {
          expect(
            played.finishedTurns.reduce((sum, { parts }) => sum + parts[part as keyof typeof parts], 0),
          ).toBeCloseTo(amount, 6);
        }
        expect(played.view).toEqual(episode.view);
        expect(played.legal).toEqual([]);
        expect(expert?.stop).not.toBe(null);
      }
    });

    it('offers the words that are legal next and refuses the others, at every place of the expert’s episode', () => {
      const { expert } = seated(playedOut());
      const written = Array.from(expert!.tokens).filter((_, t) => expert!.roles[t] === Role.action);
      const table = openGame();
      for (let count = 0; count < Math.min(written.length, 7); count++) {
        const tokens = written.slice(0, count);
        const { played } = seated({ config, seed: 41, environmentSeed: 8, tokens });
        expect(played.legal).toContain(written[count]);
        expect(played.stop).toBe(null);
        env.vocabulary.forEach((_, id) => {
          const answer = table(
            { config, seed: 41, environmentSeed: 8, tokens: [...tokens, id] },
            { facts: factsFor(name) },
          );
          expect(answer.kind).toBe(played.legal.includes(id) ? 'play' : 'refused');
        });
      }
      expect(
        table({ config, seed: 41, environmentSeed: 8, tokens: [...written, 2] }, { facts: factsFor(name) }),
      ).toMatchObject({
        kind: 'refused',
        message: expect.stringMatching(/after the end/) as string,
      });
    });

    // the offered words in turn, so that turns end
    function playedOut(): PlayedTask {
      const tokens: number[] = [];
      for (;;) {
        const { played } = seated({ config, seed: 41, environmentSeed: 8, tokens });
        if (played.stop !== null) return { config, seed: 41, environmentSeed: 8, tokens };
        tokens.push(played.legal[tokens.length % played.legal.length]!);
      }
    }
  },
);

describe('the table', () => {
  it('counts the words of the turn under way, and starts over with the next', () => {
    const config = parseConfig({ range: 16 });
    const env = createEnv(config);
    const id = (word: string) => env.vocabulary.indexOf(word);
    const draft = (words: string) =>
      seated({ config, seed: 5, environmentSeed: 5, tokens: words.split(' ').filter(Boolean).map(id) }).played
        .turnLength;
    expect(['', '<call>', '<call> 9', '<call> 9 </call>', '<call> 9 </call> <call>'].map(draft)).toEqual([
      0, 1, 2, 0, 1,
    ]);
  });

  it('refuses knobs that cannot be together, naming them', () => {
    const config = { ...parseConfig(), env: 'multi-hop', hops: 4, maxTurns: 2 } as const;
    expect(openGame()({ config, seed: 1, environmentSeed: 1, tokens: [] })).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('maxTurns: 2') as string,
    });
  });

  it('leaves a run as it is: the same numbers and weights with and without play between its events', async () => {
    const config = parseConfig({
      ...{ prompts: 4, groupSize: 2, minibatches: 2, updates: 3, evalEvery: 1, evalTasks: 8, warmStart: 'none' },
      ...{ width: 8, heads: 2, kvHeads: 2, ffn: 8, seed: 3 },
    });
    const run = async (between: () => void) => {
      const host = { ...bareHost, yieldToEvents: () => Promise.resolve().then(between) };
      const session = await openSession(config, host, () => undefined);
      const metrics: Metrics[] = [];
      for await (const event of session.events) {
        between();
        if (event.type === 'metrics') metrics.push(event.values);
        if (event.type === 'running') break;
      }
      return { metrics, weights: await session.parametersHash() };
    };
    const table = openGame();
    let games = 0;
    const disturbed = await run(() => {
      const answer = table({
        config,
        seed: games++,
        environmentSeed: games,
        tokens: createEnv(config).reset(games, envSettings(config)).expert(),
      });
      expect(answer.kind).toBe('play');
    });
    expect(games).toBeGreaterThan(10);
    expect(disturbed).toEqual(await run(() => undefined));
  });
});
