import { lazy, Suspense, useMemo, useState } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import {
  BASELINES,
  baselineOf,
  ESTIMATORS,
  type GroupBaseline,
  usesGroups,
  usesRewards,
  whitensAdvantages,
} from '../../config/estimators.ts';
import { RANDOMNESS_NOTES, hasRandomness } from '../../config/environmentRandomness.ts';
import { STD_EPSILON, equationWith } from '../../page/rollout/advantage.ts';
import { COMPARISON_NAMES, groupFormula } from '../../page/rollout/groupFormula.ts';
import { useConfig } from '../../page/knobs/configStore.ts';
import { useShownRollout } from '../../page/view/currentRollout.ts';
import { shortNumber } from '../../page/words/numberText.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { GroupStrip } from '../run/GroupStrip.tsx';
import { Header } from '../frame/Header.tsx';
import { Inspector } from '../run/Inspector.tsx';
import { EnvPanel } from '../run/EnvPanel.tsx';
import { RolloutPanel } from '../run/RolloutPanel.tsx';
import { SharedBeginning } from '../tokens/RolloutWords.tsx';
import { StatusLine } from '../frame/StatusLine.tsx';
import { readRollout } from '../../page/rollout/readRollout.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { sharedPrefixLength } from '../../page/rollout/parting.ts';
import { type GroupRow, GroupTable } from './GroupTable.tsx';
import './group.css';

export function Group() {
  return (
    <>
      <Header />
      <main className="group screen pane" data-pane="watch">
        <GroupStrip taskOnly />
        <GroupOfRollouts />
      </main>
      <Inspector />
      <StatusLine />
    </>
  );
}

export function GroupOfRollouts() {
  const { batch, episode } = useShownRollout();
  const row = useSelection((s) => s.row);
  const turn = useSelection((s) => s.turn);
  const isCompared = useSelection((s) => s.beside !== '');
  const applied = useConfig((s) => s.applied ?? s.wanted);
  const config = useLive.getState().batchConfig ?? applied;
  const [wantedComparison, compare] = useState<GroupBaseline | null>(null);
  const group = episode?.group ?? 0;
  const members = useMemo(
    () =>
      batch.episodes
        .filter((each) => each.group === group)
        .map((each) => ({ episode: each, rollout: readRollout(batch, useLive.getState().vocabulary, each.row) })),
    [batch, group],
  );
  const shared = useMemo(
    () => sharedPrefixLength(members.map((member) => tokensOf(batch, member.episode.row))),
    [batch, members],
  );
  const [first] = members;
  if (batch.rows === 0) return null; // the strip above says why
  if (!first) return <p className="empty">This batch has no rollouts of this task.</p>;
  const rewards = members.map((member) => member.episode.reward);
  const baseline =
    usesGroups(config.estimator) && rewards.length > 1
      ? baselineOf(config.estimator, config.divideByStd === 'on')
      : null;
  const comparison = baseline !== null && wantedComparison !== baseline ? wantedComparison : null;
  const rows = members.map((member): GroupRow => {
    const { reward, row: at } = member.episode;
    return {
      ...member,
      advantage: batch.kept[at] === 0 ? null : meanAdvantage(batch, at),
      compared: comparison && equationWith(comparison, rewards, reward).value,
    };
  });
  const areIdentical = members.every(({ rollout }) => rollout.words.length === shared);
  return (
    <>
      <div className="card soft group-formula flex wrap between on-baseline">
        <Lesson {...{ rewards, config, baseline }} />
        {baseline !== null && <Comparisons {...{ baseline, comparison, compare, rewards }} />}
      </div>
      <p className="row quote shared on-baseline breaks" data-testid="shared">
        <span className="faint">
          {areIdentical ? `All ${rows.length} rollouts are identical:` : `All ${rows.length} rollouts begin with`}
        </span>{' '}
        <SharedBeginning rollout={first.rollout} shared={shared} />
      </p>
      <GroupTable
        {...{ rows, shared }}
        comparisonName={comparison && COMPARISON_NAMES[comparison]}
        chosen={{ row, turn }}
        choose={chooseTurn}
      />
      <Suspense>
        <Beside members={members} />
      </Suspense>
      {!isCompared && (
        <div className="stage-row group-chosen">
          <EnvPanel />
          <RolloutPanel />
        </div>
      )}
    </>
  );
}

