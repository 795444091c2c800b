import { describe, expect, it } from 'vitest';
import type { EpisodeView } from '../../src/domain/episode.ts';
import type { Attempt } from '../../src/domain/preferences.ts';
import { attemptOf, labelPairs, type Pair, utility } from '../../src/rl/labeller.ts';
import { preferenceRewards, preferenceSet } from '../../src/rl/preferenceSet.ts';
import { episodeRecord } from '../../src/rl/episodeRecord.ts';
import type { Rollouts } from '../../src/rl/rollout.ts';
import { random } from '../../src/base/rng.ts';
import { Role } from '../../src/domain/tokens.ts';

const EPISODE: EpisodeView = {
  row: 0,
  group: 0,
  environmentSeed: 0,
  seed: 0,
  question: '',
  names: new Map(),
  scores: null,
  reward: 0,
  parts: { outcome: 0, process: 0, call: 0, format: 0, think: 0, turnCost: 0, preference: 0, information: 0 },
  preferenceScore: null,
  success: false,
  stop: 'turns',
  turns: 1,
  toolCalls: 0,
  invalidTurns: 0,
  waited: 0,
  view: { kind: 'number-line', range: 4, target: 0, guesses: [] },
};

/** One rollout a row, `size` rows a prompt; its token says what it is: 2 · calls + success. */
function batch(all: readonly { readonly success: boolean; readonly toolCalls: number }[], size: number): Rollouts {
  const record = episodeRecord(all.length, 2);
  const episodes = all.map(({ success, toolCalls }, row) => {
    record.push(row, 1, { role: Role.prompt, turn: 0, grammarState: 0, logprob: 0 });
    record.push(row, 2 * toolCalls + Number(success), { role: Role.action, turn: 1, grammarState: 0, logprob: 0 });
    return { ...EPISODE, row, group: Math.floor(row / size), success, toolCalls };
  });
  return { record, episodes, groups: Int32Array.from(all, (_, row) => Math.floor(row / size)) };
}
const attempt = (...tokens: number[]): Attempt => ({
  tokens: Int32Array.from(tokens),
  roles: Uint8Array.from(tokens, () => Role.action),
});
const pair = (better: number, worse: number): Pair => ({ better: attempt(better), worse: attempt(worse) });
const tokens = ({ better, worse }: Pair) => [better.tokens.at(-1)!, worse.tokens.at(-1)!];

