import { useMemo } from 'react';
import type { BatchView } from '../../domain/batch.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import { live, useLive } from './liveStore.ts';
import { readRollout, type Rollout } from '../rollout/readRollout.ts';
import { useSelection } from './selectionStore.ts';

/** The rollout that the lab shows, and its batch. */
export interface ShownRollout {
  readonly batch: BatchView;
  readonly episode: EpisodeView | undefined;
  readonly rollout: Rollout;
}

/** The batch and rollout in view; computed once for each batch and row. */
export function useShownRollout(): ShownRollout {
  const version = useLive((s) => s.batchVersion);
  const row = useSelection((s) => s.row);
  return useMemo(() => shownRollout(version, row), [version, row]);
}

let memo: { version: number; row: number; batch: BatchView; shown: ShownRollout } | null = null;

/**
 * The batch and rollout in view, for code outside React such as keyboard shortcuts. `version` identifies the batch,
 * because `live.batch` is replaced and never modified.
 */
export function shownRollout(version: number, wantedRow: number): ShownRollout {
  const row = wantedRow < live.batch.rows ? wantedRow : 0; // an address may select a rollout that doesn't exist yet
  if (memo?.version === version && memo.row === row && memo.batch === live.batch) return memo.shown;
  const { batch, vocabulary } = live;
  const shown = {
    batch,
    episode: batch.episodes.find((episode) => episode.row === row),
    rollout: readRollout(batch, vocabulary, row),
  };
  memo = { version, row, batch, shown };
  return shown;
}

/** The turn in view: the chosen one, otherwise the last one shown. */
export function turnInView({ rollout }: ShownRollout, chosen: number | null, revealed: number | null = null): number {
  const shown =
    revealed === null ? undefined : rollout.turns.findLast((turn) => (turn.spans[0]?.tokens[0] ?? 0) < revealed);
  return chosen ?? (shown ?? rollout.turns.at(-1))?.turn ?? 0;
}
