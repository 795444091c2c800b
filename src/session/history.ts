import type { RunConfig } from '../config/fields.ts';
import { batchBytes, type BatchView, type KeptBatch } from '../domain/batch.ts';
import type { Weights } from '../model/architecture.ts';
import type { NetworkState } from '../model/policy.ts';
import type { Lesson } from '../rl/lesson.ts';

/** Largest total size of the kept batches, in bytes. */
const MAX_BATCH_BYTES = 64 * 2 ** 20;
/** Largest total size of the kept weights and moments, in bytes. */
const MAX_STATE_BYTES = 96 * 2 ** 20;
/** Number of branches kept for questions. */
const MAX_BRANCHES = 40;

/**
 * The past of a run, for questions about it. It keeps up to 64 updates (`mostRedundant` chooses which): the batch with
 * its configuration and what the update did with it, and the policy's weights and moments before and after. Memory
 * limits this further: batches take at most 64 MiB, except that the newest batch and the one on screen always stay;
 * weights and moments take at most 96 MiB. So a batch may be kept longer than the weights around it.
 */
export class RunHistory {
  readonly #batches = new Map<number, KeptBatch>(); // by update, ascending
  readonly #lessons = new Map<number, Lesson>(); // by update; only for updates in `#batches`
  readonly #states = new Map<number, NetworkState>(); // the network after an update
  readonly #branches = new Map<number, KeptBatch>();
  #currentLesson: Lesson | null = null; // of the update in progress
  #branchCount = 0; // number of branches so far
  #shownUpdate: number | null = null; // the update that the page shows

  /** Always keeps this update, because the page shows it. Null: the page shows none. */
  setShown(update: number | null): void {
    this.#shownUpdate = update;
  }

  keepBatch(batch: BatchView, config: RunConfig): void {
    // after a rollback, the run repeats updates
    for (const update of this.#batches.keys()) if (update >= batch.update) this.#deleteUpdate(update);
    this.#batches.set(batch.update, { batch, config });
    while (this.#batches.size > KEPT_UPDATES || this.bytes > MAX_BATCH_BYTES) {
      const others = this.updates.filter((update) => update !== this.#shownUpdate && update !== batch.update);
      if (others.length === 0) break;
      this.#deleteUpdate(mostRedundant(others));
    }
  }

  keepLesson(lesson: Lesson): void {
    this.#currentLesson = lesson;
  }

  /** The caller must not change it any more. A network larger than the limit is not kept. */
  keepState(update: number, state: NetworkState): void {
    if (this.#currentLesson && this.#batches.has(update)) this.#lessons.set(update, this.#currentLesson);
    this.#currentLesson = null;
    for (const at of this.#states.keys()) if (at >= update) this.#states.delete(at);
    this.#states.set(update, state);
    let keptUpdates = this.updates;
    this.#prune(keptUpdates, update);
    while (this.#stateBytes() > MAX_STATE_BYTES) {
      const others = keptUpdates.filter((each) => each !== this.#shownUpdate);
      if (others.length === 0) break;
      const redundant = mostRedundant(others);
      keptUpdates = keptUpdates.filter((each) => each !== redundant);
      this.#prune(keptUpdates, update);
    }
    if (this.#stateBytes() > MAX_STATE_BYTES) this.#states.clear();
  }

  /** Keeps a branch, so that questions about it can be answered. Returns its number. */
  keepBranch(batch: BatchView, config: RunConfig): number {
    this.#branches.set(++this.#branchCount, { batch, config });
    this.#branches.delete(this.#branchCount - MAX_BRANCHES);
    return this.#branchCount;
  }

  /** The updates whose batches are kept, ascending. */
  get updates(): readonly number[] {
    return [...this.#batches.keys()];
  }

  get bytes(): number {
    return [...this.#batches.values()].reduce((sum, { batch }) => sum + batchBytes(batch), 0);
  }

  batch(update: number): KeptBatch | undefined {
    return this.#batches.get(update);
  }

  branch(id: number): KeptBatch | undefined {
    return this.#branches.get(id);
  }

  lesson(update: number): Lesson | undefined {
    return this.#lessons.get(update);
  }

  state(update: number): NetworkState | undefined {
    return this.#states.get(update);
  }

  newestWeights(): Weights | undefined {
    return [...this.#states.values()].at(-1)?.weights;
  }

  #deleteUpdate(update: number): void {
    this.#batches.delete(update);
    this.#lessons.delete(update);
  }

  /** Drops networks neither before nor after an update of `wanted`. The newest stays: it's before the next update. */
  #prune(wanted: readonly number[], newest: number): void {
    const needed = new Set(wanted.flatMap((update) => [update - 1, update]));
    for (const at of this.#states.keys()) if (!needed.has(at) && at !== newest) this.#states.delete(at);
  }

  #stateBytes(): number {
    return [...this.#states.values()].reduce((sum, state) => sum + stateBytes(state), 0);
  }
}

function stateBytes({ weights, adamM, adamV }: NetworkState): number {
  return [weights, adamM, adamV]
    .flatMap((tensors) => [...tensors.values()])
    .reduce((sum, { byteLength }) => sum + byteLength, 0);
}

const KEPT_UPDATES = 64;
/** Newest updates that `mostRedundant` spares if there are at least 26, so that the person can go through them one by one. */
const NEWEST_UPDATES = 24;

/**
 * The update of `updates` (ascending) to drop next. With fewer than 26 updates it is the oldest. Otherwise the first
 * update and the newest 24 are spared. Of the others, it is the update whose neighbours are closest together, the
 * oldest one if several are equal. So the kept updates spread over the whole run and are denser towards its end. Throws
 * if `updates` is empty.
 */
function mostRedundant(updates: readonly number[]): number {
  const [first] = updates;
  if (first === undefined) throw new Error('mostRedundant: there are no updates.');
  let [redundant, gap] = [first, Infinity];
  for (let i = 1; i < updates.length - NEWEST_UPDATES; i++) {
    const [before = 0, at = 0, after = 0] = updates.slice(i - 1, i + 2);
    if (after - before < gap) [redundant, gap] = [at, after - before];
  }
  return redundant;
}
