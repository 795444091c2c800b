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

/**
 * Shows the labeller one pair of each prompt's rollouts, drawn among those that differ, and returns its choices: the one of
 * greater utility, a coin where both have the same, turned round with probability `labellerNoise`. A prompt whose
 * rollouts all read the same is not shown. The choice of a prompt follows from `seed`, `round` and its group alone.
 */
export function labelled(rolled: Rollouts, labeller: Labeller, seed: number, round: number): Pair[] {
  const byGroup = new Map<number, EpisodeView[]>();
  for (const episode of rolled.episodes) {
    const group = rolled.groups[episode.row] ?? 0;
    byGroup.set(group, [...(byGroup.get(group) ?? []), episode]);
  }
  return [...byGroup].flatMap(([group, episodes]) => {
    const draw = random(seed, Purpose.preference, round, group);
    const shown = drawPair(episodes, rolled.record, draw);
    return shown ? [choose(shown, labeller, draw)] : [];
  });
}

interface Shown {
  readonly episode: EpisodeView;
  readonly attempt: Attempt;
}

function drawPair(
  episodes: readonly EpisodeView[],
  record: EpisodeRecord,
  draw: Random,
): readonly [Shown, Shown] | null {
  const shown = draw.shuffle(episodes.map((episode) => ({ episode, attempt: attemptOf(record, episode.row) })));
  const first = shown[0];
  const other = shown.find(({ attempt }) => first && attempt.tokens.join() !== first.attempt.tokens.join());
  return first && other ? [first, other] : null;
}

function choose([a, b]: readonly [Shown, Shown], labeller: Labeller, draw: Random): Pair {
  const difference = utility(a.episode, labeller) - utility(b.episode, labeller);
  const coin = draw.next() < 0.5;
  const turned = draw.next() < labeller.labellerNoise;
  // sums of the same numbers in another order are no difference
  const first = Math.abs(difference) < 1e-9 ? coin : difference > 0 !== turned;
  const [better, worse] = first ? [a, b] : [b, a];
  return { better: better.attempt, worse: worse.attempt };
}

/** The tokens of one row of a record, without padding. */
export function attemptOf({ tokens, roles, length, lengths }: EpisodeRecord, row: number): Attempt {
  const start = row * length;
  const end = start + (lengths[row] ?? 0);
  return { tokens: tokens.slice(start, end), roles: roles.slice(start, end) };
}
