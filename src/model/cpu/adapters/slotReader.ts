import type { Batch } from '../../learning/batchArrays.ts';
import { CachedContexts, lastContext } from '../../contexts.ts';
import type { RowReader } from '../logitsDrawer.ts';
import { gatherRows } from '../layers.ts';
import type { ForwardTensors } from '../network.ts';
import type { Real } from '../../learning/real.ts';
import { longestShared, sharedBeginnings } from '../../sharedBeginnings.ts';
import { releaseSlots, shareSlots, takeSlots } from '../slotCache.ts';
import type { TextNetwork } from '../textNetwork.ts';
import type { Arithmetic } from '../arithmetic.ts';

/** A beginning that rows share, also with a row begun earlier, is computed and cached once: a queue runs its system prompt once. */
export class SlotReader implements RowReader {
  readonly #batch: Batch;
  readonly #network: TextNetwork<Real>;
  readonly #head: Real; // (V, d)
  readonly #yieldToEvents: () => Promise<void>;
  readonly #arithmetic: Arithmetic;
  readonly #contexts: CachedContexts;
  readonly #hidden: Real; // (B, d) after each row's last token
  readonly #gathered: Real; // (B, d)

  /** `yieldToEvents` is called between chunks of a long text. */
  constructor(
    batch: Batch,
    network: TextNetwork<Real>,
    { head }: ForwardTensors,
    arithmetic: Arithmetic,
    yieldToEvents: () => Promise<void>,
  ) {
    const { model, reals } = arithmetic;
    this.#batch = batch;
    this.#network = network;
    this.#head = head;
    this.#yieldToEvents = yieldToEvents;
    this.#arithmetic = arithmetic;
    this.#contexts = new CachedContexts(batch);
    this.#hidden = reals(batch.rows * model.hidden_size);
    this.#gathered = reals(batch.rows * model.hidden_size);
  }

  clearCache(): void {
    for (let row = 0; row < this.#batch.rows; row++) this.clearRowCache(row);
  }

  clearRowCache(row: number): void {
    releaseSlots(this.#network.cache, row, 0);
  }

  async read(active: readonly number[], logits: Real): Promise<void> {
    const { cache } = this.#network;
    const { lengths } = this.#batch;
    const { model, matmulNT } = this.#arithmetic;
    const d = model.hidden_size;
    const textOf = (row: number) => lastContext(this.#batch, row);
    for (const row of active) releaseSlots(cache, row, this.#contexts.moveOn(row, cache.cachedCounts[row]!));
    const uncachedRows = active.filter((row) => cache.cachedCounts[row] === 0);
    const cachedRows = Array.from(lengths.keys()).filter(
      (row) => cache.cachedCounts[row]! > 0 && this.#contexts.isLast(row),
    );
    const cachedTexts = cachedRows.map((row) => textOf(row).subarray(0, cache.cachedCounts[row]));
    const beginnings = sharedBeginnings(uncachedRows.map((row) => Array.from(textOf(row))));
    const reused = beginnings.map(({ row, likeRow, shared: count }) => {
      const targetRow = uncachedRows[row]!;
      const cached = longestShared(textOf(targetRow), cachedTexts);
      const sourceRow = cached.shared > count ? cachedRows[cached.index]! : uncachedRows[likeRow]!;
      // a row runs at least its last token, because its hidden state is needed
      return { sourceRow, targetRow, count: Math.min(Math.max(count, cached.shared), textOf(targetRow).length - 1) };
    });
    const activeCached = active.filter((row) => cache.cachedCounts[row]! > 0);
    const newTokens = [...activeCached.map((row) => ({ sourceRow: row, targetRow: row, count: -1 })), ...reused].map(
      ({ sourceRow, targetRow, count }) => {
        if (count >= 0 && sourceRow !== targetRow) shareSlots(cache, sourceRow, targetRow, count);
        const start = cache.cachedCounts[targetRow]!;
        takeSlots(cache, targetRow, textOf(targetRow).length - start);
        return { row: targetRow, start, ids: Array.from(textOf(targetRow).subarray(start)) };
      },
    );
    const keepLastHidden = (
      positions: readonly { readonly row: number; readonly position: number }[],
      hidden: Real,
    ): void => {
      for (const [i, { row, position }] of positions.entries()) {
        if (position === textOf(row).length - 1) this.#hidden.set(hidden.subarray(i * d, (i + 1) * d), row * d);
      }
    };
    await this.#network.runWithBreaks(newTokens, keepLastHidden, this.#yieldToEvents);
    gatherRows(this.#gathered, this.#hidden, Int32Array.from(active), active.length, d);
    matmulNT(logits, this.#gathered, this.#head, active.length, model.vocab_size, d);
  }
}
