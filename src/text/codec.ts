import { visible } from '../base/visible.ts';
import type { Span } from './textFinder.ts';

/**
 * Text and ids: what a tokenizer does. Ids are the record, text is a view: what was drawn is never encoded again. A model may have more
 * rows than its tokenizer has tokens; such an id says nothing, as in other readers.
 */
export interface Codec {
  readonly kind: 'words' | 'bytes'; // a word a token, joined by blanks; or byte-level pieces, joined by nothing
  readonly size: number; // one more than the largest id it knows
  readonly special: ReadonlySet<number>; // ids that readers leave out of text: <pad>, <bos>, <|im_start|> …
  readonly stops: readonly number[]; // ids that end a turn
  /**
   * The ids of a text; nothing is put before or after. Special tokens that are written out in it become their ids, unless a letter of them
   * is `outside`: what an agent, a user or a tool wrote never becomes a special token or the end of a turn (see `outsideText`).
   */
  readonly encode: (text: string, outside?: readonly Span[]) => readonly number[];
  /** The text of ids, special tokens included. Bytes that are no UTF-8 become U+FFFD. */
  readonly decode: (ids: readonly number[]) => string;
  /** The text each id adds: together they are `decode` of them all. A letter of several tokens stands at the one that completes it. */
  readonly pieces: (ids: readonly number[]) => readonly string[];
  /** The bytes of an id: a token may be half a letter. Empty for an id it does not know. */
  readonly bytes: (id: number) => Uint8Array;
  /** The id of a token by its text, special or not; null if there is none. */
  readonly id: (token: string) => number | null;
}

/** What ends a turn beside what a file says of it: the ends of a message as chat templates write them. */
const ENDS = ['<|im_end|>', '<|endoftext|>', '<|eot_id|>', '<|eom_id|>', '</s>', '<end_of_turn>'];

/** The ids that end a turn: those a file names, or, where it names none, the usual ones that the tokenizer has as special tokens. */
export function stopsOf(codec: Pick<Codec, 'id' | 'special'>, named: readonly number[]): readonly number[] {
  if (named.length > 0) return [...new Set(named)];
  return ENDS.map((end) => codec.id(end)).filter((id) => id !== null && codec.special.has(id)) as readonly number[];
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A token as something printable: its text with blanks and controls marked, `‹E2 80›` where it is a part of a letter, `‹151700›` where it says nothing. */
export function shownToken(codec: Codec, id: number): string {
  const bytes = codec.bytes(id);
  if (bytes.length === 0) return `‹${id}›`;
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    return `‹${Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join(' ')}›`;
  }
  return visible(text.replaceAll(' ', '␣').replaceAll('\n', '⏎').replaceAll('\t', '⇥'));
}