const Beside = lazy(() => import('./Beside.tsx').then((m) => ({ default: m.Beside })));

/** Selects a rollout and a turn of it, and the first token of the turn that isn't a tag. */
function chooseTurn({ episode, rollout }: GroupRow, turn: number | null): void {
  const spans = rollout.turns.find((each) => each.turn === turn)?.spans ?? [];
  const token = spans.flatMap(({ tokens }) => tokens).find((t) => !rollout.tags[t]) ?? null;
  useSelection.setState({ row: episode.row, turn, token, revealed: null });
}

function tokensOf(batch: BatchView, row: number): Int32Array {
  const start = row * batch.length;
  return batch.tokens.subarray(start, start + (batch.lengths[row] ?? 0));
}

interface LessonProps {
  readonly rewards: readonly number[];
  readonly config: RunConfig;
  readonly baseline: GroupBaseline | null; // null: the estimator doesn't compare the rollouts
}

function Lesson({ rewards, config, baseline }: LessonProps) {
  const { advantageKind, sharesProgress } = ESTIMATORS[config.estimator];
  if (!usesRewards(config.estimator)) {
    return (
      <p>
        <b>{config.estimator}</b> reads no rewards:{' '}
        {config.estimator === 'rft' ? 'the advantage of a solved rollout is 1, of another 0.' : 'every advantage is 0.'}
      </p>
    );
  }
  if (baseline === null && advantageKind === 'group-turns') {
    return (
      <p>
        <b>{config.estimator}</b>{' '}
        {sharesProgress ? 'adds each turn’s credit for progress to the score' : 'compares single turns of the group'}:
        see the formula. The table has the mean over a rollout’s tokens.
      </p>
    );
  }
  if (baseline === null) {
    return (
      <p>
        <b>{config.estimator}</b> does not compare the rollouts of a prompt. Each token’s advantage comes from its own
        rewards{config.critic === 'none' ? '.' : ' and the critic’s values.'} The table has the mean over a rollout’s
        tokens.
      </p>
    );
  }
  if (Math.max(...rewards) - Math.min(...rewards) < STD_EPSILON) {
    return (
      <p data-flat="true" data-testid="flat-group">
        <b>
          All {rewards.length} scored {shortNumber(rewards[0])}.
        </b>{' '}
        Spread 0 → every advantage is 0 → this group teaches nothing. No rollout is better or worse than another.
      </p>
    );
  }
  const { words, numbers } = groupFormula(baseline, rewards);
  return (
    <p>
      Advantage = {words} ={' '}
      <b className="mono" data-testid="group-formula">
        {numbers}
      </b>
      {whitensAdvantages(config) && ', then whitened over the batch'}.
      {hasRandomness(config) && ` ${RANDOMNESS_NOTES[config.randomness]}`}
    </p>
  );
}

interface ComparisonsProps {
  readonly baseline: GroupBaseline;
  readonly comparison: GroupBaseline | null;
  readonly compare: (baseline: GroupBaseline | null) => void;
  readonly rewards: readonly number[];
}

function Comparisons({ baseline, comparison, compare, rewards }: ComparisonsProps) {
  const others = (Object.keys(BASELINES) as GroupBaseline[]).filter((each) => each !== baseline);
  const formula = comparison && groupFormula(comparison, rewards);
  return (
    <div className="row small">
      <span>Compare with</span>
      <span className="segments" role="group" aria-label="Compare with">
        {others.map((each) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === comparison}
            onClick={() => compare(each === comparison ? null : each)}
          >
            {COMPARISON_NAMES[each]}
          </button>
        ))}
      </span>
      {formula && (
        <span>
          not used here: {formula.words} = <b className="mono">{formula.numbers}</b>
        </span>
      )}
    </div>
  );
}

/** Mean advantage of a row over the tokens that carry credit, from the trainer's own tensor; null if there are none. */
function meanAdvantage(batch: BatchView, row: number): number | null {
  let [sum, count] = [0, 0];
  for (let i = row * batch.length; i < (row + 1) * batch.length; i++) {
    if (batch.advantageMask[i] === 0) continue;
    sum += batch.advantages[i] ?? 0;
    count++;
  }
  return count > 0 ? sum / count : null;
}
