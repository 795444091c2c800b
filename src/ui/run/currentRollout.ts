import { useMemo } from 'react';
import type { BatchView } from '../../domain/batch.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import { live, useLive } from './liveStore.ts';
import { readRollout, type Rollout } from '../rollout/readRollout.ts';
import { useSelection } from '../shell/selectionStore.ts';

/** What the lab shows: a batch and the rollout chosen from it. */
export interface Current {
  readonly batch: BatchView;
  readonly episode: EpisodeView | undefined;
  readonly rollout: Rollout;
}

/** The batch and rollout in view; computed once for each batch and row. */
export function useCurrent(): Current {
  const version = useLive((s) => s.batchVersion);
  const row = useSelection((s) => s.row);
  return useMemo(() => currentOf(version, row), [version, row]);
}

let memo: { version: number; row: number; batch: BatchView; current: Current } | null = null;

/**
 * The batch and rollout in view, for code outside React such as keyboard shortcuts. `version` identifies the batch,
 * because `live.batch` is replaced and never modified.
 */
export function currentOf(version: number, wantedRow: number): Current {
  const row = wantedRow < live.batch.rows ? wantedRow : 0; // an address may select a rollout that doesn't exist yet
  if (memo?.version === version && memo.row === row && memo.batch === live.batch) return memo.current;
  const { batch, vocabulary } = live;
  const current = {
    batch,
    episode: batch.episodes.find((episode) => episode.row === row),
    rollout: readRollout(batch, vocabulary, row),
  };
  memo = { version, row, batch, current };
  return current;
}

/** The turn in view: the chosen one, otherwise the last one shown. */
export function turnInView({ rollout }: Current, chosen: number | null, revealed: number | null = null): number {
  const shown =
    revealed === null ? undefined : rollout.turns.findLast((turn) => (turn.spans[0]?.tokens[0] ?? 0) < revealed);
  return chosen ?? (shown ?? rollout.turns.at(-1))?.turn ?? 0;
}
