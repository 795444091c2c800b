import { useMemo, type CSSProperties, Fragment } from 'react';
import { batchLogprobs, type BatchSource, type NoAnswer, wordOf } from '../../page/training/inspect.ts';
import { useCostAccepted } from '../../page/view/acceptedCost.ts';
import { CostQuestion } from '../parts/CostQuestion.tsx';
import { RunDistribution } from '../tokens/RunDistribution.tsx';
import { useAnswer, useUpdateFinished } from '../../page/training/runAnswers.ts';
import { useShownRollout } from '../../page/view/currentRollout.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { GroupStrip } from '../run/GroupStrip.tsx';
import { Header } from '../frame/Header.tsx';
import { Inspector } from '../run/Inspector.tsx';
import { StatusLine } from '../frame/StatusLine.tsx';
import { useSelection } from '../../page/view/selectionStore.ts';
import { ClipMap } from './ClipMap.tsx';
import { Why } from '../tokens/Why.tsx';
import { counted, arrow, signedChange, probability, exactNumber, percent } from '../../page/words/numberText.ts';
import { KINDS, STOP_TEXTS } from '../../page/rollout/kinds.ts';
import { readRollout } from '../../page/rollout/readRollout.ts';
import { rolloutName, rolloutsText } from '../../page/words/rolloutNames.ts';
import type { PlayedBatch, BatchView } from '../../domain/batch.ts';
import type { Question } from '../../wire/questions.ts';
import { sharedPrefixLength } from '../../page/rollout/parting.ts';
import { Role } from '../../domain/tokens.ts';
import type { LogprobsAroundUpdate } from '../../page/rollout/channels.ts';
import './update.css';

const MAX_CHANGES = 24;

export function Update() {
  return (
    <>
      <Header />
      <main className="update screen pane" data-pane="watch">
        <GroupStrip />
        <BeforeAndAfter />
      </main>
      <Inspector />
      <StatusLine />
    </>
  );
}

/** The batch on screen; null until its update has finished. */
function useSource(): BatchSource | null {
  const { batch } = useShownRollout();
  const learned = useUpdateFinished(batch.update);
  const config = useLive.getState().batchConfig;
  return useMemo(() => (learned && config ? { batch, config } : null), [learned, config, batch]);
}

function BeforeAndAfter() {
  const source = useSource();
  const row = useSelection((s) => s.row);
  const token = useSelection((s) => s.token);
  const anyway = useCostAccepted('logprobs');
  const subject = useMemo(() => source && { ...source, anyway }, [source, anyway]);
  const asked = useAnswer('logprobs', subject, batchLogprobs);
  const answer = asked?.reply.ok ? asked.reply.answer : null;
  const logprobs = useMemo(
    () => (answer?.before && answer.after ? { before: answer.before, after: answer.after } : null),
    [answer],
  );
  const chosen = useMemo(() => source && { ...source, row }, [source, row]);
  const answered = asked?.subject;
  const changes = useMemo(
    () => answered && logprobs && largestChanges(answered.batch, logprobs, MAX_CHANGES),
    [answered, logprobs],
  );
  return (
    <div className="update-grid grid gap-4 low">
      <section className="card" aria-labelledby="changes-title" aria-busy={asked === undefined}>
        <h2 className="line" id="changes-title">
          Tokens whose probability changed most{' '}
          {answered && <span className="chip">update {answered.batch.update}</span>}
        </h2>
        {answered && changes ? (
          <Changes source={answered} changes={changes} />
        ) : (
          <NoChanges missing={asked && !asked.reply.ok ? asked.reply : null} kept={asked === undefined} />
        )}
      </section>
      <div
        className="update-side col gap-4 thin"
        role="region"
        aria-label="Why, the same prompt again, and the clip"
        tabIndex={0}
      >
        <section className="card" aria-labelledby="why-title">
          <h2 id="why-title">Why did it move?</h2>
          {chosen && token !== null ? (
            <Why source={chosen} t={token} />
          ) : (
            <p className="empty">
              Choose a token in the list. You see how much of its change comes from each rollout and from the
              optimizer’s momentum. These parts are a first-order estimate, so they don’t add up exactly.
            </p>
          )}
        </section>
        <section className="card" aria-labelledby="rerun-title">
          <h2 id="rerun-title">Same prompt, same random numbers, old and new policy</h2>
          <Rerun source={source} row={row} />
        </section>
        <section className="card" aria-labelledby="clip-title">
          <h2 id="clip-title">Which tokens were clipped</h2>
          {answered && logprobs ? (
            <ClipMap source={answered} logprobs={logprobs} />
          ) : (
            <p className="faint">Nothing to show yet.</p>
          )}
        </section>
      </div>
    </div>
  );
}

