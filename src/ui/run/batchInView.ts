import type { KeptBatch } from '../../domain/batch.ts';
import { batchAtHand, isElsewhere, newestBatch } from './batches.ts';
import { live, useLive } from './liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';

/**
 * The batch that ought to be in view and is not: the held one, or the newest where none is held or the run does not keep it. One that
 * is on its way leaves what is in view.
 */
export function nextBatch(): KeptBatch | undefined {
  const { held } = useSelection.getState();
  if (held !== null && held === live.batch.update && !live.isExample) return undefined;
  if (held !== null && isElsewhere(held)) return undefined;
  const next = (held === null ? undefined : batchAtHand(held)) ?? newestBatch();
  return next?.batch === live.batch ? undefined : next;
}

/** Shows a batch of a run with this vocabulary; what is chosen and is not in it is let go. */
export function showBatch({ batch, config }: KeptBatch, vocabulary: readonly string[]): void {
  live.batch = batch;
  live.vocabulary = vocabulary;
  live.batchConfig = config;
  live.isExample = false;
  useLive.setState((s) => ({ batchVersion: s.batchVersion + 1 }));
  const { held, row, token } = useSelection.getState();
  if (held !== null && held !== batch.update) return; // what is chosen belongs to a batch that is yet to come
  if (row >= batch.rows) useSelection.setState({ row: 0, token: null, turn: null });
  else if (token !== null && token >= (batch.lengths[row] ?? 0)) useSelection.setState({ token: null, turn: null });
}
