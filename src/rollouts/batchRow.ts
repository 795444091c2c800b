import type { RunConfig } from '../config/fields.ts';
import { type BatchView, isMeasured, type KeptBatch, type PassView, SCORE_NAMES } from '../domain/batch.ts';
import type { EpisodeView } from '../domain/episode.ts';
import { type Writing, writingOf } from '../domain/tokens.ts';

/** One row of a kept batch, cut to its length. Lists that the knobs left unmeasured are undefined. */
export interface BatchRow {
  readonly id: string; // unique in the run
  readonly update: number;
  readonly group: string;
  readonly episode: EpisodeView;
  readonly config: RunConfig;
  readonly length: number;
  readonly ids: readonly number[];
  readonly writing: Writing;
  readonly words: readonly string[]; // for people: with the names that `episode.names` gives token ids in this task
  readonly kept: boolean; // the update learned from it
  readonly passes: readonly PassView[];
  /**
   * This row's part of a list of the batch. Floats have the fewest digits that identify them. Undefined if the list was
   * not measured.
   */
  readonly list: (name: BatchList) => readonly number[] | undefined;
  /** This row's part of any list of the batch's size, with floats shortened as in `list`. */
  readonly cut: (from: ArrayLike<number>) => readonly number[];
  readonly push: readonly number[]; // −∂L/∂log π, summed over the recorded passes
  readonly partLists: readonly (readonly [string, readonly number[]])[];
}

type BatchList = {
  readonly [K in keyof BatchView]-?: NonNullable<BatchView[K]> extends Float32Array | Uint8Array | Int32Array
    ? K
    : never;
}[keyof BatchView];

/** The rows of a kept batch, in order. */
export function rowsOf({ batch, config }: KeptBatch, vocabulary: readonly string[]): BatchRow[] {
  const unmeasured = new Set<BatchList>(SCORE_NAMES.filter((name) => !isMeasured({ batch, config }, name)));
  return batch.episodes.map((episode) => {
    const from = episode.row * batch.length;
    const length = batch.lengths[episode.row] ?? batch.length;
    const cut = (list: ArrayLike<number>) =>
      Array.from({ length }, (_, t) => {
        const value = list[from + t] ?? 0;
        return list instanceof Float32Array ? fewestDigits(value) : value;
      });
    const ids = cut(batch.tokens);
    return {
      ...{ id: `${batch.update}-${episode.row}`, update: batch.update, group: `${batch.update}-${episode.group}` },
      ...{ episode, config, length, ids, cut },
      writing: writingOf(vocabulary),
      words: ids.map((id) => episode.names.get(id) ?? vocabulary[id] ?? `#${id}`),
      kept: batch.kept[episode.row] !== 0,
      passes: batch.passes ?? [],
      list: (name) => {
        const list = unmeasured.has(name) ? undefined : batch[name];
        return list && cut(list);
      },
      push: Array.from({ length }, (_, t) => pushAt(batch, from + t)),
      partLists: Object.entries(batch.parts).map(([part, list]) => [part, cut(list)] as const),
    };
  });
}

/** The decimal with the fewest digits that reads back as the same float32. Nine digits are always enough. */
function fewestDigits(value: number): number {
  for (const digits of [3, 6, 7, 8]) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number(value.toPrecision(9));
}

/** The push (−∂L/∂log π) at a flat index of the batch, rounded to float32 like the batch's own lists. */
function pushAt({ passes = [], gradWeights }: BatchView, i: number): number {
  const lists = passes.length > 0 ? passes.map((pass) => pass.gradWeights) : [gradWeights];
  const sum = lists.reduce((total, list) => total - (list[i] ?? 0), 0);
  return fewestDigits(Math.fround(sum));
}