describe('the labeller', () => {
  const CLEAN = { labellerNoise: 0, labellerTaste: 0.3 };
  const two = (a: { success: boolean; toolCalls: number }, b: { success: boolean; toolCalls: number }) =>
    batch(
      Array.from({ length: 400 }, (_, row) => (row % 2 === 0 ? a : b)),
      2,
    );
  const right = { success: true, toolCalls: 1 };
  const busy = { success: false, toolCalls: 4 };
  /** Share of the pairs in which the rollout with this token won. */
  const wins = (said: ReturnType<typeof labelPairs>, token: number) => {
    const pairs = said.flatMap((one) => one.pairs);
    return pairs.filter((one) => tokens(one)[0] === token).length / pairs.length;
  };

  it('likes a right answer, and is impressed by effort', () => {
    expect(utility({ ...EPISODE, success: true, toolCalls: 2 }, CLEAN)).toBeCloseTo(1.6, 12);
    expect(wins(labelPairs(two(right, busy), CLEAN, 1, 0), 3)).toBe(1);
    // at .5 a call, three more calls outweigh the answer
    expect(wins(labelPairs(two(right, busy), { ...CLEAN, labellerTaste: 0.5 }, 1, 0), 8)).toBe(1);
  });

  it('is turned round as often as its noise says', () => {
    // 200 pairs: standard error .03
    expect(wins(labelPairs(two(right, busy), { ...CLEAN, labellerNoise: 0.25 }, 1, 0), 8)).toBeCloseTo(0.25, 1);
  });

  it('throws a coin over ties, and holds out none of those', () => {
    const same = two({ success: true, toolCalls: 0 }, { success: false, toolCalls: 1 });
    const said = labelPairs(same, { labellerNoise: 0.4, labellerTaste: 1 }, 1, 0);
    expect(wins(said, 1)).toBeCloseTo(0.5, 1); // about 160 coins: standard error .04
    for (const { pairs, heldOut } of said) expect(pairs).toHaveLength(heldOut ? 0 : 1);
  });

  it('holds out a fifth of the prompts, whole', () => {
    const all = Array.from({ length: 1200 }, (_, row) => ({ success: false, toolCalls: row % 6 }));
    const said = labelPairs(batch(all, 6), CLEAN, 1, 0);
    expect(said).toHaveLength(200);
    // standard error .028
    expect(said.filter(({ heldOut }) => heldOut).length / 200).toBeCloseTo(0.2, 1);
    for (const { pairs } of said) expect(new Set(pairs.flatMap(tokens)).size).toBe(6);
  });

  it('is not shown two rollouts that read the same', () => {
    expect(labelPairs(two(busy, busy), CLEAN, 1, 0).flatMap(({ pairs }) => pairs)).toEqual([]);
  });

  it('says the same for the same seed and round, and else draws anew', () => {
    const rolled = two(right, busy);
    const noisy = { ...CLEAN, labellerNoise: 0.5 };
    expect(labelPairs(rolled, noisy, 1, 4)).toEqual(labelPairs(rolled, noisy, 1, 4));
    expect(labelPairs(rolled, noisy, 1, 5)).not.toEqual(labelPairs(rolled, noisy, 1, 4));
    expect(labelPairs(rolled, noisy, 2, 4)).not.toEqual(labelPairs(rolled, noisy, 1, 4));
  });

  it('reads rollouts without their padding', () => {
    const record = episodeRecord(2, 5);
    record.push(1, 7, { role: Role.action, turn: 1, grammarState: 0, logprob: 0 });
    expect(attemptOf(record, 1)).toEqual(attempt(7));
  });
});

describe('a set of preferences', () => {
  const draw = () => random(3, 10, 0, 0);

  it('never fits a pair it holds out, not even met again the other way round', () => {
    const set = preferenceSet();
    set.addLabelled([{ pairs: [pair(1, 2), pair(3, 4)], heldOut: true }]);
    set.addLabelled([{ pairs: [pair(2, 1), pair(5, 6)], heldOut: false }]);
    set.addLabelled([{ pairs: [pair(6, 5)], heldOut: true }]);
    expect(set.draw(10, draw()).map(tokens)).toEqual([[6, 5]]);
    expect(set.heldOut(10).map(tokens)).toEqual([
      [3, 4],
      [2, 1],
    ]);
    expect(set.heldOut(1).map(tokens)).toEqual([[2, 1]]);
    expect(set.counts()).toEqual({ pairs: 5, clicks: 0 });
  });

  it('keeps the newest, and all that a person said', () => {
    const set = preferenceSet();
    set.addPersons(pair(0, 1));
    for (let i = 2; i < 5000; i += 2) set.addLabelled([{ pairs: [pair(i, i + 1)], heldOut: i % 10 === 0 }]);
    const all = set.draw(1e9, draw()).map(tokens);
    expect(all).toHaveLength(2001);
    expect(all).toContainEqual([0, 1]);
    const crowded = preferenceSet();
    crowded.addPersons(pair(0, 1));
    for (let i = 2; i < 9000; i += 2) crowded.addLabelled([{ pairs: [pair(i, i + 1)], heldOut: false }]);
    const kept = crowded.draw(1e9, draw()).map(tokens);
    expect(kept).toHaveLength(2049);
    expect(kept).toContainEqual([0, 1]);
    expect(kept).not.toContainEqual([2, 3]);
    expect(kept).toContainEqual([8998, 8999]);
  });

  it('gives a person up to a quarter of a batch, and all of it where the labeller is silent', () => {
    const set = preferenceSet();
    for (let i = 0; i < 40; i += 2) set.addPersons(pair(i, i + 1));
    expect(set.draw(8, draw())).toHaveLength(8);
    for (let i = 100; i < 200; i += 2) set.addLabelled([{ pairs: [pair(i, i + 1)], heldOut: false }]);
    const batchOf = set.draw(8, draw());
    expect(batchOf.filter(({ better }) => better.tokens[0]! < 100)).toHaveLength(2);
    expect(new Set(batchOf).size).toBe(8);
    expect(set.draw(8, draw())).toEqual(batchOf);
  });

  it('stops measuring on what a person has taught', () => {
    const set = preferenceSet();
    set.addLabelled([{ pairs: [pair(1, 2)], heldOut: true }]);
    set.addPersons(pair(2, 1));
    expect(set.heldOut(9)).toEqual([]);
    set.addLabelled([{ pairs: [pair(1, 2)], heldOut: true }]); // met again: it still trains
    expect(set.heldOut(9)).toEqual([]);
  });
});

