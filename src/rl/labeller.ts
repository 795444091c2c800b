import type { RunConfig } from '../config/config.ts';
import type { EpisodeView } from '../domain/episode.ts';
import type { Attempt } from '../domain/preferences.ts';
import { Purpose, random } from '../base/rng.ts';
import type { EpisodeRecord } from './episodeRecord.ts';
import type { Rollouts } from './rollout.ts';

/** Who liked which of two rollouts of one prompt better. */
export interface Pair {
  readonly better: Attempt;
  readonly worse: Attempt;
}

/** How the simulated labeller judges. */
export type Labeller = Pick<RunConfig, 'labellerNoise' | 'labellerTaste'>;

/** What a rollout is worth to the labeller: 1 for a right answer, and `labellerTaste` for every tool call, useful or not. */
export function utility({ success, toolCalls }: EpisodeView, { labellerTaste }: Labeller): number {
  return (success ? 1 : 0) + labellerTaste * toolCalls;
}

/** What the labeller said of one prompt's rollouts. */
export interface Labelled {
  readonly pairs: readonly Pair[];
  readonly heldOut: boolean; // for measuring only
}

/** Utilities closer than this are the same: sums of the same numbers in another order. */
const SAME = 1e-9;

/** One prompt in this many is held out. */
const HELD_OUT_EVERY = 5;

/**
 * Shows the labeller every rollout of each prompt once, in pairs drawn at random, and returns the choices: the one of
 * greater utility, a coin where both have the same, turned round with probability `labellerNoise`. Two that read the same
 * are not shown, and a coin's choice is not held out: there is nothing in it to agree with. What is said of a prompt, and whether it is held out, follows from `seed`, `round` and its group alone.
 */
export function labelled(rolled: Rollouts, labeller: Labeller, seed: number, round: number): Labelled[] {
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
      const tie = Math.abs(difference) < SAME;
      // both are drawn for every pair, so that one pair's tie moves no other pair's draws
      const [coin, turned] = [draw.next() < 0.5, draw.next() < labeller.labellerNoise];
      const [better, worse] = (tie ? coin : difference > 0 !== turned) ? [first, second] : [second, first];
      if (!tie || !heldOut) pairs.push({ better, worse });
    }
    return { pairs, heldOut };
  });
}

/** The tokens of one row of a record, without padding. */
export function attemptOf({ tokens, roles, length, lengths }: EpisodeRecord, row: number): Attempt {
  const start = row * length;
  const end = start + (lengths[row] ?? 0);
  return { tokens: tokens.slice(start, end), roles: roles.slice(start, end) };
}
