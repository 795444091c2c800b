import type { ReactNode } from 'react';
import { perCent, whole } from '../parts/numberText.ts';
import '../styles/distribution.css';

/** A token that could have been written at a position. */
export interface Choice {
  readonly id: number;
  readonly word: string;
  readonly p: number | null; // its probability; null: unknown
  readonly before?: number | null; // its probability with other weights, drawn as a second bar
  readonly drawn: boolean; // the rollout has this token here
}

interface Props {
  readonly choices: readonly Choice[]; // the most likely first
  readonly others: number; // number of tokens not listed; they share the rest of the probability
  readonly about: ReactNode; // explains the bars
  readonly change?: ReactNode; // change of the drawn token's probability
  readonly busy: boolean; // choices are disabled
  readonly choose: (id: number) => void;
  readonly children?: ReactNode; // below the list
}

/** The most likely tokens at a position, and the drawn one. Choosing one continues the text from it. */
export function Distribution({ choices, others, about, change, busy, choose, children }: Props) {
  const rest = Math.max(0, 1 - choices.reduce((sum, { p }) => sum + (p ?? 0), 0));
  return (
    <section className="distribution" aria-label="What else could have been written here" data-testid="distribution">
      <h3>What else could have been written here</h3>
      <p className="small faint">{about}</p>
      {change}
      <ol>
        {choices.map((choice) => (
          <li key={choice.id}>
            <Option {...{ choice, busy, choose }} />
          </li>
        ))}
      </ol>
      {others > 0 && (
        <div className="option" role="note" data-testid="others">
          <span className="cut option-word faint">others</span>
          <span className="option-bars" aria-hidden="true">
            <span className="bar-before" style={{ width: `${100 * rest}%` }} />
          </span>
          <span className="number option-p">{perCent(rest)}</span>
          <span className="visually-hidden">on {whole(others)} other tokens</span>
        </div>
      )}
      {children}
    </section>
  );
}

interface OptionProps extends Pick<Props, 'busy' | 'choose'> {
  readonly choice: Choice;
}

function Option({ choice: { id, word, p, before = null, drawn }, busy, choose }: OptionProps) {
  return (
    <button
      type="button"
      className="option"
      data-drawn={drawn}
      disabled={busy}
      title={drawn ? 'Continue from here with new draws' : 'Continue from here with this token instead'}
      onClick={() => choose(id)}
    >
      <span className="cut mono option-word">{word}</span>
      <span className="option-bars" aria-hidden="true">
        {before !== null && <span className="bar-before" style={{ width: `${100 * before}%` }} />}
        <span className="bar-after" style={{ width: `${100 * (p ?? 0)}%` }} />
      </span>
      {p === null ? (
        <span className="faint" title="Not among the likeliest, and not asked for when it was drawn">
          n/a
        </span>
      ) : (
        <span className="number option-p">{perCent(p)}</span>
      )}
      <span className="visually-hidden">
        {before !== null && `, ${perCent(before)} % before`}
        {drawn ? ', drawn: continue from here with new draws' : ': continue with it instead'}
      </span>
    </button>
  );
}
