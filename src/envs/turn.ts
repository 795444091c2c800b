import { readTags, type TaggedTurn } from '../text/tags.ts';
import type { Vocabulary } from './vocab.ts';

export type ParsedTurn = TaggedTurn;

/** Reads one turn of tags and words. Returns null if it is malformed. */
export function parseTurn(action: readonly number[], vocabulary: Vocabulary, think: boolean): ParsedTurn | null {
  return readTags(action.map(vocabulary.word), think);
}
