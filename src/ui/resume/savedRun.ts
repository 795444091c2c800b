import { CheckpointError, damaged, readCheckpoint, type Checkpoint } from '../../runs/checkpoint.ts';
import { checksumOf } from '../../base/checksum.ts';
import type { Facts } from '../../facts/facts.ts';
import { readPage, type PageState } from './pageState.ts';

/** A run as it is kept: all it takes to go on with it, page and all. */
export interface SavedRun {
  readonly update: number;
  readonly name: string;
  readonly savedAt: number; // ms since 1970
  readonly checkpoint: Checkpoint; // sealed by itself
  readonly facts: Facts | null; // a person's own, where the run asks about them
  readonly page: PageState;
  readonly sum: string; // checksum of all but the checkpoint
}

/** The run with its checksum. */
export function sealed(run: Omit<SavedRun, 'sum'>): SavedRun {
  return { ...run, sum: sumOf(run) };
}

function sumOf(run: Readonly<Partial<Record<keyof SavedRun, unknown>>>): string {
  return checksumOf({ ...run, checkpoint: null, sum: null }); // the checkpoint has its own
}

/**
 * Reads what a browser kept, which may have been written by another version of the page or have been damaged. Throws CheckpointError,
 * with what is wrong, on anything that is not just what was saved. Whether the run fits this page's model is for the worker to say.
 */
export function readSavedRun(value: unknown): SavedRun {
  if (typeof value !== 'object' || value === null) throw new CheckpointError('What was kept is no run.');
  const kept = value as Readonly<Partial<Record<keyof SavedRun, unknown>>>;
  const { update, name, savedAt } = kept;
  const checkpoint = readCheckpoint(kept.checkpoint);
  if (update !== checkpoint.progress.update) {
    throw new CheckpointError(
      `It is of update ${String(update)}, its checkpoint of update ${checkpoint.progress.update}.`,
    );
  }
  if (typeof name !== 'string' || typeof savedAt !== 'number' || !Number.isFinite(savedAt)) {
    throw new CheckpointError('Its name or the time it was saved does not read.');
  }
  const run = { update, name, savedAt, checkpoint, facts: readFacts(kept.facts), page: readPage(kept.page) };
  const found = sumOf(kept);
  if (kept.sum !== found) throw new CheckpointError(damaged(kept.sum, found));
  return { ...run, sum: found };
}

function readFacts(value: unknown): Facts | null {
  if (value === null) return null;
  const { source, triples } = (value ?? {}) as Readonly<Partial<Record<keyof Facts, unknown>>>;
  const isTriple = (x: unknown) => Array.isArray(x) && x.length === 3 && x.every((name) => typeof name === 'string');
  if (typeof source !== 'string' || !Array.isArray(triples) || !triples.every(isTriple)) {
    throw new CheckpointError('Its facts are no list of triples.');
  }
  return value as Facts;
}
