/** An object that JSON wrote. */
export type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether it is a JSON object: no list, not null. */
export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
