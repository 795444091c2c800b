import { readTags, type TaggedTurn } from '../text/tags.ts';
import type { Vocabulary } from './vocab.ts';

/** What a turn of action tokens says. */
export type ParsedTurn = TaggedTurn;

/** Reads one turn of tags and words; malformed is null. */
export function parseTurn(action: readonly number[], vocabulary: Vocabulary, think: boolean): ParsedTurn | null {
  return readTags(action.map(vocabulary.word), think);
}
