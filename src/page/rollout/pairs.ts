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
  const variedGroups = [...groups.values()].filter((group) => group.length > 1);
  const rollouts = variedGroups[n % variedGroups.length];
  if (!rollouts) return null;
  const round = Math.floor(n / variedGroups.length);
  const firstIndex = round % rollouts.length;
  const secondIndex =
    (firstIndex + 1 + (Math.floor(round / rollouts.length) % (rollouts.length - 1))) % rollouts.length;
  const [a, b] =
    n % 3 === 1 ? [rollouts[secondIndex], rollouts[firstIndex]] : [rollouts[firstIndex], rollouts[secondIndex]];
  return a && b ? { batch, a, b } : null;
}

/** A rollout in the form that a preference holds: token ids and roles, each (length of the rollout). */
export function rolloutTokensOf(batch: BatchView, row: number): Attempt {
  const start = row * batch.length;
  const end = start + (batch.lengths[row] ?? batch.length);
  return { tokens: batch.tokens.slice(start, end), roles: batch.roles.slice(start, end) };
}

function textOf(batch: BatchView, { row }: EpisodeView): string {
  return rolloutTokensOf(batch, row).tokens.join(' ');
}
