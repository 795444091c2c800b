import { tokenAt } from '../../domain/textSpans.ts';
import { sayInstead, useModels } from './modelStore.ts';
import '../styles/distribution.css';
import { perCent, whole } from '../parts/numberText.ts';

/** What could have stood at the token that is looked at: the likeliest of the vocabulary, and all others as one bar. */
export function Likeliest() {
  const looked = useModels((s) => s.looked);
  const token = useModels((s) => (s.looked === null ? undefined : tokenAt(s.passages, s.looked)));
  const opened = useModels((s) => s.opened);
  const writing = useModels((s) => s.writing);
  if (looked === null || !token?.likely || !opened) {
    return (
      <p className="small faint models-looked">
        Press one of the model’s words to see what else it could have written.
      </p>
    );
  }
  const { likely, logprob, id, shown } = token;
  const rest = Math.max(0, 1 - likely.reduce((sum, each) => sum + Math.exp(each.logprob), 0));
  const others = opened.card.vocabulary - likely.length;
  const listed = likely.some((each) => each.id === id);
  return (
    <section className="card models-looked" aria-label="What else could have been written here" data-testid="likeliest">
      <div className="distribution">
        <h3>What else could have been written here</h3>
        <p className="small faint">Probability of each token at temperature 1, in per cent.</p>
        <ol>
          {likely.map((each) => (
            <li key={each.id}>
              <Bar
                {...{ word: each.shown, p: Math.exp(each.logprob), drawn: each.id === id, disabled: writing }}
                press={() => sayInstead(looked, each.id)}
              />
            </li>
          ))}
          {!listed && (
            <li>
              <Bar
                word={shown}
                p={logprob === null ? null : Math.exp(logprob)}
                drawn
                disabled={writing}
                press={() => sayInstead(looked, id)}
              />
            </li>
          )}
        </ol>
        <div className="option likely-rest" role="note">
          <span className="cut option-word faint">others</span>
          <span className="option-bars" aria-hidden="true">
            <span className="bar-before" style={{ width: `${100 * rest}%` }} />
          </span>
          <span className="number option-p">{perCent(rest)}</span>
          <span className="visually-hidden">on {whole(others)} other tokens</span>
        </div>
      </div>
      <p className="small faint">
        {likely.length} of {whole(opened.card.vocabulary)} tokens. One that you press is said instead, and the model
        goes on from it.
      </p>
    </section>
  );
}

interface BarProps {
  readonly word: string;
  readonly p: number | null; // null: not among the likeliest, and not known
  readonly drawn: boolean;
  readonly disabled: boolean;
  readonly press: () => void;
}

function Bar({ word, p, drawn, disabled, press }: BarProps) {
  return (
    <button type="button" className="option" data-drawn={drawn} disabled={disabled} onClick={press}>
      <span className="cut mono option-word">{word}</span>
      <span className="option-bars" aria-hidden="true">
        <span className="bar-after" style={{ width: `${100 * (p ?? 0)}%` }} />
      </span>
      {p === null ? (
        <span className="faint" title="Not among the likeliest, and not asked for when it was drawn">
          n/a
        </span>
      ) : (
        <span className="number option-p">{perCent(p)}</span>
      )}
      <span className="visually-hidden">{drawn ? ', drawn: go on from it anew' : ': say it instead'}</span>
    </button>
  );
}
