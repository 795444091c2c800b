import { describe, expect, test } from 'vitest';
import { example } from './example.ts';
import { largestChanges } from '../../src/ui/update/Update.tsx';
import { rolloutsText } from '../../src/page/words/rolloutNames.ts';
import { predicted, stepsInWords, whyBars } from '../../src/ui/tokens/Why.tsx';
import { Role } from '../../src/domain/tokens.ts';

describe('the largest changes', () => {
  const size = example.roles.length;
  const drawn = [...example.roles.keys()].filter((i) => example.roles[i] === Role.action);
  const before = new Float32Array(size).fill(Math.log(0.5));

  test('are of the agent’s tokens only, the largest first, up or down', () => {
    const after = before.slice();
    const [first, second] = [drawn[3]!, drawn[7]!];
    after[first] = Math.log(0.1);
    after[second] = Math.log(0.7);
    after[example.roles.indexOf(Role.observation)] = Math.log(0.99);
    const changes = largestChanges(example, { before, after }, 2);
    const at = changes.map(({ row, t }) => row * example.length + t);
    expect(at).toEqual([first, second]);
    expect(changes.map((c) => Number((c.after - c.before).toFixed(3)))).toEqual([-0.4, 0.2]);
  });

  test('behind the same words are one', () => {
    const twice = {
      ...example,
      rows: 2,
      tokens: Int32Array.from([
        ...example.tokens.subarray(0, example.length),
        ...example.tokens.subarray(0, example.length),
      ]),
      roles: Uint8Array.from([
        ...example.roles.subarray(0, example.length),
        ...example.roles.subarray(0, example.length),
      ]),
    };
    const flat = new Float32Array(2 * example.length).fill(-1);
    const all = largestChanges(twice, { before: flat, after: flat }, 1000);
    expect(all.every(({ rolloutCount }) => rolloutCount === 2)).toBe(true);
    expect(all.length).toBe(drawn.filter((i) => i < example.length).length);
  });
});

describe('the bars of why a token moved', () => {
  const rollouts = Float64Array.from({ length: 16 }, (_, row) => (row % 4 === 3 ? 0 : (row - 8) / 10));
  const parts = { momentum: 0.3, kl: 0, entropy: -0.02, value: 0, decay: 0, residual: 0.05, rollouts };
  const total = rollouts.reduce((a, b) => a + b, 0) + 0.3 - 0.02 + 0.05;
  const why = { ...parts, before: -1, after: -1 + total, steps: 2 };

  test('add up to the measured change, with all small rollouts in one', () => {
    const bars = whyBars(why, String);
    expect(bars.reduce((sum, { part }) => sum + part, 0)).toBeCloseTo(total, 10);
    expect(bars.map(({ key }) => key).slice(-4)).toEqual(['others', 'momentum', 'entropy', 'residual']);
    expect(bars.find(({ key }) => key === 'others')?.label).toBe('4 other rollouts');
    const sizes = bars.filter(({ row }) => row !== null).map(({ part }) => Math.abs(part));
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
  });

  test('a rollout left out takes its part out of the prediction, and the residual is never in it', () => {
    expect(predicted(why, new Set())).toBeCloseTo(total - 0.05, 10);
    expect(predicted(why, new Set([0]))).toBeCloseTo(total - 0.05 + 0.8, 10);
  });
});

test('what is played again is counted in rollouts, and their tasks beside them', () => {
  const [first] = example.episodes;
  if (!first) throw new Error('the example has a rollout');
  const of = (...groups: number[]) =>
    rolloutsText({ episodes: groups.map((group, row) => ({ ...first, row, group })) });
  expect(of(0, 0, 0, 0, 0, 0, 0, 0)).toBe('All 8 rollouts of one task');
  expect(of(0, 0, 3, 3, 5, 5)).toBe('All 6 rollouts of 3 tasks');
  expect(of(2)).toBe('1 rollout of one task');
});

test('optimizer steps are given as epochs × minibatches, with how often a push acts', () => {
  const knobs = { epochs: 2, minibatches: 2 };
  const passes = '4 optimizer steps (2 epochs × 2 minibatches; this token’s own push acts once in each epoch)';
  expect(stepsInWords(4, knobs)).toBe(passes);
  expect(stepsInWords(3, { epochs: 1, minibatches: 3 })).toMatch(/^3 optimizer steps \(1 epoch × 3 minibatches;/);
  expect(stepsInWords(1, { epochs: 1, minibatches: 1 })).toBe('1 optimizer step');
  expect(stepsInWords(2, knobs)).toBe('2 optimizer steps'); // a filter left less to learn from
});
