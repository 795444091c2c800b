import type { BatchView } from '../../domain/batch.ts';
import { Role } from '../../domain/tokens.ts';
import type { Moved } from '../rollout/channels.ts';

/** A token whose probability an update changed. */
export interface Change {
  readonly row: number;
  readonly t: number; // position in the row
  readonly before: number; // probabilities
  readonly after: number;
  readonly alike: number; // rollouts of the batch that have the same words up to it, and so the same change
}

/**
 * The tokens of a batch whose probability changed most, the largest change first, at most `most`. Rollouts of one prompt begin
 * alike: a token that stands behind the same words in several of them is listed once. `moved` is of the whole batch, (B,T).
 */
export function largestChanges(batch: BatchView, moved: Moved, most: number): readonly Change[] {
  const size = (i: number) => Math.abs(Math.exp(moved.after[i] ?? 0) - Math.exp(moved.before[i] ?? 0));
  const drawn = [...batch.roles.keys()].filter((i) => batch.roles[i] === Role.action);
  const found = new Map<string, { change: Change; alike: number }>();
  for (const i of drawn.sort((a, b) => size(b) - size(a))) {
    const row = Math.floor(i / batch.length);
    const context = batch.tokens.subarray(row * batch.length, i + 1).join(' ');
    const known = found.get(context);
    if (known) known.alike++;
    else if (found.size < most) {
      const [before, after] = [Math.exp(moved.before[i] ?? 0), Math.exp(moved.after[i] ?? 0)];
      found.set(context, { change: { row, t: i % batch.length, before, after, alike: 1 }, alike: 1 });
    }
  }
  return [...found.values()].map(({ change, alike }) => ({ ...change, alike }));
}
