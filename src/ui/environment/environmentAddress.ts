import { deflateSync, Inflate } from 'fflate';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { visible } from '../address/addressText.ts';
import { hashSettings, routeOf } from '../address/hash.ts';

/** Characters of an address that mail, chats and browsers all pass on. */
const LONGEST = 8000;
/** Bytes that an address of this length may unfold to: code packs into a third or a quarter. */
const MOST_BYTES = 100_000;
const PLAIN = '#/environment';
const KEYS = { name: 'name', code: 'code' } as const;

/** The address that holds a file; null where it would be too long. */
export function environmentHash({ name, text }: EnvironmentFile): string | null {
  const packed = base64url(deflateSync(new TextEncoder().encode(text), { level: 9 }));
  const hash = `${PLAIN}?${KEYS.name}=${encodeURIComponent(name)}&${KEYS.code}=${packed}`;
  return hash.length > LONGEST ? null : hash;
}

/** What an address of this screen brings. `file` is null where it brings none, or one that can’t be opened. */
interface Linked {
  readonly file: EnvironmentFile | null;
  readonly corrections: readonly string[];
}

/** Reads an address of this screen without ever failing; what could not be meant is listed. */
export function readEnvironmentHash(hash: string): Linked {
  const corrections: string[] = [];
  if (routeOf(hash) !== 'environment') return { file: null, corrections };
  const asked = hashSettings(hash, corrections);
  for (const key of asked.keys()) {
    if (!Object.values(KEYS).some((known) => known === key))
      corrections.push(
        `${visible(key)}: isn’t part of this screen’s address and was ignored. The address has only name and code.`,
      );
  }
  const [given, code] = [asked.get(KEYS.name), asked.get(KEYS.code)];
  if (code === undefined) {
    if (given !== undefined) corrections.push('name: the address has no code, so there is no file to open.');
    return { file: null, corrections };
  }
  const letters = given
    ?.replaceAll(/[^\p{L}\p{N}._ -]/gu, '')
    .slice(0, 60)
    .trim();
  const name = letters === undefined || letters === '' ? 'environment.ts' : letters;
  if (given !== undefined && given !== name) {
    corrections.push(`name: ${visible(given)} can’t be a file name. The file is called ${name} here.`);
  }
  const text = unpacked(code);
  if (text !== null) return { file: { name, text }, corrections };
  corrections.push('code: the link is damaged or cut off, so its file can’t be opened. Ask for the link again.');
  return { file: null, corrections };
}

/** Null where it is no text that was packed here, or unfolds to more than an address should. */
function unpacked(code: string): string | null {
  try {
    const letters = atob(code.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const parts: Uint8Array[] = [];
    let [size, ended] = [0, false];
    const inflate = new Inflate((part, last) => {
      size += part.length;
      ended = last;
      if (size <= MOST_BYTES) parts.push(part);
    });
    const SLICE = 64; // at most a thousand times as many bytes come out before they are counted
    for (let at = 0; at < bytes.length && size <= MOST_BYTES; at += SLICE)
      inflate.push(bytes.subarray(at, at + SLICE), at + SLICE >= bytes.length);
    if (!ended || size > MOST_BYTES) return null;
    const whole = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      whole.set(part, at);
      at += part.length;
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(whole);
  } catch {
    return null;
  }
}

function base64url(bytes: Uint8Array): string {
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
