import type { EnvView, TextRange } from '../../domain/envView.ts';
import { shortNumber } from '../../page/words/numberText.ts';
import './passages.css';

type View = Extract<EnvView, { kind: 'passages' }>;
type Passage = View['searches'][number]['passages'][number];

export function Passages({ view, turn }: { readonly view: View; readonly turn: number }) {
  const { searches, given, givenAt } = view;
  const isLater = (at: number) => turn > 0 && at > turn;
  return (
    <div className="passages" translate="no">
      {searches.length === 0 && <p className="faint">No searches.</p>}
      <ol className="stack">
        {searches.map((search) => (
          <li key={search.turn} data-now={search.turn === turn} data-later={isLater(search.turn)}>
            <p>
              <span className="faint">{search.turn === 0 ? 'in the prompt' : search.turn}</span> searched{' '}
              <strong>{search.query || 'words the agent had not read'}</strong>
            </p>
            {search.passages.map((passage) => (
              <FoundPassage key={passage.title} passage={passage} answer={view.answer} />
            ))}
            {search.passages.length === 0 && (
              <p className="faint">{search.failed ? 'The tool failed.' : 'No passage contains these words.'}</p>
            )}
          </li>
        ))}
      </ol>
      <p className="row given" data-now={givenAt === turn} data-later={givenAt !== null && isLater(givenAt)}>
        <span className="faint">{givenAt ?? ''}</span> answered <strong>{given ?? 'nothing'}</strong>
        {given !== null && <Verdict view={view} />}
      </p>
    </div>
  );
}

function Verdict({ view: { answer, scores } }: { readonly view: View }) {
  if (scores.exact === 1) return <span className="faint">exact match</span>;
  return (
    <span>
      <span className="faint">F1 {shortNumber(scores.f1)}, expected</span> <strong>{answer}</strong>
    </span>
  );
}

function FoundPassage({ passage, answer }: { readonly passage: Passage; readonly answer: string }) {
  const { title, text, read, gold, titleMarks, marks } = passage;
  return (
    <blockquote data-gold={gold}>
      <strong>
        <MarkedText text={title} marks={titleMarks} answer={gold && title === answer ? [0, title.length] : null} />
      </strong>{' '}
      <MarkedText text={text.slice(0, read)} marks={marks} answer={passage.answer} />
      {read < text.length && <del aria-label="cut, not read">{text.slice(read)}</del>}
      {gold && <span className="chip">needed</span>}
    </blockquote>
  );
}

interface MarkedTextProps {
  readonly text: string;
  readonly marks: readonly TextRange[]; // words of the query
  readonly answer: TextRange | null;
}

/** A text with marks for the words of the query and for the answer. The marks may overlap. */
function MarkedText({ text, marks, answer }: MarkedTextProps) {
  const boundarySet = new Set([0, text.length, ...[...marks, ...(answer ? [answer] : [])].flat()]);
  const boundaries = [...boundarySet].filter((at) => at <= text.length).toSorted((a, b) => a - b);
  const isInside = (at: number, [from, to]: TextRange) => from <= at && at < to;
  return boundaries.slice(1).map((end, i) => {
    const from = boundaries[i] ?? 0;
    const piece = text.slice(from, end);
    const matched = marks.some((range) => isInside(from, range));
    const inAnswer = answer !== null && isInside(from, answer);
    if (!matched && !inAnswer) return piece;
    return (
      <mark key={from} data-matched={matched} data-answer={inAnswer}>
        {piece}
      </mark>
    );
  });
}
