import type { RunConfig } from '../config/config.ts';
import type { EpisodeView } from '../domain/episode.ts';
import type { Attempt } from '../domain/preferences.ts';
import { Purpose, random } from '../base/rng.ts';
import type { EpisodeRecord } from './episodeRecord.ts';
import type { Rollouts } from './rollout.ts';

/** A preference between two rollouts of one prompt. */
export interface Pair {
  readonly better: Attempt;
  readonly worse: Attempt;
}

export type LabellerSettings = Pick<RunConfig, 'labellerNoise' | 'labellerTaste'>;

/** 1 for a right answer, plus `labellerTaste` for every tool call, useful or not. */
export function utility({ success, toolCalls }: EpisodeView, { labellerTaste }: LabellerSettings): number {
  return (success ? 1 : 0) + labellerTaste * toolCalls;
}

export interface LabelledPrompt {
  readonly pairs: readonly Pair[];
  readonly heldOut: boolean; // true: only used to measure agreement
}

/** Utilities closer than this are equal: they may be sums of the same numbers in another order. */
const UTILITY_NOISE = 1e-9;

/** One prompt in this many is held out. */
const HELD_OUT_EVERY = 5;

/**
 * Shows the labeller the rollouts of each prompt in random pairs, each rollout at most once, and returns its choices.
 * It chooses the rollout of greater utility or, with probability `labellerNoise`, the other one. If both utilities are
 * equal it flips a coin. Pairs with the same tokens are not shown. In held-out prompts, coin choices are dropped,
 * because nothing can agree with them. The random draws for a prompt, among them whether it is held out, depend only on
 * `seed`, `round` and its group.
 */
export function labelPairs(
  rolled: Rollouts,
  labeller: LabellerSettings,
  seed: number,
  round: number,
): LabelledPrompt[] {
  const byGroup = new Map<number, EpisodeView[]>();
  for (const episode of rolled.episodes) {
    const group = rolled.groups[episode.row] ?? 0;
    byGroup.set(group, [...(byGroup.get(group) ?? []), episode]);
  }
  return [...byGroup].map(([group, episodes]) => {
    const draw = random(seed, Purpose.preference, round, group);
    const heldOut = draw.int(HELD_OUT_EVERY) === 0;
    const order = draw.shuffle(episodes.slice());
    const pairs: Pair[] = [];
    for (let i = 0; i + 1 < order.length; i += 2) {
      const [a, b] = [order[i]!, order[i + 1]!];
      const [first, second] = [attemptOf(rolled.record, a.row), attemptOf(rolled.record, b.row)];
      if (first.tokens.join() === second.tokens.join()) continue;
      const difference = utility(a, labeller) - utility(b, labeller);
      const tie = Math.abs(difference) < UTILITY_NOISE;
      // draw both for every pair, so that one pair's tie does not change the draws of other pairs
      const [coin, flipped] = [draw.next() < 0.5, draw.next() < labeller.labellerNoise];
      const [better, worse] = (tie ? coin : difference > 0 !== flipped) ? [first, second] : [second, first];
      if (!tie || !heldOut) pairs.push({ better, worse });
    }
    return { pairs, heldOut };
  });
}

/** Returns the tokens of one row of a record, without padding. */
export function attemptOf({ tokens, roles, length, lengths }: EpisodeRecord, row: number): Attempt {
  const start = row * length;
  const end = start + (lengths[row] ?? 0);
  return { tokens: tokens.slice(start, end), roles: roles.slice(start, end) };
}
