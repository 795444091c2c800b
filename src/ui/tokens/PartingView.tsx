import { type ReactNode, useMemo } from 'react';
import { type ComparedRollout, type Parting, partingOf } from '../../page/rollout/parting.ts';
import { counted, percent } from '../../page/words/numberText.ts';
import { spansFrom, TurnWords } from './RolloutWords.tsx';
import './parting.css';

interface Props {
  readonly a: ComparedRollout;
  readonly b: ComparedRollout;
  readonly children?: (t: number) => ReactNode; // what is known of the policy at the token where they part
}

/** Two rollouts turn by turn, with the first word that differs, and how likely the policy found each of the two there. */
export function PartingView({ a, b, children }: Props) {
  const parting = useMemo(() => partingOf(a.text, b.text), [a, b]);
  const turns = parting?.turns ?? a.text.turns.map(({ turn }) => turn);
  return (
    <section className="panel parting col gap-4" aria-label="Where they part" data-testid="parting">
      <p data-testid="parting-sentence">{sentence(a, b, parting)}</p>
      <div className="parting-body">
        <div className="col parting-turns">
          <div className="parting-turn small faint" aria-hidden="true">
            <span />
            <b>A: {a.name}</b>
            <b>B: {b.name}</b>
          </div>
          {turns.map((turn) => (
            <section key={turn} className="parting-turn" aria-label={turnName(turn)}>
              <h4 className="small faint">{turnName(turn)}</h4>
              <Cell name="A" text={a.text} {...{ turn, parting }} />
              <Cell name="B" text={b.text} {...{ turn, parting }} />
            </section>
          ))}
        </div>
        {parting && children?.(parting.at)}
      </div>
    </section>
  );
}

const turnName = (turn: number) => (turn === 0 ? 'Prompt' : `Turn ${turn}`);

function sentence(a: ComparedRollout, b: ComparedRollout, parting: Parting | null): string {
  if (!parting) return 'Identical: all words are the same.';
  const { at, turn } = parting;
  const has = ({ text, drawnLogprob }: ComparedRollout) => {
    const logprob = drawnLogprob(at);
    if (at >= text.words.length) return 'ends';
    return `has “${text.words[at]!.trim()}”${logprob === undefined ? '' : `, drawn with ${percent(Math.exp(logprob))}`}`;
  };
  const place = turn === 0 ? 'In the prompt' : `In turn ${turn}, after ${counted(at, 'equal token')}`;
  return `${place}, A ${has(a)}; B ${has(b)}.`;
}

interface CellProps {
  readonly name: string;
  readonly text: ComparedRollout['text'];
  readonly turn: number;
  readonly parting: Parting | null;
}

function Cell({ name, text, turn, parting }: CellProps) {
  const spans = spansFrom(text, turn, 0);
  const at = parting?.at ?? -1;
  const endsHere = at === text.words.length && turn === parting?.turn;
  return (
    <div className="parting-cell flex wrap on-baseline">
      <b className="faint parting-name">{name}</b>
      <TurnWords rollout={text} spans={spans} divergence={at} />
      {endsHere && <span data-diverges="true">ends</span>}
      {spans.length === 0 && !endsHere && <span className="faint">no such turn</span>}
    </div>
  );
}

/** Why a file's rollouts have no whole distribution. */
export function NoWeights({ sides }: { readonly sides: readonly string[] }) {
  return (
    <p className="small faint">
      {sides.join(' and ')} {sides.length > 1 ? 'are' : 'is'} from a file. Files of rollouts have no weights, so the
      whole distribution of their policy isn’t known, only how likely the word was that it drew.
    </p>
  );
}
