import type { BatchView } from '../../domain/batch.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import type { Attempt } from '../../domain/preferences.ts';

/** Two different rollouts of one prompt, from a batch that stays as it was while they are read. */
export interface Pair {
  readonly batch: BatchView;
  readonly a: EpisodeView;
  readonly b: EpisodeView;
}

/**
 * The pair number `n` of a batch; null when the rollouts of every prompt are the same, word for word. Goes through the
 * prompts in turn and through the rollouts of each, and swaps sides now and then, so that A is not always the earlier.
 */
export function pairOf(batch: BatchView, n: number): Pair | null {
  const groups = new Map<number, EpisodeView[]>();
  for (const episode of batch.episodes) {
    const own = groups.get(episode.group) ?? [];
    // one of each kind is enough: equal rollouts say nothing about preference
    if (!own.some((other) => textOf(batch, other) === textOf(batch, episode))) own.push(episode);
    groups.set(episode.group, own);
  }
  const varied = [...groups.values()].filter((own) => own.length > 1);
  const own = varied[n % varied.length];
  if (!own) return null;
  const round = Math.floor(n / varied.length);
  const first = round % own.length;
  const second = (first + 1 + (Math.floor(round / own.length) % (own.length - 1))) % own.length;
  const [a, b] = n % 3 === 1 ? [own[second], own[first]] : [own[first], own[second]];
  return a && b ? { batch, a, b } : null;
}

/** A rollout as a preference names it: ids and roles up to its length. */
export function attemptOf(batch: BatchView, row: number): Attempt {
  const from = row * batch.length;
  const to = from + (batch.lengths[row] ?? batch.length);
  return { tokens: batch.tokens.slice(from, to), roles: batch.roles.slice(from, to) };
}

function textOf(batch: BatchView, { row }: EpisodeView): string {
  return attemptOf(batch, row).tokens.join(' ');
}