function NoChanges({ missing, kept }: { readonly missing: NoAnswer | null | undefined; readonly kept: boolean }) {
  const started = useLive((s) => s.session !== 'none');
  if (missing) return <CostQuestion kind="logprobs" reply={missing} />;
  if (!started && !useLive.getState().isExample)
    return <p className="empty">No update yet. Run training: the first one takes a few seconds.</p>;
  if (kept) return <p className="faint">Loading both policies…</p>;
  return <p className="faint">The weights of this update are no longer kept. Choose a later one.</p>;
}

function Changes({ source, changes }: { readonly source: BatchSource; readonly changes: readonly Change[] }) {
  const largestChange = Math.max(1e-9, ...changes.map(({ before, after }) => Math.abs(after - before)));
  return (
    <ol className="changes" data-testid="changes">
      {changes.map((change) => (
        <ChangeRow key={`${change.row} ${change.t}`} {...{ source, change, largestChange }} />
      ))}
    </ol>
  );
}

interface RowProps {
  readonly source: BatchSource;
  readonly change: Change;
  readonly largestChange: number; // size of the largest change in the list
}

function ChangeRow({
  source: { batch, config },
  change: { row, t, before, after, rolloutCount },
  largestChange,
}: RowProps) {
  const chosen = useSelection((s) => s.row === row && s.token === t);
  const i = row * batch.length + t;
  const word = wordOf({ batch, row, config }, batch.tokens[i] ?? 0);
  const kind = readRollout(batch, useLive.getState().vocabulary, row).kinds[t] ?? 'call';
  const turn = batch.turns[i] ?? 0;
  const up = after >= before;
  return (
    <li>
      <button
        type="button"
        className="change grid on-baseline full"
        aria-pressed={chosen}
        data-row={row}
        data-position={t}
        data-sign={up ? 'up' : 'down'}
        style={{ '--share': (Math.abs(after - before) / largestChange).toFixed(3) } as CSSProperties}
        onClick={() => useSelection.setState({ row, token: t, turn, revealed: null, branch: null })}
      >
        <span className="change-word gap-3 on-baseline" data-kind={kind}>
          <b className="tag" aria-hidden="true">
            {KINDS[kind].letter}
          </b>
          <span className="word" translate="no">
            {word}
          </span>
        </span>
        <span className="small change-where faint">
          {rolloutName(batch, row)}, turn {turn}
          {rolloutCount > 1 && ` · same change in ${counted(rolloutCount - 1, 'more rollout')}`}
        </span>
        <span className="small mono change-p">
          {probability(before)} → {probability(after)}
        </span>
        <span className="number strong change-delta">
          {arrow(after - before)} {signedChange(after - before)}
        </span>
        <span className="visually-hidden">, {KINDS[kind].label}</span>
        <span className="change-bar" aria-hidden="true" />
      </button>
    </li>
  );
}

interface Props {
  readonly source: BatchSource | null;
  readonly row: number;
}

const ask = ({ batch, anyway }: BatchSource & { readonly anyway: boolean }): Question => ({
  ...{ kind: 'rerun', update: batch.update, anyway },
});

/** The same prompt with the same random draws, played by the policy before the update and by the policy after it. */
function Rerun({ source, row }: Props) {
  const anyway = useCostAccepted('rerun');
  const subject = useMemo(() => source && { ...source, anyway }, [source, anyway]);
  const asked = useAnswer('rerun', subject, ask);
  if (!asked) return <p className="faint waiting">{source ? 'Playing the tasks again…' : 'No update yet.'}</p>;
  if (!asked.reply.ok) return <CostQuestion kind="rerun" reply={asked.reply} />;
  const { before, after } = asked.reply.answer;
  if (!before || !after) return <p className="faint">The weights of this update are no longer kept.</p>;
  return <RerunResult {...{ source, before, after }} row={Math.min(row, before.rows - 1)} />;
}

interface ComparedProps {
  readonly source: BatchSource | null;
  readonly before: PlayedBatch;
  readonly after: PlayedBatch;
  readonly row: number;
}

function RerunResult({ source, before, after, row }: ComparedProps) {
  const differences = useMemo(() => firstDifferences(before, after), [before, after]);
  const firstDifference = differences[row] ?? null;
  const changed = differences.filter((at) => at !== null).length;
  const same = firstDifference === null;
  return (
    <div className="rerun" data-testid="rerun">
      <p>
        {rolloutsText(before)}, replayed with the same random draws by the policy before and after this update.{' '}
        <b>{changed}</b> of {before.rows} {changed === 1 ? 'plays' : 'play'} out differently after it. Mean reward{' '}
        {exactNumber(mean(before))} → <b>{exactNumber(mean(after))}</b>, solved {percent(solved(before))} →{' '}
        <b>{percent(solved(after))}</b>. In so few rollouts, one update can look worse by chance.
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
        <RolloutLine key={when} {...{ when, played, row }} firstDifference={firstDifference} />
      ))}
      {source && firstDifference !== null && (
        <BothDistributions {...{ source, before, after, row }} t={firstDifference} />
      )}
    </div>
  );
}

