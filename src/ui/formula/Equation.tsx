import { Fragment } from 'react';
import type { Line, Part, Piece } from '../../config/formula.ts';
import { TERM_LIST } from '../../config/formulaTerms.ts';
import { pin, sameTarget, useFormula } from './formulaTarget.ts';
import { typeset } from './typeset.tsx';

/** An equation whose terms can be pointed at, reached by keyboard and pinned. */
export function Equation({ line: { pieces, words } }: { readonly line: Line }) {
  return (
    <p className="equation">
      <span className="visually-hidden">{words}: </span>
      <Pieces pieces={pieces} />
    </p>
  );
}

function Pieces({ pieces, inside = false }: { readonly pieces: readonly Piece[]; readonly inside?: boolean }) {
  return pieces.map((piece, i) => {
    if (typeof piece === 'string') return <Fragment key={i}>{typeset(piece)}</Fragment>;
    return inside ? <Inner key={i} part={piece} /> : <Outer key={i} part={piece} />;
  });
}

/** A term is one stop of the keyboard; a term within it is reached by pointing. */
function Outer({ part: { term, pieces, off } }: { readonly part: Part }) {
  const lit = useFormula((s) => s.terms.includes(term));
  const pinned = useFormula((s) => sameTarget(s.pinned, { term }));
  return (
    <button
      type="button"
      className="term"
      data-term={term}
      data-lit={lit}
      data-off={off}
      aria-pressed={pinned}
      onClick={() => pin({ term })}
    >
      <Pieces pieces={pieces} inside />
      <span className="visually-hidden">
        {' '}
        ({TERM_LIST[term].name}
        {off && ', off'})
      </span>
    </button>
  );
}

function Inner({ part: { term, pieces } }: { readonly part: Part }) {
  const lit = useFormula((s) => s.terms.includes(term));
  return (
    <span className="term" data-term={term} data-lit={lit}>
      <Pieces pieces={pieces} inside />
    </span>
  );
}
