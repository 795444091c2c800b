import type { BatchView } from '../../domain/batch.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import type { Attempt } from '../../domain/preferences.ts';

/** Two different rollouts of one prompt, with their batch, which stays unchanged while they are read. */
export interface Pair {
  readonly batch: BatchView;
  readonly a: EpisodeView;
  readonly b: EpisodeView;
}

/**
 * Pair number `n` of a batch. Null if the rollouts of each prompt are identical, word for word. Goes through the
 * prompts in turn and through the rollouts of each. Swaps sides in every third pair, so that A isn't always the earlier
 * one.
 */
export function pairOf(batch: BatchView, n: number): Pair | null {
  const groups = new Map<number, EpisodeView[]>();
  for (const episode of batch.episodes) {
    const group = groups.get(episode.group) ?? [];
    // keep one of equal rollouts, because they say nothing about preference
    if (!group.some((other) => textOf(batch, other) === textOf(batch, episode))) group.push(episode);
    groups.set(episode.group, group);
  }
  const varied = [...groups.values()].filter((group) => group.length > 1);
  const rollouts = varied[n % varied.length];
  if (!rollouts) return null;
  const round = Math.floor(n / varied.length);
  const first = round % rollouts.length;
  const second = (first + 1 + (Math.floor(round / rollouts.length) % (rollouts.length - 1))) % rollouts.length;
  const [a, b] = n % 3 === 1 ? [rollouts[second], rollouts[first]] : [rollouts[first], rollouts[second]];
  return a && b ? { batch, a, b } : null;
}

/** A rollout in the form that a preference holds: token ids and roles, each (length of the rollout). */
export function attemptOf(batch: BatchView, row: number): Attempt {
  const from = row * batch.length;
  const to = from + (batch.lengths[row] ?? batch.length);
  return { tokens: batch.tokens.slice(from, to), roles: batch.roles.slice(from, to) };
}

function textOf(batch: BatchView, { row }: EpisodeView): string {
  return attemptOf(batch, row).tokens.join(' ');
}
