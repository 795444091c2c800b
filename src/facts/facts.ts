/** A subject, its relation, and the object that relation leads to: names, as people read them. */
export type Triple = readonly [subject: string, relation: string, object: string];

/** Facts to ask about. A subject has each relation at most once, and never leads to itself. */
export interface Facts {
  readonly source: string; // a file's name, or where else they come from
  readonly triples: readonly Triple[];
}

/** Whether it is a list of facts with its source. */
export function isFacts(value: unknown): value is Facts {
  if (typeof value !== 'object' || value === null || !('source' in value) || !('triples' in value)) return false;
  const isTriple = (x: unknown) => Array.isArray(x) && x.length === 3 && x.every((word) => typeof word === 'string');
  return typeof value.source === 'string' && Array.isArray(value.triples) && value.triples.every(isTriple);
}
