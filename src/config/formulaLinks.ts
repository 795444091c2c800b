import type { FieldName, RunConfig } from './fields.ts';
import { formulaOf, type Piece } from './formula.ts';
import { TERM_LIST, type TermId } from './formulaTerms.ts';
import { whyIdle } from './idle.ts';
import { MASK_SWITCHES } from './masks.ts';

/** The knobs that act on each term, and the terms that each knob acts on. */
interface KnobTermLinks {
  readonly knobs: ReadonlyMap<TermId, readonly FieldName[]>;
  readonly terms: ReadonlyMap<FieldName, readonly TermId[]>;
}
const linksByConfig = new WeakMap<RunConfig, KnobTermLinks>(); // a configuration is replaced, never changed

function linksOf(c: RunConfig): KnobTermLinks {
  const cachedLinks = linksByConfig.get(c);
  if (cachedLinks) return cachedLinks;
  const knobs = new Map(
    termsIn(formulaOf(c).flatMap(({ pieces }) => pieces)).map((term) => [term, actingKnobs(term, c)]),
  );
  const terms = new Map<FieldName, TermId[]>();
  for (const [term, names] of knobs) for (const name of names) terms.set(name, [...(terms.get(name) ?? []), term]);
  const newLinks = { knobs, terms };
  linksByConfig.set(c, newLinks);
  return newLinks;
}

function actingKnobs(term: TermId, c: RunConfig): readonly FieldName[] {
  const { knobs, maskKnobs = [] } = TERM_LIST[term];
  const followedSwitches = maskKnobs
    .filter((maskKnob) => c[maskKnob] === 'follow')
    .map((maskKnob) => MASK_SWITCHES[maskKnob]);
  return [...new Set<FieldName>([...knobs, ...maskKnobs, ...followedSwitches])].filter(
    (name) => whyIdle(name, c) === null,
  );
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
