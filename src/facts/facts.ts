/** A subject, its relation, and the object that relation leads to: names, as people read them. */
export type Triple = readonly [subject: string, relation: string, object: string];

/** Facts to ask about. A subject has each relation at most once, and never leads to itself. */
export interface Facts {
  readonly source: string; // a file's name, or where else they come from
  readonly triples: readonly Triple[];
}

/** Facts that cannot be used; `problems` holds one sentence for each reason. */
export class FactsError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'FactsError';
    this.problems = problems;
  }
}
