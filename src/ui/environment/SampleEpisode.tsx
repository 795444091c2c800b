import type { Sample } from '../../written/examination.ts';
import type { Move } from '../../written/plays.ts';
import { RewardChip } from '../parts/RewardChip.tsx';
import { signed } from '../parts/numberText.ts';
import { KINDS } from '../rollout/kinds.ts';
import { SpanLabel } from '../rollout/SpanLabel.tsx';
import { LineButton } from './ReadingLine.tsx';

interface Props {
  readonly sample: Sample;
  /** Weight of each part of the reward, by name; 1 where it has none. */
  readonly weights: Readonly<Record<string, number>>;
}

/** The first training task, turn by turn. The expert plays it, or the random player if the class has no expert. */
export function SampleEpisode({ sample: { by, play, reward }, weights }: Props) {
  return (
    <section className="panel stack" aria-labelledby="sample-title" data-testid="sample">
      <h2 id="sample-title">The first task, played {by === 'expert' ? 'by the expert' : 'with random calls'}</h2>
      <ol className="sample-turns">
        <Said kind="prompt" text={play.prompt} />
        {play.moves.map((move, turn) => {
          const reply = play.replies[turn];
          return (
            <li key={turn}>
              <ol>
                <Said kind={'answer' in move ? 'answer' : 'call'} text={called(move)} />
                {reply && !('answer' in move) && <Said kind="observation" text={reply.text ?? reply.refused ?? ''} />}
              </ol>
            </li>
          );
        })}
      </ol>
      {play.problems.map(({ text, line }) => (
        <p key={text} className="note bad">
          {line !== null && <LineButton line={line} />} {text}
        </p>
      ))}
      {play.parts !== null && reward !== null && (
        <p className="row small">
          Reward <b>{reward.toFixed(2)}</b>
          {Object.entries(play.parts).map(([part, amount]) => (
            <RewardChip key={part} amount={Number(amount)}>
              {part} {signed(Number(amount))}
              {Object.hasOwn(weights, part) && weights[part] !== 1 && ` × ${weights[part]}`}
            </RewardChip>
          ))}
        </p>
      )}
    </section>
  );
}

interface SaidProps {
  readonly kind: 'prompt' | 'call' | 'observation' | 'answer';
  readonly text: string;
}

function Said({ kind, text }: SaidProps) {
  return (
    <li className="episode-turn" data-kind={kind}>
      <SpanLabel of={KINDS[kind]} />
      <span className="mono">{text}</span>
    </li>
  );
}

const called = (move: Move): string =>
  'answer' in move
    ? move.answer
    : `${move.tool}(${Object.values(move.values)
        .map((value) => JSON.stringify(value))
        .join(', ')})`;
