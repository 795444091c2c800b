import { checksumOf } from '../../base/checksum.ts';

/** Text of fields for the browser's storage, with a checksum. */
export function keptText(fields: object): string {
  const written: unknown = JSON.parse(JSON.stringify(fields)); // as `readKeptText` will read them
  return JSON.stringify({ ...fields, sum: checksumOf(written) });
}

/**
 * Reads text written by `keptText`. Text from an older version of the page has no checksum, so the caller must check
 * its fields. Throws RangeError with the reason if the text is damaged, has fields other than `knownKeys`, or isn't
 * such text.
 */
export function readKeptText<K extends string>(
  text: string,
  knownKeys: readonly K[],
): Readonly<Partial<Record<K, unknown>>> {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new RangeError('it holds no fields');
  const { sum, ...fields } = value as Readonly<Record<string, unknown>>;
  const unknownName = Object.keys(fields).find((name) => !knownKeys.some((k) => k === name));
  if (unknownName !== undefined)
    throw new RangeError(`it has a field ${unknownName.slice(0, 40)}, which this page does not know`);
  if (sum !== undefined && sum !== checksumOf(fields)) throw new RangeError('it was damaged after it was written');
  return fields as Readonly<Partial<Record<K, unknown>>>;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new RangeError('it was damaged after it was written');
  }
}

/** Moves unreadable text to another key, so that it is reported only once and not lost. */
export function putAside(key: string): void {
  try {
    localStorage.setItem(`rollout-playground-unreadable-${key}`, localStorage.getItem(key) ?? '');
    localStorage.removeItem(key);
  } catch {
    // storage is full or blocked: the text stays, and is reported again at the next visit
  }
}
