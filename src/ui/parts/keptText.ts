import { checksumOf } from '../../base/checksum.ts';

/** Fields as text for the browser's storage, with their checksum. */
export function keptText(fields: object): string {
  const written: unknown = JSON.parse(JSON.stringify(fields)); // as they will be read
  return JSON.stringify({ ...fields, sum: checksumOf(written) });
}

/**
 * Reads what `keptText` wrote. Text of an older page has no checksum: its fields are for the caller to check. Throws RangeError, saying
 * what is wrong, on text that was damaged, has fields other than `known`, or is no such text.
 */
export function readKeptText<K extends string>(
  text: string,
  known: readonly K[],
): Readonly<Partial<Record<K, unknown>>> {
  const value = parsed(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new RangeError('it holds no fields');
  const { sum, ...fields } = value as Readonly<Record<string, unknown>>;
  const odd = Object.keys(fields).find((name) => !known.some((k) => k === name));
  if (odd !== undefined) throw new RangeError(`it has a field ${odd.slice(0, 40)}, which this page does not know`);
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

/** Moves text that cannot be read out of the way, so that it is told once and not thrown away. */
export function putAside(key: string): void {
  try {
    localStorage.setItem(`rollout-playground-unreadable-${key}`, localStorage.getItem(key) ?? '');
    localStorage.removeItem(key);
  } catch {
    // where even this is refused it stays where it is, and is told again at the next visit
  }
}
