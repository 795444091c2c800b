import { useEffect, useMemo } from 'react';
import type { EpisodeView } from '../../domain/episode.ts';
import { Role } from '../../domain/tokens.ts';
import { table, useRollouts } from '../../page/files/rolloutFileStore.ts';
import { useReadRollouts } from '../../page/files/useRead.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { type ComparedRollout, comparedRecord, comparedRow } from '../../page/rollout/parting.ts';
import type { Rollout } from '../../page/rollout/readRollout.ts';
import { currentRun } from '../../page/runs/liveRun.ts';
import { findSavedRuns } from '../../page/runs/resumeOffers.ts';
import { useRuns } from '../../page/runs/runStore.ts';
import { addressOf, type RolloutSource } from '../../page/training/inspect.ts';
import { useAnswer } from '../../page/training/runAnswers.ts';
import { useShownRollout } from '../../page/view/currentRollout.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { exactNumber } from '../../page/words/numberText.ts';
import type { Tensors } from '../../runs/checkpoint.ts';
import type { Run } from '../../runs/run.ts';
import type { Question } from '../../wire/questions.ts';
import { NumberInput } from '../parts/NumberInput.tsx';
import { NoWeights, PartingView } from '../tokens/PartingView.tsx';
import { RunDistribution } from '../tokens/RunDistribution.tsx';

const FILE = 'file-';
const RUN = 'run-';

interface Props {
  readonly members: readonly { readonly episode: EpisodeView; readonly rollout: Rollout }[]; // of the group
}

/** The chosen rollout beside another one: of its group, of another run that plays its task, or of an opened file; and the choice of that one. */
export function Beside({ members }: Props) {
  const { rollout } = useShownRollout();
  const beside = useSelection((s) => s.beside);
  const opened = useRollouts((s) => s.version > 0) ? table.rows : 0;
  const runs = useOtherRuns();
  const isFile = beside.startsWith(FILE);
  const isRun = beside.startsWith(RUN);
  const at = Number(beside.replace(/^\D+/, ''));
  const nameOf = (row: number) => {
    const index = members.findIndex(({ episode }) => episode.row === row);
    return index < 0 ? `rollout ${row + 1} of the batch` : `rollout ${index + 1}`;
  };
  const others = members.filter(({ episode }) => episode.row !== rollout.row);
  const isListed =
    isFile ||
    beside === '' ||
    (isRun ? runs.some(({ id }) => id === at) : others.some(({ episode }) => episode.row === at));
  return (
    <>
      <div className="row wrap">
        <label className="row thin">
          <span className="one-line">Compare {nameOf(rollout.row)} with</span>
          <select className="thin" value={isFile ? FILE : beside} onChange={({ target: { value } }) => choose(value)}>
            <option value="">choose a rollout</option>
            {others.map(({ episode }) => (
              <option key={episode.row} value={episode.row}>
                {nameOf(episode.row)} (score {exactNumber(episode.reward)})
              </option>
            ))}
            {!isListed && <option value={beside}>{isRun ? `run ${at}` : nameOf(at)}</option>}
            <optgroup label="Another run plays this task">
              {runs.length === 0 && <option disabled>there is no other run</option>}
              {runs.map(({ id, name, checkpoint }) => (
                <option key={id} value={`${RUN}${id}`} disabled={!checkpoint}>
                  run {id}: {name}
                  {!checkpoint && ' (its weights aren’t saved)'}
                </option>
              ))}
            </optgroup>
            <optgroup label="An opened file, without weights">
              <option value={FILE} disabled={opened === 0 && !isFile}>
                {opened > 0 ? 'a rollout of the file' : 'none: open one under Rollouts'}
              </option>
            </optgroup>
          </select>
        </label>
        {isFile && opened > 0 && (
          <NumberInput label="Number" value={at} min={0} max={opened - 1} onChange={(row) => choose(FILE, row)} />
        )}
        {beside !== '' && (
          <button type="button" className="quiet small" onClick={() => choose('')}>
            End comparison
          </button>
        )}
      </div>
      {beside !== '' &&
        (isRun ? (
          <PlayedByRun name={nameOf(rollout.row)} id={at} run={runs.find(({ id }) => id === at)} />
        ) : (
          <Compared row={at} {...{ isFile, opened, nameOf }} />
        ))}
    </>
  );
}

function choose(beside: string, row = 0): void {
  useSelection.setState({ beside: beside === FILE ? `${FILE}${row}` : beside });
}

/** Runs of this browser other than the one in the lab, the newest first; with a checkpoint if their weights are saved. */
function useOtherRuns(): readonly Run[] {
  const current = useLive((s) => s.run);
  const { left, offers, runs } = useRuns();
  useEffect(() => void findSavedRuns(), [current]);
  return useMemo(() => {
    const saved = [...left, ...offers.map(({ run }) => run)].filter((run) => run !== null);
    const own = current > 0 ? currentRun()?.id : undefined;
    const byId = new Map([...runs, ...saved.toReversed()].map((run) => [run.id, run]));
    return [...byId.values()].filter(({ id }) => id > 0 && id !== own).sort((a, b) => b.id - a.id);
  }, [current, left, offers, runs]);
}

interface Played {
  readonly source: RolloutSource;
  readonly weights: Tensors;
}

const askToPlay = ({ source, weights }: Played): Question => ({
  kind: 'branch',
  ...{ rollout: addressOf(source), position: 0, token: null, weights },
  ...{ temperature: source.config.temperature, drawIndex: 1 },
});

