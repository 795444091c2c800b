import { describe, expect, test } from 'vitest';
import type { BatchView } from '../../src/domain/batch.ts';
import { channelValue, type ChannelView, isClippedInAnyEpoch } from '../../src/page/rollout/channels.ts';
import { epochFormula, pushByEpoch, pushSentence, pushReason } from '../../src/ui/run/Inspector.tsx';
import { hardestPushedObservation } from '../../src/page/learn/hardestPushedObservation.ts';
import { Role } from '../../src/domain/tokens.ts';
import { example } from './example.ts';

const size = example.tokens.length;
const at = example.lossMask.indexOf(1);
const row = Math.floor(at / example.length);

/** The example with passes in which one token had these gradient weights. */
function withPasses(weights: readonly (readonly [gradient: number, policy: number])[]): BatchView {
  const passes = weights.map(([gradient, policy], p) => ({
    epoch: p + 1,
    gradWeights: new Float32Array(size).fill(gradient, at, at + 1),
    policyWeights: new Float32Array(size).fill(policy, at, at + 1),
    shares: new Float32Array(example.rows).fill(1 / 300),
  }));
  const { gradWeights, policyWeights } = passes.at(-1)!;
  const advantages = new Float32Array(size).fill(0.93);
  return { ...example, advantages, gradWeights, policyWeights, epochViews: passes };
}
const gradient = (batch: BatchView) => {
  const view: ChannelView = { batch, config: null, row, logprobsAroundUpdate: null };
  return channelValue(view, 'gradient', at);
};
const W = -0.93 / 300; // what the loss has: its minus is the push

describe('the channel of pushes', () => {
  test('a choice of one is not said to be pushed, whatever its weight', () => {
    const batch = withPasses([[W, W]]);
    expect(pushReason(batch, at, false)).toMatch(/^▲ .* up/);
    const singles = new Uint8Array(size).fill(1, at, at + 1);
    expect(pushReason({ ...batch, singles }, at, false)).toBe(
      'Only one word is legal here, so its probability is always 1: no update can change it.',
    );
    const lossMask = new Float32Array(size);
    expect(pushReason({ ...batch, singles, lossMask }, at, false)).toMatch(/It isn’t counted anywhere\.$/);
  });

  test('a success with A = +.93 is up', () => {
    expect(gradient(withPasses([[W, W]]))).toBeCloseTo(0.0031, 6);
    expect(pushSentence(pushByEpoch(withPasses([[W, W]]), at))).toBe('▲ This rollout pushed the token up.');
  });

  test('it has the sign of the advantage on the hand-made example too, where no passes were kept', () => {
    for (let i = 0; i < size; i++) {
      if (example.lossMask[i] === 0) continue;
      const value = channelValue({ batch: example, config: null, row: 0, logprobsAroundUpdate: null }, 'gradient', i);
      expect(Math.sign(value ?? NaN)).toBe(Math.sign(example.advantages[i]!));
    }
  });

  test('a token clipped in the last epoch was pushed by the first: up, notched, both epochs named', () => {
    const batch = withPasses([
      [W, W],
      [0, 0],
    ]);
    expect(gradient(batch)).toBeCloseTo(0.0031, 6);
    expect(isClippedInAnyEpoch(batch, at)).toBe(true);
    expect(pushSentence(pushByEpoch(batch, at))).toBe(
      '▲ This rollout pushed the token up in epoch 1; clipped in epoch 2.',
    );
    expect(pushByEpoch(batch, at).map((pass) => epochFormula(pass, 0.93))).toEqual([
      '+0.93 × 1 × 1/300 = +0.0031',
      'clipped, its ratio is above 1 + ε₊: 0',
    ]);
  });

  test('clipped in all epochs, without an advantage, and pulled by KL alone are told apart', () => {
    const nothing = withPasses([[0, 0]]);
    expect(pushSentence(pushByEpoch(nothing, at))).toBe('In the loss, but not pushed: clipped.');
    expect(pushSentence(pushByEpoch({ ...nothing, advantages: new Float32Array(size) }, at))).toContain('no advantage');
    const kl = pushByEpoch(withPasses([[0.001, 0]]), at);
    expect(kl.map((pass) => epochFormula(pass, 0.93))).toEqual([
      'clipped, its ratio is above 1 + ε₊: 0 −0.001 by KL = −0.001',
    ]);
  });

  test('the weight of an off-policy correction is a factor of the push; weight 0 and rejection are named', () => {
    const weighed = (weight: number) => ({
      ...withPasses([[weight * W, weight * W]]),
      corrections: new Float32Array(size).fill(weight),
    });
    expect(pushByEpoch(weighed(0.5), at).map((pass) => epochFormula(pass, 0.93))).toEqual([
      '+0.93 × 1 × 0.5 × 1/300 = +0.00155',
    ]);
    const [none] = pushByEpoch(weighed(0), at);
    expect(none).toMatchObject({ clipped: false, correction: 0 });
    expect(pushSentence([none!])).toMatch(/off-policy correction gives it weight 0/);
    const rejected = { ...weighed(0), lossMask: new Float32Array(size), advantageMask: new Float32Array(size).fill(1) };
    expect(pushReason(rejected, at, false)).toMatch(/off-policy correction took it out/);
  });

  test('epochs that push against each other are named', () => {
    const batch = withPasses([
      [W, W],
      [-W / 2, W / 2],
    ]);
    expect(pushSentence(pushByEpoch(batch, at))).toBe(
      '▲ This rollout pushed the token up (both epochs); the epochs pushed in opposite directions.',
    );
  });

  test('the recorded batch says that it knows only the last epoch', () => {
    const [only] = pushByEpoch(example, at);
    expect(only).toMatchObject({ epoch: 0, ratio: null });
    expect(pushSentence([{ ...only!, clipped: true, push: 0 }])).toContain('in the last epoch');
  });
});

test('the word of the tool that was pushed hardest is found, and none where none was pushed', () => {
  expect(hardestPushedObservation(example)).toBe(-1);
  const gradWeights = example.gradWeights.slice();
  const words = Array.from(example.roles.keys()).filter((i) => example.roles[i] === Role.observation);
  words.forEach((i, k) => (gradWeights[i] = k === 4 ? -0.9 : 0.1));
  expect(hardestPushedObservation({ ...example, gradWeights })).toBe(words[4]);
});
