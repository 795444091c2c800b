import { batchBytes, type KeptBatch } from '../../domain/batch.ts';
import type { RunEvent } from '../../wire/events.ts';
import type { Answer, Question } from '../../wire/questions.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { live } from './liveStore.ts';

/**
 * Bytes of batches that the page stores. The run in the worker keeps more batches, which the page requests when needed.
 */
const MAX_STORED_BYTES = 32 * 2 ** 20;

const stored = new Map<number, KeptBatch & { readonly bytes: number }>(); // by update; the least recently used first
let bytes = 0;
let run = 0; // counts runs, so that a late answer of an old run isn't used for the next

/** Stores a batch that the run posted, and notes which batches the run now keeps. */
export function takeBatch({ batch, config, ...kept }: Omit<Extract<RunEvent, { type: 'batch' }>, 'type'>): void {
  add({ batch, config });
  live.kept = { updates: kept.kept, bytes: kept.bytes };
}

/** Drops all batches, because another run begins. */
export function clearBatches(): void {
  stored.clear();
  bytes = 0;
  run++;
  live.kept = { updates: [], bytes: 0 };
}

/** The batch that an update learned from, if the page has it. */
export function batchAtHand(update: number): KeptBatch | undefined {
  const found = stored.get(update);
  if (!found) return undefined;
  stored.delete(update);
  stored.set(update, found);
  return found;
}

/** The newest batch of the run; undefined before the first. */
export function newestBatch(): KeptBatch | undefined {
  return batchAtHand(live.kept.updates.at(-1) ?? -1);
}

/** True if the run keeps the batch of an update but the page doesn't have it. */
export function isElsewhere(update: number): boolean {
  return live.kept.updates.includes(update) && !stored.has(update);
}

/** Asks the run for the batch of an update, and stores it if the run still keeps it. */
export async function fetchBatch(update: number, ask: (question: Question) => Promise<Answer>): Promise<void> {
  const askedRun = run;
  const answer = await ask({ kind: 'batch', update });
  if (run !== askedRun) return;
  const kept = answer.kind === 'batch' ? answer.kept : null;
  if (kept) add(kept);
  else live.kept = { ...live.kept, updates: live.kept.updates.filter((each) => each !== update) };
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
