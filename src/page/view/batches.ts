import { batchBytes, type KeptBatch } from '../../domain/batch.ts';
import type { RunEvent } from '../../wire/commands.ts';
import type { Answer, Question } from '../../wire/questions.ts';
import { useSelection } from './selectionStore.ts';
import { useLive } from './liveStore.ts';

/** Bytes of batches that the page stores. The run in the worker keeps more batches, which the page requests when needed. */
const MAX_STORED_BYTES = 32 * 2 ** 20;

const stored = new Map<number, KeptBatch & { readonly bytes: number }>(); // by update; the least recently used first
let bytes = 0;
let runCount = 0; // counts runs, so that a late answer of an old run isn't used for the next

/** Stores a batch that the worker posted, and notes which batches the worker now keeps. */
export function receiveBatch({
  batch,
  config,
  kept,
  bytes: keptBytes,
}: Omit<Extract<RunEvent, { type: 'batch' }>, 'type'>): void {
  add({ batch, config });
  useLive.setState({ batchesInWorker: { updates: kept, bytes: keptBytes } });
}

/** Drops all batches, because another run begins. */
export function clearBatches(): void {
  stored.clear();
  bytes = 0;
  runCount++;
  useLive.setState({ batchesInWorker: { updates: [], bytes: 0 } });
}

export function storedBatch(update: number): KeptBatch | undefined {
  const batch = stored.get(update);
  if (!batch) return undefined;
  stored.delete(update);
  stored.set(update, batch); // now the most recently used
  return batch;
}

export function newestBatch(): KeptBatch | undefined {
  return storedBatch(useLive.getState().batchesInWorker.updates.at(-1) ?? -1);
}

/** Whether the run's worker keeps the batch of an update and the page doesn't have it. */
export function isOnlyInWorker(update: number): boolean {
  return useLive.getState().batchesInWorker.updates.includes(update) && !stored.has(update);
}

/** Asks the worker for the batch of an update, and stores it if the worker still keeps it. */
export async function fetchBatch(update: number, ask: (question: Question) => Promise<Answer>): Promise<void> {
  const askedRun = runCount;
  const answer = await ask({ kind: 'batch', update });
  if (runCount !== askedRun) return;
  const batch = answer.kind === 'batch' ? answer.kept : null;
  if (batch) add(batch);
  else
    useLive.setState({
      batchesInWorker: {
        ...useLive.getState().batchesInWorker,
        updates: useLive.getState().batchesInWorker.updates.filter((each) => each !== update),
      },
    });
}

function add({ batch, config }: KeptBatch): void {
  drop(batch.update);
  const size = batchBytes(batch);
  stored.set(batch.update, { batch, config, bytes: size });
  bytes += size;
  const { shownUpdate } = useSelection.getState();
  for (const update of stored.keys()) {
    if (bytes <= MAX_STORED_BYTES) break;
    if (update !== shownUpdate && update !== batch.update) drop(update);
  }
}

function drop(update: number): void {
  bytes -= stored.get(update)?.bytes ?? 0;
  stored.delete(update);
}
