import { visible } from '../base/visible.ts';
import type { Span } from './textFinder.ts';

/**
 * Converts between text and token ids. Rollouts store ids and only display them as text: sampled tokens are never
 * encoded again. A model may have more embedding rows than its tokenizer has tokens. The ids of those rows decode to
 * nothing, as in other programs.
 */
export interface Codec {
  readonly kind: 'words' | 'bytes'; // words: tokens are words, joined by spaces; bytes: byte-level pieces
  readonly size: number; // the largest known id plus one
  readonly special: ReadonlySet<number>; // ids that programs leave out of decoded text: <pad>, <bos>, <|im_start|> …
  readonly stops: readonly number[]; // ids that end a turn
  /**
   * Encodes a text, adding nothing before or after it. A special token that is written out in the text becomes its id,
   * unless one of its characters is in a span of `outside`: text from an agent, a user or a tool must not become a
   * special token or end a turn (see `outsideText`).
   */
  readonly encode: (text: string, outside?: readonly Span[]) => readonly number[];
  /** The text of ids, including special tokens. Bytes that are not UTF-8 become U+FFFD. */
  readonly decode: (ids: readonly number[]) => string;
  /**
   * The text that each id adds; joined, the pieces are `decode(ids)`. A character made of several tokens is in the
   * piece of the token that completes it.
   */
  readonly pieces: (ids: readonly number[]) => readonly string[];
  /** The bytes of an id, which may be part of a character. Empty for an unknown id. */
  readonly bytes: (id: number) => Uint8Array;
  /** The id of a special or ordinary token by its text; null if there is no such token. */
  readonly id: (token: string) => number | null;
}

/** Tokens that end a message in common chat templates. They end a turn if no file names the tokens that do. */
const USUAL_STOPS = ['<|im_end|>', '<|endoftext|>', '<|eot_id|>', '<|eom_id|>', '</s>', '<end_of_turn>'];

/**
 * The ids that end a turn: the ids that a file names, or else the usual end tokens that are special tokens of the
 * tokenizer.
 */
export function resolveStops(codec: Pick<Codec, 'id' | 'special'>, fileStops: readonly number[]): readonly number[] {
  if (fileStops.length > 0) return [...new Set(fileStops)];
  return USUAL_STOPS.map((text) => codec.id(text)).filter(
    (id) => id !== null && codec.special.has(id),
  ) as readonly number[];
}

// made at its first use: a handed-over folder plays built-in environments in a virtual machine that has no TextDecoder
let utf8: TextDecoder | null = null;

/**
 * A printable form of a token: its text with visible spaces and control characters, its bytes as in `‹E2 80›` if it is
 * part of a character, or its id as in `‹151700›` if it has no text.
 */
export function shownToken(codec: Codec, id: number): string {
  const bytes = codec.bytes(id);
  if (bytes.length === 0) return `‹${id}›`;
  let text: string;
  try {
    utf8 ??= new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    text = utf8.decode(bytes);
  } catch {
    return `‹${Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join(' ')}›`;
  }
  return visible(text.replaceAll(' ', '␣').replaceAll('\n', '⏎').replaceAll('\t', '⇥'));
}