/** The distributions of the policies before and after the update where their replays part. */
function BothDistributions({
  source,
  before,
  after,
  row,
  t,
}: Omit<ComparedProps, 'source'> & { readonly source: BatchSource; readonly t: number }) {
  const owners = useMemo(() => {
    const played = [
      ['new', after],
      ['old', before],
    ] as const;
    return new Map(
      played.flatMap(([when, plays]) =>
        t < tokensOf(plays, row).length ? [[tokensOf(plays, row)[t] ?? 0, when]] : [],
      ),
    );
  }, [before, after, row, t]);
  const rowSource = useMemo(() => ({ ...source, row }), [source, row]);
  // the run can be asked about the batch only, which older weights may have drawn
  const isSame = sharedPrefixLength([tokensOf(source.batch, row), tokensOf(before, row)]) >= t;
  return isSame ? <RunDistribution source={rowSource} {...{ t, owners }} /> : null;
}

interface RolloutLineProps {
  readonly when: 'before' | 'after';
  readonly played: PlayedBatch;
  readonly row: number;
  readonly firstDifference: number | null; // index of the first different token; null if all tokens are the same
}

function RolloutLine({ when, played, row, firstDifference }: RolloutLineProps) {
  const { words, kinds } = readRollout(played, useLive.getState().vocabulary, row);
  const episode = played.episodes.find((each) => each.row === row);
  return (
    <div className="strip" data-testid={`strip-${when}`}>
      <b>{when}</b>
      <p className="strip-words" translate="no">
        {words.map((word, t) => (
          <Fragment key={t}>
            <span
              className="word"
              data-kind={kinds[t]}
              data-diverges={t === firstDifference}
              title={KINDS[kinds[t] ?? 'call'].label}
            >
              {word}
            </span>{' '}
          </Fragment>
        ))}
        {firstDifference === words.length && <span data-diverges="true">ends</span>}
      </p>
      {episode && (
        <span className="faint">
          reward {exactNumber(episode.reward)} · {STOP_TEXTS[episode.stop]}
        </span>
      )}
    </div>
  );
}

function firstDifferences(before: PlayedBatch, after: PlayedBatch): (number | null)[] {
  return Array.from({ length: before.rows }, (_, row) => {
    const [a, b] = [tokensOf(before, row), tokensOf(after, row)];
    const shared = sharedPrefixLength([a, b]);
    return shared === a.length && shared === b.length ? null : shared;
  });
}

function tokensOf(
  { tokens, length, lengths }: Pick<PlayedBatch, 'tokens' | 'length' | 'lengths'>,
  row: number,
): Int32Array {
  return tokens.subarray(row * length, row * length + (lengths[row] ?? 0));
}

function mean({ episodes }: PlayedBatch): number {
  return episodes.reduce((sum, { reward }) => sum + reward, 0) / Math.max(1, episodes.length);
}

function solved({ episodes }: PlayedBatch): number {
  return episodes.filter(({ success }) => success).length / Math.max(1, episodes.length);
}

export interface Change {
  readonly row: number;
  readonly t: number; // position in the row
  readonly before: number; // probability before the update
  readonly after: number; // probability after it
  readonly rolloutCount: number; // number of rollouts with the same words up to this token, and so with the same change
}

/**
 * The tokens of a batch whose probability changed most, at most `maxChanges` of them, the largest change first.
 * Rollouts of one prompt often begin with the same words, so a token that follows the same words in several rollouts is
 * listed only once. `logprobs` have the shape (B,T).
 */
export function largestChanges(
  batch: BatchView,
  logprobs: LogprobsAroundUpdate,
  maxChanges: number,
): readonly Change[] {
  const size = (i: number) => Math.abs(Math.exp(logprobs.after[i] ?? 0) - Math.exp(logprobs.before[i] ?? 0));
  const actionIndices = [...batch.roles.keys()].filter((i) => batch.roles[i] === Role.action);
  const changesByContext = new Map<string, { change: Change; rolloutCount: number }>();
  for (const i of actionIndices.sort((a, b) => size(b) - size(a))) {
    const row = Math.floor(i / batch.length);
    const context = batch.tokens.subarray(row * batch.length, i + 1).join(' ');
    const known = changesByContext.get(context);
    if (known) known.rolloutCount++;
    else if (changesByContext.size < maxChanges) {
      const [before, after] = [Math.exp(logprobs.before[i] ?? 0), Math.exp(logprobs.after[i] ?? 0)];
      changesByContext.set(context, {
        change: { row, t: i % batch.length, before, after, rolloutCount: 1 },
        rolloutCount: 1,
      });
    }
  }
  return [...changesByContext.values()].map(({ change, rolloutCount }) => ({ ...change, rolloutCount }));
}
