import { deflateSync, Inflate } from 'fflate';

/** Longest address that mail, chats and browsers all pass on, in characters. */
export const MAX_ADDRESS_CHARACTERS = 8000;
/** Largest file that a link may unpack to, in bytes. Code packs into a third or a quarter of its size. */
const MAX_UNPACKED_BYTES = 100_000;

/** Packs a text into letters, digits, - and _, for an address. */
export function packedText(text: string): string {
  return base64url(deflateSync(new TextEncoder().encode(text), { level: 9 }));
}

/** Null if it isn't text packed by this page, or is larger than `MAX_UNPACKED_BYTES`. */
export function unpackedText(code: string): string | null {
  try {
    const characters = atob(code.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(characters, (letter) => letter.charCodeAt(0));
    const parts: Uint8Array[] = [];
    let [unpackedBytes, isComplete] = [0, false];
    const inflate = new Inflate((part, last) => {
      unpackedBytes += part.length;
      isComplete = last;
      if (unpackedBytes <= MAX_UNPACKED_BYTES) parts.push(part);
    });
    const SLICE_BYTES = 64; // deflate expands a slice about a thousandfold at most before the size is checked
    for (let at = 0; at < bytes.length && unpackedBytes <= MAX_UNPACKED_BYTES; at += SLICE_BYTES)
      inflate.push(bytes.subarray(at, at + SLICE_BYTES), at + SLICE_BYTES >= bytes.length);
    if (!isComplete || unpackedBytes > MAX_UNPACKED_BYTES) return null;
    const whole = new Uint8Array(unpackedBytes);
    let byteOffset = 0;
    for (const part of parts) {
      whole.set(part, byteOffset);
      byteOffset += part.length;
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(whole);
  } catch {
    return null;
  }
}

function base64url(bytes: Uint8Array): string {
  const characters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(characters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
