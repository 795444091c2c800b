import type { RunConfig } from '../config/fields.ts';
import { type BatchView, isMeasured, type KeptBatch, type PassView, SCORE_NAMES } from '../domain/batch.ts';
import type { EpisodeView } from '../domain/episode.ts';
import { type Writing, writingOf } from '../domain/tokens.ts';

/** One row of a kept batch, cut to its length; what the knobs left unmeasured is undefined. */
export interface BatchRow {
  readonly id: string; // unique in the run
  readonly update: number;
  readonly group: string;
  readonly episode: EpisodeView;
  readonly config: RunConfig;
  readonly length: number;
  readonly ids: readonly number[];
  readonly writing: Writing;
  readonly words: readonly string[]; // as people read them: a slot word by the name it has in this episode
  readonly kept: boolean; // learned from
  readonly passes: readonly PassView[];
  /** A list of the batch as this row has it, floats in as few digits as name them; undefined where nothing measured it. */
  readonly list: (name: BatchList) => readonly number[] | undefined;
  /** Any list of the batch's size, likewise. */
  readonly cut: (from: ArrayLike<number>) => readonly number[];
  readonly push: readonly number[]; // −∂L/∂log π, summed over the passes that are kept
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

/** The decimal with the fewest digits that is this float32 when it is read again; nine always are. */
function fewestDigits(value: number): number {
  for (const digits of [3, 6, 7, 8]) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return Number(value.toPrecision(9));
}

/** The push at a flat index, in float32 as all the others. */
function pushAt({ passes = [], gradWeights }: BatchView, i: number): number {
  const lists = passes.length > 0 ? passes.map((pass) => pass.gradWeights) : [gradWeights];
  const sum = lists.reduce((total, list) => total - (list[i] ?? 0), 0);
  return fewestDigits(Math.fround(sum));
}
