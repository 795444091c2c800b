import { deflateSync, Inflate } from 'fflate';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { addressExcerpt } from '../address/addressText.ts';
import { hashSettings, routeOf } from '../address/hash.ts';

/** Longest address that mail, chats and browsers all pass on, in characters. */
const MAX_ADDRESS_CHARACTERS = 8000;
/** Largest file that a link may unpack to, in bytes. Code packs into a third or a quarter of its size. */
const MAX_UNPACKED_BYTES = 100_000;
const SCREEN_HASH = '#/environment';
const PARAM_NAMES = { name: 'name', code: 'code' } as const;

/** The address that holds a file; null if it would be too long. */
export function environmentHash({ name, text }: EnvironmentFile): string | null {
  const packed = base64url(deflateSync(new TextEncoder().encode(text), { level: 9 }));
  const hash = `${SCREEN_HASH}?${PARAM_NAMES.name}=${encodeURIComponent(name)}&${PARAM_NAMES.code}=${packed}`;
  return hash.length > MAX_ADDRESS_CHARACTERS ? null : hash;
}

/** `file` is null if there is none or it can't be opened. */
interface LinkedFile {
  readonly file: EnvironmentFile | null;
  readonly corrections: readonly string[];
}

/** Reads an address of this screen. Never throws; `corrections` lists what could not be used. */
export function readEnvironmentHash(hash: string): LinkedFile {
  const corrections: string[] = [];
  if (routeOf(hash) !== 'environment') return { file: null, corrections };
  const settings = hashSettings(hash, corrections);
  for (const key of settings.keys()) {
    if (!Object.values(PARAM_NAMES).some((known) => known === key))
      corrections.push(
        `${addressExcerpt(key)}: isn’t part of this screen’s address and was ignored. The address has only name and code.`,
      );
  }
  const [givenName, code] = [settings.get(PARAM_NAMES.name), settings.get(PARAM_NAMES.code)];
  if (code === undefined) {
    if (givenName !== undefined) corrections.push('name: the address has no code, so there is no file to open.');
    return { file: null, corrections };
  }
  const characters = givenName
    ?.replaceAll(/[^\p{L}\p{N}._ -]/gu, '')
    .slice(0, 60)
    .trim();
  const name = characters === undefined || characters === '' ? 'environment.ts' : characters;
  if (givenName !== undefined && givenName !== name) {
    corrections.push(`name: ${addressExcerpt(givenName)} can’t be a file name. The file is called ${name} here.`);
  }
  const text = unpackText(code);
  if (text !== null) return { file: { name, text }, corrections };
  corrections.push('code: the link is damaged or cut off, so its file can’t be opened. Ask for the link again.');
  return { file: null, corrections };
}

/** Unpacks the code of an address. Null if it isn't text packed by this page, or is larger than `MAX_UNPACKED_BYTES`. */
function unpackText(code: string): string | null {
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
