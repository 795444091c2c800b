/**
 * The characters in which byte-level vocabularies write bytes; the index is the byte. Printable bytes of Latin-1 stand
 * for themselves, the others are written as the characters from U+0100 on. From GPT-2 (openai/gpt-2 `src/encoder.py`,
 * bytes_to_unicode).
 */
export const BYTE_CHARACTERS: readonly string[] = (() => {
  const printable = (byte: number) => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let remappedBytes = 0;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable(byte) ? byte : 256 + remappedBytes++));
})();

const BYTE_OF_CHARACTER = new Map(BYTE_CHARACTERS.map((character, byte) => [character, byte]));

/**
 * The bytes that a token of a byte-level vocabulary stands for. A token with a character that stands for no byte means
 * its own UTF-8, as in `tokenizers`.
 */
export function tokenBytes(token: string): Uint8Array {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = BYTE_OF_CHARACTER.get(token[i] ?? '');
    if (byte === undefined) return new TextEncoder().encode(token);
    bytes[i] = byte;
  }
  return bytes;
}

/** Writes bytes in the characters of a byte-level vocabulary. */
export function byteText(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += BYTE_CHARACTERS[byte] ?? '';
  return text;
}