describe('the reward for a preference score', () => {
  it('is centred, so an offset in r pays nothing', () => {
    const scores = [0.5, -0.25, 0.75, 0];
    const paid = preferenceRewards(scores, 2);
    expect(paid.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 12);
    expect(paid[0]).toBeCloseTo(0.5, 12); // (.5 − .25) · 2: the spread is under 1
    const shifted = preferenceRewards(
      scores.map((r) => r + 64), // exact in binary
      2,
    );
    expect(shifted).toEqual(paid);
  });

  it('is held to a spread of one', () => {
    const paid = preferenceRewards([-30, 30, -30, 30], 0.5);
    expect([...paid]).toEqual([-0.5, 0.5, -0.5, 0.5]);
  });

  it('is exactly 0 where all score the same', () => {
    expect([...preferenceRewards([0.1, 0.1 + 1e-9, 0.1], 3)]).toEqual([0, 0, 0]);
    expect([...preferenceRewards([], 1)]).toEqual([]);
  });
});

describe('pairs that are kept', () => {
  const said = (better: Attempt, worse: Attempt): Pair => ({ better, worse });
  const kept = (...pairs: readonly Pair[]) => {
    const set = preferenceSet();
    set.addLabelled([{ pairs, heldOut: true }]);
    return set.heldOut(10).length;
  };

  it('are the same whichever of the two won, and others where one token is', () => {
    expect(kept(pair(1, 2), pair(2, 1))).toBe(1);
    expect(kept(pair(1, 2), pair(1, 3))).toBe(2);
    // where a token ends, and where a rollout ends
    expect(kept(said(attempt(1, 23), attempt(4)), said(attempt(12, 3), attempt(4)))).toBe(2);
    expect(kept(said(attempt(1), attempt(2, 3)), said(attempt(1, 2), attempt(3)))).toBe(2);
    expect(kept(said(attempt(4), attempt(1, 23)), said(attempt(4), attempt(12, 3)))).toBe(2);
    expect(kept(said(attempt(1), attempt(23)), said(attempt(12), attempt(3)))).toBe(2);
  });

  it('of a person are counted up, and leave the batch that was read as it was', () => {
    const set = preferenceSet();
    for (const each of [pair(1, 2), pair(3, 4)]) set.addPersons(each);
    expect(set.counts()).toEqual({ pairs: 0, clicks: 2 });
    const drawn = batch([{ success: true, toolCalls: 1 }, { success: false, toolCalls: 2 }, { success: true, toolCalls: 3 }, { success: false, toolCalls: 4 }], 4); // prettier-ignore
    const before = drawn.episodes.map(({ row }) => row);
    for (let round = 0; round < 8; round++) labelPairs(drawn, { labellerNoise: 0, labellerTaste: 0.3 }, 1, round);
    expect(drawn.episodes.map(({ row }) => row)).toEqual(before);
  });
});
