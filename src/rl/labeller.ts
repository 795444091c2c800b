import type { RunConfig } from '../config.ts';
import type { Attempt, EpisodeView } from '../protocol.ts';
import { Purpose, random, type Random } from '../rng.ts';
import type { EpisodeRecord } from './record.ts';
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

/** One prompt in this many is held out. */
const HELD_OUT_EVERY = 5;

/**
 * Shows the labeller every rollout of each prompt once, in pairs drawn at random, and returns the choices: the one of
 * greater utility, a coin where both have the same, turned round with probability `labellerNoise`. Two that read the same
 * are not shown. What is said of a prompt, and whether it is held out, follows from `seed`, `round` and its group alone.
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
      const [better, worse] = prefersFirst(a, b, labeller, draw) ? [first, second] : [second, first];
      pairs.push({ better, worse });
    }
    return { pairs, heldOut };
  });
}

function prefersFirst(a: EpisodeView, b: EpisodeView, labeller: Labeller, draw: Random): boolean {
  const difference = utility(a, labeller) - utility(b, labeller);
  const coin = draw.next() < 0.5;
  const turned = draw.next() < labeller.labellerNoise;
  // sums of the same numbers in another order are no difference
  return Math.abs(difference) < 1e-9 ? coin : difference > 0 !== turned;
}

/** The tokens of one row of a record, without padding. */
export function attemptOf({ tokens, roles, length, lengths }: EpisodeRecord, row: number): Attempt {
  const start = row * length;
  const end = start + (lengths[row] ?? 0);
  return { tokens: tokens.slice(start, end), roles: roles.slice(start, end) };
}
