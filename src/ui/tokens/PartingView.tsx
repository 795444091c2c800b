import { useMemo } from 'react';
import { Role } from '../../domain/tokens.ts';
import { type ComparedRollout, type Parting, partingOf } from '../../page/rollout/parting.ts';
import type { Tensors } from '../../runs/checkpoint.ts';
import type { RolloutSource } from '../../page/training/inspect.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { counted, percent } from '../../page/words/numberText.ts';
import { spansFrom, TurnWords } from './RolloutWords.tsx';
import { RunDistribution } from './RunDistribution.tsx';
import './parting.css';

interface Props {
  readonly a: ComparedRollout;
  readonly b: ComparedRollout;
  /** Where to ask for the policy's distribution; null: the rollout is of a file, which has no weights. */
  readonly sources: readonly [a: RolloutSource | null, b: RolloutSource | null];
  /** The weights of the run that B is of, if it is another one: then both policies are asked. */
  readonly otherWeights?: Tensors | undefined;
}

/** Two rollouts turn by turn, with the first word that differs, and how likely the policy found each of the two there. */
export function PartingView({ a, b, sources, otherWeights }: Props) {
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
        {parting && <DistributionThere {...{ a, b, sources, otherWeights }} t={parting.at} />}
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

/** Both have the same words before the token at `t`, so each policy has one distribution there. */
function DistributionThere({ a, b, sources, otherWeights, t }: Props & { readonly t: number }) {
  const vocabulary = useLive((s) => s.vocabulary);
  const source = sources.find((each) => each?.batch.roles[each.row * each.batch.length + t] === Role.action);
  const owners = useMemo(() => {
    const entries = [a, b].map(({ text }, side): [number, string] => {
      const own = sources[side];
      const id = own ? own.batch.tokens[own.row * own.batch.length + t] : vocabulary.indexOf(text.words[t] ?? '');
      return [t < text.words.length ? (id ?? -1) : -1, side === 0 ? 'A' : 'B'];
    });
    return new Map(entries.filter(([id]) => id >= 0));
  }, [a, b, sources, t, vocabulary]);
  const fileSides = ['A', 'B'].filter((_, side) => sources[side] === null);
  if (!source && fileSides.length === 0) return null;
  return (
    <div>
      {source && <RunDistribution {...{ source, t, owners }} since={otherWeights} />}
      {fileSides.length > 0 && (
        <p className="small faint">
          {fileSides.join(' and ')} {fileSides.length > 1 ? 'are' : 'is'} from a file. Files of rollouts have no
          weights, so the whole distribution of their policy isn’t known, only how likely the word was that it drew.
        </p>
      )}
    </div>
  );
}
