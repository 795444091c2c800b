/** A fact: the object that a relation leads to from a subject. All three are names as people read them. */
export type Triple = readonly [subject: string, relation: string, object: string];

/** Facts to ask about. A subject has each relation at most once, and no fact leads from a subject to itself. */
export interface Facts {
  readonly source: string; // name of the file, or another description of where the facts come from
  readonly triples: readonly Triple[];
}

/** Whether a value is a list of facts with its source. */
export function isFacts(value: unknown): value is Facts {
  if (typeof value !== 'object' || value === null || !('source' in value) || !('triples' in value)) return false;
  const isTriple = (x: unknown) => Array.isArray(x) && x.length === 3 && x.every((word) => typeof word === 'string');
  return typeof value.source === 'string' && Array.isArray(value.triples) && value.triples.every(isTriple);
}
