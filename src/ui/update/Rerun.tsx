import { Fragment, useMemo } from 'react';
import type { PlayedBatch } from '../../domain/batch.ts';
import type { Question } from '../../wire/questions.ts';
import { useAnswer } from '../run/runAnswers.ts';
import { exact, percent } from '../parts/numberText.ts';
import { sharedPrefix } from '../group/align.ts';
import type { BatchSource } from '../run/inspect.ts';
import { useCostAccepted } from '../run/acceptedCost.ts';
import { CostQuestion } from '../run/CostQuestion.tsx';
import { KINDS, STOPS } from '../rollout/kinds.ts';
import { live } from '../run/liveStore.ts';
import { readRollout } from '../rollout/readRollout.ts';
import { rolloutName, rolloutsText } from './rolloutNames.ts';

interface Props {
  readonly source: BatchSource | null;
  readonly row: number;
}

const ask = ({ batch, anyway }: BatchSource & { readonly anyway: boolean }): Question => ({
  ...{ kind: 'rerun', update: batch.update, anyway },
});

/** The same prompt with the same draws, by the policy before the update and by the one after it. */
export function Rerun({ source, row }: Props) {
  const anyway = useCostAccepted('rerun');
  const subject = useMemo(() => source && { ...source, anyway }, [source, anyway]);
  const asked = useAnswer('rerun', subject, ask);
  if (!asked) return <p className="faint waiting">{source ? 'Playing the tasks again…' : 'No update yet.'}</p>;
  if (!asked.reply.ok) return <CostQuestion kind="rerun" reply={asked.reply} />;
  const { before, after } = asked.reply.answer;
  if (!before || !after) return <p className="faint">The weights of this update are no longer kept.</p>;
  return <Compared {...{ before, after }} row={Math.min(row, before.rows - 1)} />;
}

interface ComparedProps {
  readonly before: PlayedBatch;
  readonly after: PlayedBatch;
  readonly row: number;
}

function Compared({ before, after, row }: ComparedProps) {
  const parts = useMemo(() => partings(before, after), [before, after]);
  const shared = parts[row] ?? 0;
  const changed = parts.filter((at) => at !== null).length;
  const same = parts[row] === null;
  return (
    <div className="rerun" data-testid="rerun">
      <p>
        {rolloutsText(before)}, replayed with the same random draws by the policy before and after this update.{' '}
        <b>{changed}</b> {changed === 1 ? 'differs' : 'differ'}. Mean reward {exact(mean(before))} →{' '}
        <b>{exact(mean(after))}</b>, solved {percent(solved(before))} → <b>{percent(solved(after))}</b>.
      </p>
      <p className="faint">
        {rolloutName(before, row)}: {same ? 'identical to the end.' : 'the first different word is boxed.'}
      </p>
      {(
        [
          ['before', before],
          ['after', after],
        ] as const
      ).map(([when, played]) => (
        <Strip key={when} {...{ when, played, row }} differs={same ? null : shared} />
      ))}
    </div>
  );
}

interface StripProps {
  readonly when: 'before' | 'after';
  readonly played: PlayedBatch;
  readonly row: number;
  readonly differs: number | null; // the first token that is another
}

function Strip({ when, played, row, differs }: StripProps) {
  const { words, kinds } = useMemo(() => readRollout(played, live.vocabulary, row), [played, row]);
  const episode = played.episodes.find((each) => each.row === row);
  return (
    <div className="strip" data-testid={`strip-${when}`}>
      <b>{when}</b>
      <p className="strip-words">
        {words.map((word, t) => (
          <Fragment key={t}>
            <span
              className="word"
              data-kind={kinds[t]}
              data-diverges={t === differs}
              title={KINDS[kinds[t] ?? 'call'].label}
            >
              {word}
            </span>{' '}
          </Fragment>
        ))}
        {differs === words.length && <span data-diverges="true">ends</span>}
      </p>
      {episode && (
        <span className="faint">
          reward {exact(episode.reward)} · {STOPS[episode.stop]}
        </span>
      )}
    </div>
  );
}

/** For each row the first token that differs; null where none does. */
function partings(before: PlayedBatch, after: PlayedBatch): (number | null)[] {
  return Array.from({ length: before.rows }, (_, row) => {
    const [a, b] = [tokensOf(before, row), tokensOf(after, row)];
    const shared = sharedPrefix([a, b]);
    return shared === a.length && shared === b.length ? null : shared;
  });
}

function tokensOf({ tokens, length, lengths }: PlayedBatch, row: number): Int32Array {
  return tokens.subarray(row * length, row * length + (lengths[row] ?? 0));
}

function mean({ episodes }: PlayedBatch): number {
  return episodes.reduce((sum, { reward }) => sum + reward, 0) / Math.max(1, episodes.length);
}

function solved({ episodes }: PlayedBatch): number {
  return episodes.filter(({ success }) => success).length / Math.max(1, episodes.length);
}
