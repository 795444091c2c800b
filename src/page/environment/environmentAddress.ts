import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { addressExcerpt } from '../address/addressText.ts';
import { hashSettings, routeOf } from '../address/hash.ts';
import { MAX_ADDRESS_CHARACTERS, packedText, unpackedText } from '../address/packedText.ts';

const SCREEN_HASH = '#/environment';
const PARAM_NAMES = { name: 'name', code: 'code' } as const;

/** The address that holds a file; null if it would be too long. */
export function environmentHash({ name, text }: EnvironmentFile): string | null {
  const hash = `${SCREEN_HASH}?${PARAM_NAMES.name}=${encodeURIComponent(name)}&${PARAM_NAMES.code}=${packedText(text)}`;
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
  const text = unpackedText(code);
  if (text !== null) return { file: { name, text }, corrections };
  corrections.push('code: the link is damaged or cut off, so its file can’t be opened. Ask for the link again.');
  return { file: null, corrections };
}
