import type { ReactNode } from 'react';
import { barePercent, wholeNumber } from '../../page/words/numberText.ts';
import './distribution.css';

export interface Alternative {
  readonly id: number;
  readonly word: string;
  readonly probability: number | null; // null: unknown
  readonly probabilityBefore?: number | null; // with the earlier weights, shown as a second, pale bar
  readonly isDrawn: boolean; // whether this is the token that the rollout has at the position
  readonly owner?: string | undefined; // of two rollouts that part here, the name of the one that has this token
}

interface Props {
  readonly alternatives: readonly Alternative[]; // the most likely first
  readonly unlistedCount: number; // number of tokens not listed, which share the remaining probability
  readonly barsExplanation: ReactNode; // explains the bars
  readonly change?: ReactNode; // change of the drawn token's probability
  readonly disabled: boolean; // the tokens can’t be pressed
  readonly choose: (id: number) => void;
  readonly children?: ReactNode; // below the list
}

/** The most likely tokens at a position, and the one that was drawn. Pressing a token continues the text from it. */
export function Distribution({
  alternatives,
  unlistedCount,
  barsExplanation,
  change,
  disabled,
  choose,
  children,
}: Props) {
  const restProbability = Math.max(0, 1 - alternatives.reduce((sum, { probability }) => sum + (probability ?? 0), 0));
  // the inspector may show another distribution at the same time
  const isParting = alternatives.some(({ owner }) => owner !== undefined);
  const hasBoth = isParting && alternatives.some(({ probabilityBefore }) => typeof probabilityBefore === 'number');
  const title = isParting ? 'How likely each word was where they part' : 'What else could have been written here';
  return (
    <section
      className="distribution"
      aria-label={title}
      data-testid={isParting ? 'parting-distribution' : 'distribution'}
    >
      <h3>{title}</h3>
      <p className="small faint">{barsExplanation}</p>
      {change}
      <ol data-both={hasBoth}>
        {alternatives.map((alternative) => (
          <li key={alternative.id}>
            <Option {...{ alternative, disabled, choose, hasBoth }} />
          </li>
        ))}
      </ol>
      {unlistedCount > 0 && (
        <div className="option" role="note" data-testid="others">
          <span className="cut option-word faint">others</span>
          <span className="option-bars" aria-hidden="true">
            <span className="bar-before" style={{ width: `${100 * restProbability}%` }} />
          </span>
          <span className="number option-p one-line">{barePercent(restProbability)}</span>
          <span className="visually-hidden">on {wholeNumber(unlistedCount)} other tokens</span>
        </div>
      )}
      {children}
    </section>
  );
}

interface OptionProps extends Pick<Props, 'disabled' | 'choose'> {
  readonly alternative: Alternative;
  readonly hasBoth: boolean; // both probabilities as numbers, if there are two
}

function Option({
  alternative: { id, word, probability, probabilityBefore = null, isDrawn, owner },
  disabled,
  choose,
  hasBoth,
}: OptionProps) {
  return (
    <button
      type="button"
      className="option"
      data-drawn={isDrawn || owner !== undefined}
      disabled={disabled}
      title={isDrawn ? 'Continue from here with new draws' : 'Continue from here with this token instead'}
      onClick={() => choose(id)}
    >
      <span className="cut mono option-word" translate="no">
        {owner !== undefined && <b className="faint">{owner} </b>}
        {word}
      </span>
      <span className="option-bars" aria-hidden="true">
        {probabilityBefore !== null && <span className="bar-before" style={{ width: `${100 * probabilityBefore}%` }} />}
        <span className="bar-after" style={{ width: `${100 * (probability ?? 0)}%` }} />
      </span>
      {probability === null ? (
        <span className="faint" title="Not among the likeliest, and not asked for when it was drawn">
          n/a
        </span>
      ) : (
        <span className="number option-p one-line">
          {hasBoth && probabilityBefore !== null && `${barePercent(probabilityBefore)} · `}
          {barePercent(probability)}
        </span>
      )}
      <span className="visually-hidden">
        {!hasBoth && probabilityBefore !== null && `, ${barePercent(probabilityBefore)} % before`}
        {isDrawn ? ', drawn: continue from here with new draws' : ': continue with it instead'}
      </span>
    </button>
  );
}
