import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import {
  CHANNEL_NAMES,
  channelScale,
  channelValue,
  type ChannelView,
  isClipped,
} from '../../src/page/rollout/channels.ts';
import { example } from './example.ts';

const trained = example.lossMask.indexOf(1);
const forced = example.roles.indexOf(3);
const plain: ChannelView = { batch: example, config: null, row: 0, logprobsAroundUpdate: null };
const valueOf = (view: ChannelView, channel: (typeof CHANNEL_NAMES)[number], i = trained) =>
  channelValue(view, channel, i);

test('the keys 1 to 8 are mask, advantage, gradient, ratio, entropy, KL, value and change of probability', () => {
  const eight = ['mask', 'advantage', 'gradient', 'ratio', 'entropy', 'kl', 'value', 'change'];
  expect(CHANNEL_NAMES.slice(0, 8)).toEqual(eight);
});

test('what nobody measured is n/a: no critic, no reference, no answer from the run', () => {
  for (const channel of ['value', 'kl', 'ratio', 'change'] as const) expect(valueOf(plain, channel)).toBeUndefined();
  const batch = { ...example, values: example.values.map(() => 2), refLogprobs: example.logprobs.map((l) => l - 0.5) };
  const config = parseConfig({ estimator: 'gae', critic: 'shared', klCoef: 0.1 });
  const view = { ...plain, batch, config };
  expect(valueOf(view, 'value')).toBe(2);
  expect(valueOf(view, 'kl')).toBeCloseTo(0.5, 6);
  expect(valueOf({ ...view, config: parseConfig() }, 'value')).toBeUndefined();
  expect(valueOf({ ...view, config: parseConfig() }, 'kl')).toBeUndefined();
  for (const channel of CHANNEL_NAMES.slice(1, 8)) expect(valueOf(view, channel, forced)).toBeUndefined();
});

test('ratio and change come from the log-probabilities of the row in view; their scale is that row’s, in logarithms for the ratio', () => {
  const row = 2;
  const from = row * example.length;
  const before = new Float32Array(example.length).fill(Math.log(0.2));
  const after = new Float32Array(example.length).fill(Math.log(0.3));
  const t = example.lossMask.indexOf(1, from) - from;
  after[t] = Math.log(0.1);
  const view = { ...plain, row, logprobsAroundUpdate: { before, after } };
  expect(valueOf(view, 'ratio', from + t)).toBeCloseTo(0.5, 5);
  expect(valueOf(view, 'change', from + t)).toBeCloseTo(-0.1, 5);
  expect(valueOf(view, 'ratio', from + t + 1)).toBeCloseTo(1.5, 5);
  // 99 % of a dozen tokens is all but the largest
  expect(channelScale(view, 'ratio')).toBeCloseTo(Math.log(1.5), 5);
});

test('off-policy is the log-probability before the update minus that with which the agent drew the token', () => {
  const logprobs = example.logprobs.slice().fill(-1.5);
  const sampledLogprobs = logprobs.map(() => -2);
  const batch = { ...example, logprobs, sampledLogprobs };
  expect(valueOf({ ...plain, batch }, 'mismatch')).toBeCloseTo(0.5, 6);
  // top-k and top-p are behaviour policies too
  const drawnLogprobs = logprobs.map(() => -1);
  expect(valueOf({ ...plain, batch: { ...batch, drawnLogprobs } }, 'mismatch')).toBeCloseTo(-0.5, 6);
  const lossMask = batch.lossMask.slice().fill(1);
  expect(valueOf({ ...plain, batch: { ...batch, lossMask } }, 'mismatch', forced)).toBeUndefined();
});

test('a token outside the loss bends no scale, however large its number', () => {
  const batch = {
    ...example,
    entropies: example.entropies.slice(),
    roles: example.roles.slice(),
    lossMask: example.lossMask.slice(),
  };
  const scale = channelScale({ ...plain, batch }, 'entropy');
  for (let i = 0; i < 20; i++) {
    batch.lossMask[trained + i] = 0;
    batch.entropies[trained + i] = 1e6;
  }
  expect(channelScale({ ...plain, batch }, 'entropy')).toBeLessThanOrEqual(scale);
});

test('clipped is a token with an advantage at which the policy loss pulled with nothing', () => {
  const policyWeights = example.policyWeights.slice();
  policyWeights[trained] = 0;
  expect(isClipped({ ...example, policyWeights }, trained)).toBe(true);
  expect(isClipped(example, trained)).toBe(false);
  expect(isClipped({ ...example, policyWeights, advantages: example.advantages.map(() => 0) }, trained)).toBe(false);
  expect(isClipped(example, forced)).toBe(false);
  // weight 0 is not the clip's doing
  const corrections = policyWeights.map((_, i) => (i === trained ? 0 : 1));
  expect(isClipped({ ...example, policyWeights, corrections }, trained)).toBe(false);
});

test('the update pushes nothing where only one word was legal, whatever weight the loss gives it', () => {
  const singles = example.singles.slice();
  expect(valueOf(plain, 'gradient')).not.toBe(0);
  singles[trained] = 1;
  expect(valueOf({ ...plain, batch: { ...example, singles } }, 'gradient')).toBe(0);
});
