import type { Passage, TextToken } from '../../domain/textSpans.ts';

/** Passages cut off after their first `count` tokens. */
export function firstTokens<T extends TextToken>(
  passages: readonly Passage<T>[],
  count: number,
): readonly Passage<T>[] {
  return passages.flatMap((passage) => {
    if (passage.from + passage.count <= count) return [passage];
    if (passage.from >= count) return [];
    const blocks = passage.blocks
      .filter(({ from }) => from < count)
      .map(({ from, tokens }) => ({ from, tokens: tokens.slice(0, count - from) }));
    return [{ ...passage, count: count - passage.from, blocks }];
  });
}

export function tokenAt<T extends TextToken>(passages: readonly Passage<T>[], at: number): T | undefined {
  const passage = passages.find(({ from, count }) => at >= from && at < from + count);
  const block = passage?.blocks.findLast(({ from }) => from <= at);
  return block?.tokens[at - block.from];
}
