/** An object that JSON wrote. A key may be anything, `__proto__` included: take values by `Object.hasOwn`. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether it is a JSON object: no list, not null. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether it is a whole number from 0 that JavaScript holds exactly. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** Whether it is an object of nothing but texts. */
export function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every((text) => typeof text === 'string');
}

/** A JSON value for a message, short. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return value === '' ? "''" : value;
  if (Array.isArray(value)) return 'a list';
  return isRecord(value) ? 'an object' : JSON.stringify(value);
}
