import type { RunConfig } from '../config/fields.ts';
import { type BatchView, isMeasured, type KeptBatch, type EpochView, SCORE_NAMES } from '../domain/batch.ts';
import type { EpisodeView } from '../domain/episode.ts';
import { type Writing, writingOf } from '../domain/tokens.ts';

/** One row of a kept batch, cut to its length. Lists that the knobs left unmeasured are undefined. */
export interface BatchRow {
  readonly id: string; // unique in the run
  readonly update: number;
  readonly drawnAfter: number; // the update after which the weights that drew it were current
  readonly group: string;
  readonly episode: EpisodeView;
  readonly config: RunConfig;
  readonly length: number;
  readonly ids: readonly number[];
  readonly writing: Writing;
  readonly words: readonly string[]; // for people: with the names that `episode.names` gives token ids in this task
  readonly learnedFrom: boolean; // the update learned from it
  readonly epochViews: readonly EpochView[];
  /** Floats have the fewest digits that identify them. Undefined if the list was not measured. */
  readonly list: (name: BatchList) => readonly number[] | undefined;
  /** This row's part of any list of the batch's size, with floats shortened as in `list`. */
  readonly rowSlice: (list: ArrayLike<number>) => readonly number[];
  readonly push: readonly number[]; // −∂L/∂log π, summed over the recorded passes
  readonly partLists: readonly (readonly [string, readonly number[]])[];
}

type BatchList = {
  readonly [K in keyof BatchView]-?: NonNullable<BatchView[K]> extends Float32Array | Uint8Array | Int32Array
    ? K
    : never;
}[keyof BatchView];

export function rowsOf({ batch, config }: KeptBatch, vocabulary: readonly string[]): BatchRow[] {
  const unmeasured = new Set<BatchList>(SCORE_NAMES.filter((name) => !isMeasured({ batch, config }, name)));
  return batch.episodes.map((episode) => {
    const rowStart = episode.row * batch.length;
    const length = batch.lengths[episode.row] ?? batch.length;
    const rowSlice = (list: ArrayLike<number>) =>
      Array.from({ length }, (_, t) => {
        const value = list[rowStart + t] ?? 0;
        return list instanceof Float32Array ? fewestDigits(value) : value;
      });
    const ids = rowSlice(batch.tokens);
    return {
      ...{ id: `${batch.update}-${episode.row}`, update: batch.update, group: `${batch.update}-${episode.group}` },
      ...{ episode, config, length, ids, rowSlice },
      writing: writingOf(vocabulary),
      words: ids.map((id) => episode.names.get(id) ?? vocabulary[id] ?? `#${id}`),
      drawnAfter: batch.update - 1 - (batch.age ?? 0),
      learnedFrom: batch.kept[episode.row] !== 0,
      epochViews: batch.epochViews ?? [],
      list: (name) => {
        const list = unmeasured.has(name) ? undefined : batch[name];
        return list && rowSlice(list);
      },
      push: Array.from({ length }, (_, t) => pushAt(batch, rowStart + t)),
      partLists: Object.entries(batch.parts).map(([part, list]) => [part, rowSlice(list)] as const),
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
function pushAt({ epochViews = [], gradWeights }: BatchView, i: number): number {
  const lists = epochViews.length > 0 ? epochViews.map((pass) => pass.gradWeights) : [gradWeights];
  const sum = lists.reduce((total, list) => total - (list[i] ?? 0), 0);
  return fewestDigits(Math.fround(sum));
}
