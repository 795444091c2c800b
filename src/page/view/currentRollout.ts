import type { BatchView } from '../../domain/batch.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import { useLive } from './liveStore.ts';
import { readRollout, type Rollout } from '../rollout/readRollout.ts';
import { useSelection } from './selectionStore.ts';

export interface ShownRollout {
  readonly batch: BatchView;
  readonly episode: EpisodeView | undefined;
  readonly rollout: Rollout;
}

/** The batch and rollout in view; computed once for each batch and row. */
export function useShownRollout(): ShownRollout {
  useLive((s) => s.batch);
  return shownRollout(useSelection((s) => s.row));
}

let memo: { readonly row: number; readonly shown: ShownRollout } | null = null;

/** The batch and rollout in view, for code outside React such as keyboard shortcuts. A batch is replaced, never modified. */
export function shownRollout(wantedRow: number): ShownRollout {
  const { batch, vocabulary } = useLive.getState();
  const row = wantedRow < batch.rows ? wantedRow : 0; // an address may select a rollout that doesn't exist yet
  if (memo?.row === row && memo.shown.batch === batch) return memo.shown;
  const shown = {
    batch,
    episode: batch.episodes.find((episode) => episode.row === row),
    rollout: readRollout(batch, vocabulary, row),
  };
  memo = { row, shown };
  return shown;
}

/** The turn in view: the chosen one, otherwise the last one shown. */
export function turnInView({ rollout }: ShownRollout, chosen: number | null, revealed: number | null = null): number {
  const shown =
    revealed === null ? undefined : rollout.turns.findLast((turn) => (turn.spans[0]?.tokens[0] ?? 0) < revealed);
  return chosen ?? (shown ?? rollout.turns.at(-1))?.turn ?? 0;
}
