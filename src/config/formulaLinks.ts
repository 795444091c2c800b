import type { FieldName, RunConfig } from './fields.ts';
import { formulaOf, type Piece } from './formula.ts';
import { TERM_LIST, type TermId } from './formulaTerms.ts';
import { idle } from './idle.ts';
import { PLACES } from './masks.ts';

/** The knobs that act on each term, and the terms that each knob acts on. */
interface Links {
  readonly knobs: ReadonlyMap<TermId, readonly FieldName[]>;
  readonly terms: ReadonlyMap<FieldName, readonly TermId[]>;
}
const links = new WeakMap<RunConfig, Links>(); // a configuration is replaced, never changed

function linksOf(c: RunConfig): Links {
  const known = links.get(c);
  if (known) return known;
  const knobs = new Map(termsIn(formulaOf(c).flatMap(({ pieces }) => pieces)).map((term) => [term, acting(term, c)]));
  const terms = new Map<FieldName, TermId[]>();
  for (const [term, names] of knobs) for (const name of names) terms.set(name, [...(terms.get(name) ?? []), term]);
  const found = { knobs, terms };
  links.set(c, found);
  return found;
}

function acting(term: TermId, c: RunConfig): readonly FieldName[] {
  const { knobs, places = [] } = TERM_LIST[term];
  const followed = places.filter((place) => c[place] === 'follow').map((place) => PLACES[place]);
  return [...new Set<FieldName>([...knobs, ...places, ...followed])].filter((name) => idle(name, c) === null);
}

/** The knobs that have an effect on a term in this configuration. Empty if its formula doesn't have the term. */
export function knobsOf(term: TermId, c: RunConfig): readonly FieldName[] {
  return linksOf(c).knobs.get(term) ?? [];
}

/** The terms of a configuration's formula that a knob has an effect on. */
export function termsOf(knob: FieldName, c: RunConfig): readonly TermId[] {
  return linksOf(c).terms.get(knob) ?? [];
}

/** The terms in some pieces, without duplicates. */
function termsIn(pieces: readonly Piece[]): TermId[] {
  const ids = pieces.flatMap((piece) => (typeof piece === 'string' ? [] : [piece.term, ...termsIn(piece.pieces)]));
  return [...new Set(ids)];
}
