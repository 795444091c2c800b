import type { KeptBatch } from '../../domain/batch.ts';
import { useReplay } from '../replay/player.ts';
import { batchAtHand } from '../run/batches.ts';
import { live } from '../run/liveStore.ts';
import { question } from '../run/transport.ts';

const MOST = 20; // batches of a run: each is asked for

/** The recorded batches, or some that the run keeps, spread over its updates. Rejects with the signal's reason once it is aborted. */
export async function keptBatches(signal: AbortSignal): Promise<readonly KeptBatch[]> {
  if (live.isExample) return useReplay.getState().recording?.batches ?? [];
  const { updates } = live.kept;
  const found: KeptBatch[] = [];
  for (const update of spread(updates, MOST)) {
    signal.throwIfAborted();
    const near = batchAtHand(update);
    if (near) {
      found.push(near);
      continue;
    }
    const answer = await question({ kind: 'batch', update });
    if (answer.kind === 'batch' && answer.kept) found.push(answer.kept);
  }
  return found;
}

/** At most so many of a list, evenly spread, the first and the last among them. */
export function spread<T>(list: readonly T[], most: number): readonly T[] {
  if (list.length <= most) return list;
  return Array.from({ length: most }, (_, i) => list[Math.round((i * (list.length - 1)) / (most - 1))]).filter(
    (each) => each !== undefined,
  );
}