interface PlayedByRunProps {
  readonly name: string; // of the chosen rollout
  readonly id: number;
  readonly run: Run | undefined;
}

/** The chosen rollout beside one of its task that another run's policy draws now, with both policies where they part. */
function PlayedByRun({ name, id, run }: PlayedByRunProps) {
  const source = useChosenSource();
  const { vocabulary } = useLive.getState();
  const why = whyNotPlayed(run, vocabulary);
  const subject = useMemo(() => {
    const weights = why === null ? run?.checkpoint?.networks.policy.weights : undefined;
    return weights ? { source, weights } : null;
  }, [source, run, why]);
  const answered = useAnswer('branch', subject, askToPlay);
  const reply = answered?.subject === subject ? answered.reply : undefined;
  const shown = useMemo(() => {
    if (!reply?.ok) return null;
    const played = { batch: reply.answer.branch, row: 0, config: source.config, branch: reply.answer.id };
    const a = comparedRow(name, source.batch, vocabulary, source.row);
    return {
      a,
      b: comparedRow(`run ${id} on this task`, played.batch, vocabulary, 0),
      sources: [source, played] as const,
    };
  }, [reply, source, name, id, vocabulary]);
  if (shown) {
    const { a, b } = shown;
    return (
      <PartingView {...{ a, b }}>
        {(t) => <DistributionThere {...{ ...shown, t }} otherWeights={subject?.weights} />}
      </PartingView>
    );
  }
  return <p className="empty">{why ?? (reply?.ok === false ? reply.message : 'Playing…')}</p>;
}

/** Why a run's policy can't play the task in view; null if the run in the lab can try. */
function whyNotPlayed(run: Run | undefined, vocabulary: readonly string[]): string | null {
  if (!run) return 'This link needs a run that this browser doesn’t have.';
  const { id, checkpoint } = run;
  if (!checkpoint)
    return `The weights of run ${id} aren’t saved, only its curves. A run that trained for half a minute or more stays saved.`;
  if (checkpoint.base)
    return `Run ${id} trained adapters of a language model, which can’t be asked in place of another model.`;
  const isSame =
    checkpoint.vocabulary.length === vocabulary.length &&
    vocabulary.every((word, i) => word === checkpoint.vocabulary[i]);
  return isSame ? null : `Run ${id} knows other words, because it has another environment. So it can’t play this task.`;
}

/** The chosen rollout, with the knobs of its batch. */
function useChosenSource(): RolloutSource {
  const { batch, rollout } = useShownRollout();
  const applied = useConfig((s) => s.applied ?? s.wanted);
  const config = useLive((s) => s.batchConfig) ?? applied;
  return useMemo(() => ({ batch, row: rollout.row, config }), [batch, rollout, config]);
}

interface ComparedProps {
  readonly row: number; // of the batch, or of the opened files
  readonly isFile: boolean;
  readonly opened: number; // rollouts of the opened files
  readonly nameOf: (row: number) => string;
}

function Compared({ row, isFile, opened, nameOf }: ComparedProps) {
  const source = useChosenSource();
  const { rollout } = useShownRollout();
  const { batch, config } = source;
  const isThere = isFile ? row < opened : row < batch.rows && row !== rollout.row;
  const fileRows = useMemo(() => (isFile && isThere ? [row] : []), [isFile, isThere, row]);
  const read = useReadRollouts(fileRows).find((each) => each.row === row); // while it reads, the previous one stays
  const record = read && 'record' in read ? read.record : null;
  const [chosenName, otherName] = [nameOf(rollout.row), isFile ? `rollout ${row} of the file` : nameOf(row)];
  const { vocabulary } = useLive.getState();
  const a = useMemo(() => comparedRow(chosenName, batch, vocabulary, rollout.row), [chosenName, batch, vocabulary, rollout]); // prettier-ignore
  const b = useMemo(() => {
    if (!isThere) return null;
    return isFile ? record && comparedRecord(otherName, record) : comparedRow(otherName, batch, vocabulary, row);
  }, [isThere, isFile, record, otherName, batch, vocabulary, row]);
  const sources = useMemo(
    () => [source, isFile ? null : { batch, row, config }] as const,
    [source, batch, row, config, isFile],
  );
  if (b) {
    return <PartingView {...{ a, b }}>{(t) => <DistributionThere {...{ a, b, sources, t }} />}</PartingView>;
  }
  if (isThere) return <p className="empty">Reading…</p>;
  return (
    <p className="empty">
      {isFile
        ? 'This link needs a file that isn’t open. Open it in Rollouts.'
        : 'Choose another rollout: this one isn’t in the batch, or it’s the chosen one.'}
    </p>
  );
}

interface DistributionProps {
  readonly a: ComparedRollout;
  readonly b: ComparedRollout;
  /** Where to ask for the policy's distribution; null: the rollout is of a file, which has no weights. */
  readonly sources: readonly [a: RolloutSource | null, b: RolloutSource | null];
  /** The weights of the run that B is of, if it is another one: then both policies are asked. */
  readonly otherWeights?: Tensors | undefined;
  readonly t: number;
}

/** Both have the same words before the token at `t`, so each policy has one distribution there. */
function DistributionThere({ a, b, sources, otherWeights, t }: DistributionProps) {
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
      {fileSides.length > 0 && <NoWeights sides={fileSides} />}
    </div>
  );
}
