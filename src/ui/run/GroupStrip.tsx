import { type KeyboardEvent, lazy, Suspense } from 'react';
import type { EpisodeView } from '../../domain/episode.ts';
import { useShownRollout } from '../../page/view/currentRollout.ts';
import { shortNumber, exactNumber, signedNumber, rewardNumber } from '../../page/words/numberText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { selectRow, useSelection } from '../../page/view/selectionStore.ts';
import { Icon } from '../parts/Icon.tsx';
import { useConfig } from '../../page/knobs/configStore.ts';
import type { RunConfig } from '../../config/fields.ts';
import { advantageEquation } from '../../page/rollout/advantage.ts';
import { groupStats } from '../../page/rollout/readRollout.ts';
import { usesGroups, whitensAdvantages } from '../../config/estimators.ts';

const LinkedPlan = lazy(() => import('./LinkedPlan.tsx').then((m) => ({ default: m.LinkedPlan })));
const NoRollouts = lazy(() => import('./NoRollouts.tsx').then((m) => ({ default: m.NoRollouts })));

/** `taskOnly` leaves out rollouts and numbers, for a screen that shows them itself. */
export function GroupStrip({ taskOnly = false }: { readonly taskOnly?: boolean }) {
  const { batch, episode } = useShownRollout();
  const preview = useSelection((s) => s.preview);
  const group = episode?.group ?? 0;
  const members = batch.episodes.filter((e) => e.group === group);
  const groups = new Set(batch.episodes.map((e) => e.group)).size;
  const goToGroup = (nextGroup: number) => {
    const firstEpisode = batch.episodes.find((e) => e.group === (nextGroup + groups) % groups);
    if (firstEpisode) selectRow(firstEpisode.row);
  };
  if (batch.rows === 0) {
    return (
      <Suspense fallback={<p className="no-rollouts" />}>
        <LinkedPlan />
        <NoRollouts />
      </Suspense>
    );
  }
  return (
    <section className="group-strip" aria-label="Rollouts of one task" data-testid="group">
      <Suspense>
        <LinkedPlan />
      </Suspense>
      <div className="line group-head">
        {useLive.getState().isExample && <span className="chip example">recording</span>}
        <span className="chip">update {batch.update}</span>
        <span className="cut strong question" title={episode?.question}>
          {episode?.question}
        </span>
        {groups > 1 && (
          <span className="line gap-1 small group-nav end">
            <button
              type="button"
              className="quiet icon-button small"
              aria-label="Previous task"
              onClick={() => goToGroup(group - 1)}
            >
              <Icon name="left" />
            </button>
            <GroupMenu episodes={batch.episodes} group={group} goToGroup={goToGroup} />
            <button
              type="button"
              className="quiet icon-button small"
              aria-label="Next task"
              onClick={() => goToGroup(group + 1)}
            >
              <Icon name="right" />
            </button>
          </span>
        )}
      </div>
      {!taskOnly && (
        <div className="row rollouts">
          <RolloutChips members={members} kept={preview?.previewedBatch === batch ? preview.batch.kept : batch.kept} />
          <GroupSummary
            members={members}
            chosen={episode}
            kept={episode === undefined || isKept(batch.kept, episode.row)}
          />
        </div>
      )}
    </section>
  );
}

function GroupMenu(props: {
  readonly episodes: readonly EpisodeView[];
  readonly group: number;
  readonly goToGroup: (g: number) => void;
}) {
  const countsByGroup = new Map<number, { done: number; all: number }>();
  for (const { group, success } of props.episodes) {
    const entry = countsByGroup.get(group) ?? { done: 0, all: 0 };
    countsByGroup.set(group, { done: entry.done + (success ? 1 : 0), all: entry.all + 1 });
  }
  return (
    <select
      className="small"
      aria-label="Task"
      value={props.group}
      onChange={(event) => props.goToGroup(Number(event.target.value))}
    >
      {[...countsByGroup].map(([group, { done, all }]) => (
        <option key={group} value={group}>
          task {group + 1} of {countsByGroup.size} · {done}/{all} solved
        </option>
      ))}
    </select>
  );
}

