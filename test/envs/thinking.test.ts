import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { ToolEnv, TurnResult } from '../../src/envs/env.ts';
import { createEnv, envSettings } from '../../src/envs/index.ts';
import { thoughtShare } from '../../src/envs/episodeRules.ts';
import { random } from '../../src/base/rng.ts';

const ids = (env: ToolEnv, text: string) => text.split(' ').map((word) => env.vocabulary.indexOf(word));
const share = (thought: string, needs: string) =>
  thoughtShare(thought.split(' ').filter(Boolean), needs.split(' ').filter(Boolean));

describe('a think span', () => {
  it.each([
    ['ada boss', 'ada boss', 1],
    ['boss', 'ada boss', 1],
    ['ada ben', 'ada boss', 1 / 2],
    ['ada carl boss', 'ada boss', 2 / 3],
    ['carl', 'ada boss', 0],
    ['', 'ada boss', 0],
    ['ada', '', 0],
  ])('of “%s” where “%s” is needed earns %f', (thought, needs, want) => {
    expect(share(thought, needs)).toBe(want);
  });

  it('earns no more for words said again', () => {
    expect(share('ada ada', 'ada boss')).toBe(1 / 2);
    expect(share('ada ada ada', 'ada boss')).toBe(1 / 3);
  });
});

describe.each([
  { env: 'number-hunt', think: 'on', thinkReward: 0.25 },
  { env: 'multi-hop', think: 'on', thinkReward: 0.25, oneHopShare: 0 },
  { env: 'multi-hop', think: 'on', thinkReward: 0.25, hops: 3, distractors: 2 },
])('thinking in %o', (knobs) => {
  const config = parseConfig(knobs);
  const env = createEnv(config);
  const settings = envSettings(config);

  it('pays the expert in full, every turn', () => {
    for (let seed = 0; seed < 40; seed++) {
      const episode = env.reset(seed, settings);
      for (let over = false; !over;) {
        const action = episode.expert();
        const { parts, thinkEnd, valid, stop } = episode.step(action, settings);
        expect(valid).toBe(true);
        expect(action[thinkEnd]).toBe(ids(env, '</think>')[0]);
        expect(parts.think).toBe(0.25);
        over = stop !== null;
      }
    }
  });

  it('is paid whether or not the action is right', () => {
    const episode = env.reset(3, settings);
    const right = episode.expert();
    const span = right.slice(0, right.indexOf(ids(env, '</think>')[0]!) + 1);
    const wrong = config.env === 'number-hunt' ? '<call> 0 </call>' : '<answer> ada </answer>';
    expect(episode.step([...span, ...ids(env, wrong)], settings)).toMatchObject({
      parts: { think: 0.25, outcome: 0 },
      thinkEnd: span.length - 1,
      success: false,
    });
  });

  it('is paid nothing in a malformed turn, nor by an open, nested or empty span', () => {
    const expert = env.reset(3, settings).expert();
    const close = expert.indexOf(ids(env, '</think>')[0]!);
    for (const action of [
      expert.slice(0, close + 1),
      [...expert.slice(0, close), ...expert.slice(close + 1)],
      [...ids(env, '<think> <obs>'), ...expert.slice(1)],
      [...ids(env, '<think> </think>'), ...expert.slice(close + 1)],
      [...expert.slice(0, close + 1), ...expert],
    ]) {
      expect(env.reset(3, settings).step(action, settings).parts.think).toBe(0);
    }
  });

  it('earns once in a loop of thoughts, and again only after progress', () => {
    for (let seed = 0; seed < 20; seed++) {
      const episode = env.reset(seed, settings);
      const expert = episode.expert();
      const close = expert.indexOf(ids(env, '</think>')[0]!);
      // thinks of the right thing and then calls for something else, again and again
      const useless = config.env === 'number-hunt' ? '<call> 0 </call>' : '<call> ada boss </call>';
      const action = [...expert.slice(0, close + 1), ...ids(env, useless)];
      const turns: TurnResult[] = [];
      while (turns.at(-1)?.stop === undefined || turns.at(-1)?.stop === null) {
        turns.push(episode.step(action, { ...settings, processReward: 1 }));
      }
      const progressed = turns.filter(({ parts }) => parts.process > 0).length;
      expect(progressed).toBeLessThanOrEqual(1);
      const thought = turns.reduce((sum, { parts }) => sum + parts.think, 0);
      expect(thought).toBeGreaterThan(0);
      expect(thought).toBeLessThanOrEqual(0.25 * (1 + progressed));
    }
  });

  it('garbage inside a span neither throws nor scores', () => {
    const draw = random(5, 5, 1);
    for (let n = 0; n < 500; n++) {
      const action = Array.from({ length: draw.int(env.maxTurnTokens + 1) }, () => draw.int(env.vocabulary.length));
      const result = env.reset(n, settings).step([...ids(env, '<think>'), ...action], { ...settings, grammar: false });
      if (!result.valid) expect(result.parts).toMatchObject({ outcome: 0, process: 0, think: 0 });
      expect(result.parts.think).toBeLessThanOrEqual(0.25);
    }
  });

  it('is demonstrated in half of the turns', () => {
    const draw = random(8, 7, 1);
    const turns = Array.from({ length: 400 }, (_, seed) => env.demonstration(seed, settings).demonstrate(0.3, draw));
    const share = turns.filter(([first]) => first === ids(env, '<think>')[0]).length / turns.length;
    expect(share).toBeCloseTo(0.5, 1); // standard error .025
  });
});
