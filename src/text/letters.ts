/**
 * Byte-level vocabularies write a byte as a letter (GPT-2, openai/gpt-2 `src/encoder.py` bytes_to_unicode): printable bytes of Latin-1 are
 * themselves, the others follow from U+0100 on. Index: the byte.
 */
export const LETTERS: readonly string[] = (() => {
  const printable = (byte: number) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let others = 0;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : 256 + others++));
})();

const BYTES = new Map(LETTERS.map((letter, byte) => [letter, byte]));

/** The bytes that a token of a byte-level vocabulary stands for. One with another letter in it stands for its own UTF-8, as in `tokenizers`. */
export function bytesOf(token: string): Uint8Array {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = BYTES.get(token[i] ?? '');
    if (byte === undefined) return new TextEncoder().encode(token);
    bytes[i] = byte;
  }
  return bytes;
}

/** Bytes in the letters of a byte-level vocabulary. */
export function lettersOf(bytes: Uint8Array): string {
  let letters = '';
  for (const byte of bytes) letters += LETTERS[byte] ?? '';
  return letters;
}