/** Whether the update trained on a row, that is, its prompt was not filtered out. */
function isKept(kept: Uint8Array, row: number): boolean {
  return kept[row] !== 0;
}

interface RolloutChipsProps {
  readonly members: readonly EpisodeView[];
  readonly kept: Uint8Array;
}

function RolloutChips({ members, kept }: RolloutChipsProps) {
  const row = useSelection((s) => s.row);
  const lit = useSelection((s) => s.highlighted?.group ?? false);
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const at = members.findIndex((e) => e.row === row);
    const nextEpisode = members[(at + step + members.length) % members.length];
    if (step === 0 || !nextEpisode) return;
    event.preventDefault();
    selectRow(nextEpisode.row);
    const button = event.currentTarget.querySelector(`[data-row="${nextEpisode.row}"]`);
    if (button instanceof HTMLElement) button.focus();
  };
  return (
    <div className="row chips gap-2" role="toolbar" aria-label="Rollouts" tabIndex={-1} onKeyDown={onKey}>
      {members.map((e, i) => (
        <button
          key={e.row}
          type="button"
          className="rollout-chip"
          data-row={e.row}
          data-success={e.success}
          data-kept={isKept(kept, e.row)}
          data-lit={lit && isKept(kept, e.row)}
          aria-pressed={e.row === row}
          aria-label={`Rollout ${i + 1}: ${e.success ? 'solved' : 'not solved'}, reward ${rewardNumber(e.reward)}, ended: ${e.stop}${isKept(kept, e.row) ? '' : ', not trained (filtered)'}`}
          tabIndex={e.row === row ? 0 : -1}
          onClick={() => selectRow(e.row)}
        >
          <Icon name={e.success ? 'check' : 'cross'} />
          <span>{rewardNumber(e.reward)}</span>
        </button>
      ))}
    </div>
  );
}

interface GroupSummaryProps {
  readonly members: readonly EpisodeView[];
  readonly chosen: EpisodeView | undefined;
  readonly kept: boolean;
}

/** With a group estimator, also shows the advantage as an equation, with enough digits to check it. */
function GroupSummary({ members, chosen, kept }: GroupSummaryProps) {
  const applied = useConfig((s) => s.applied ?? s.wanted);
  const config = useLive.getState().batchConfig ?? applied;
  const rewards = members.map((e) => e.reward);
  const { mean, std } = groupStats(rewards);
  const filteredChip = !kept && (
    <span className="chip filtered" title="The group filter dropped this prompt from the update">
      not trained (filtered)
    </span>
  );
  if (members.length === 0) return null;
  if (members.length > 1 && std < 1e-6) {
    return (
      <p className="soft group-sum" data-line={usesGroups(config.estimator)}>
        All {members.length} scored {shortNumber(mean)}
        {usesGroups(config.estimator) && kept && <b> → advantage 0: this group teaches nothing</b>} {filteredChip}
      </p>
    );
  }
  return (
    <p
      className="soft group-sum"
      data-line={usesGroups(config.estimator)}
      title="Std: the standard deviation of the group, with n − 1. Where the advantage is divided by it, 10⁻⁶ is added first."
    >
      mean <b>{shortNumber(mean)}</b> · std <b>{shortNumber(std)}</b> {filteredChip}
      {chosen && kept && <AdvantageFormula {...{ config, rewards }} reward={chosen.reward} />}
    </p>
  );
}

interface AdvantageFormulaProps {
  readonly config: RunConfig;
  readonly rewards: readonly number[];
  readonly reward: number;
}

function AdvantageFormula({ config, rewards, reward }: AdvantageFormulaProps) {
  const equation = advantageEquation(config, rewards, reward);
  if (!equation) return null;
  const { baseline, divisor, value } = equation;
  return (
    <span className="formula">
      A = ({exactNumber(reward)} − {exactNumber(baseline)}){divisor !== null && ` / ${exactNumber(divisor)}`} ={' '}
      <b>{signedNumber(value)}</b>
      {whitensAdvantages(config) && ', then whitened'}
    </span>
  );
}
