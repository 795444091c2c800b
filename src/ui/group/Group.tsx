import { type CSSProperties, useMemo } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import { baselineOf, whitensAdvantages } from '../../config/estimators.ts';
import { RANDOMNESS_NOTES, hasRandomness } from '../../config/environmentRandomness.ts';
import {
  BASELINE_DESCRIPTIONS,
  STD_EPSILON,
  otherBaselineKnobs,
  type AdvantageEquation,
  advantageEquation,
} from '../rollout/advantage.ts';
import { useConfig } from '../knobs/configStore.ts';
import { useShownRollout } from '../run/currentRollout.ts';
import { exactNumber, shortNumber, signedNumber } from '../parts/numberText.ts';
import { STOP_TEXTS } from '../rollout/kinds.ts';
import { live } from '../run/liveStore.ts';
import { GroupStrip } from '../rollout/GroupStrip.tsx';
import { Header } from '../shell/Header.tsx';
import { Icon } from '../parts/Icon.tsx';
import { Inspector } from '../rollout/Inspector.tsx';
import { EnvPanel } from '../rollout/EnvPanel.tsx';
import { RewardSplit } from '../rollout/RewardSplit.tsx';
import { RolloutPanel } from '../rollout/RolloutPanel.tsx';
import { StatusLine } from '../shell/StatusLine.tsx';
import { readRollout } from '../rollout/readRollout.ts';
import { useSelection } from '../shell/selectionStore.ts';
import '../styles/group.css';
import { sharedPrefixLength } from './align.ts';
import { SharedBeginning, type RolloutColumn, Columns } from './Columns.tsx';

/** The screen with the rollouts of one prompt side by side: where they diverge, their rewards and their advantages. */
export function Group() {
  return (
    <>
      <Header />
      <main className="group screen pane" data-pane="watch">
        <GroupStrip />
        <SideBySide />
      </main>
      <Inspector />
      <StatusLine />
    </>
  );
}

function SideBySide() {
  const { batch, episode } = useShownRollout();
  const row = useSelection((s) => s.row);
  const turn = useSelection((s) => s.turn);
  const applied = useConfig((s) => s.applied ?? s.wanted);
  const config = live.batchConfig ?? applied;
  const group = episode?.group ?? 0;
  const columns = useMemo(
    () =>
      batch.episodes
        .filter((each) => each.group === group)
        .map((each, i): RolloutColumn => {
          const rollout = readRollout(batch, live.vocabulary, each.row);
          return { key: String(each.row), label: `Rollout ${i + 1}`, batch, episode: each, rollout };
        }),
    [batch, group],
  );
  const shared = useMemo(() => sharedPrefixLength(columns.map(tokensOf)), [columns]);
  const rewards = columns.map((column) => column.episode.reward);
  const [first] = columns;
  if (batch.rows === 0) return null; // the strip above says why
  if (!first) return <p className="empty">This batch has no rollouts of this task.</p>;
  const areIdentical = columns.every(({ rollout }) => rollout.words.length === shared);
  return (
    <>
      <Lesson rewards={rewards} config={config} />
      <p className="row quote shared" data-testid="shared">
        <span className="faint">
          {areIdentical ? `All ${columns.length} rollouts are identical:` : `All ${columns.length} rollouts begin with`}
        </span>{' '}
        <SharedBeginning rollout={first.rollout} shared={shared} />
        {!areIdentical && <span className="faint">A box marks the first token at which the rollouts differ.</span>}
      </p>
      <Columns
        columns={columns}
        sharedLength={shared}
        selected={{ key: String(row), turn }}
        choose={chooseTurn}
        renderHead={(column) => <ColumnHead {...{ column, rewards, config }} />}
      />
      <div className="stage-row group-chosen">
        <EnvPanel />
        <RolloutPanel />
      </div>
    </>
  );
}

/** Selects a turn of a rollout, and the first token of the turn that isn't a tag. */
function chooseTurn({ episode, rollout }: RolloutColumn, turn: number): void {
  const spans = rollout.turns.find((each) => each.turn === turn)?.spans ?? [];
  const token = spans.flatMap(({ tokens }) => tokens).find((t) => !rollout.tags[t]) ?? null;
  useSelection.setState({ row: episode.row, turn, token, revealed: null });
}

function tokensOf({ batch, episode }: RolloutColumn): Int32Array {
  const start = episode.row * batch.length;
  return batch.tokens.subarray(start, start + (batch.lengths[episode.row] ?? 0));
}

interface LessonProps {
  readonly rewards: readonly number[];
  readonly config: RunConfig;
}

/** Says what can be learned from the group, and how its advantages are calculated. */
function Lesson({ rewards, config }: LessonProps) {
  const groupAdvantage = advantageEquation(config, rewards, rewards[0] ?? 0);
  const isFlat = rewards.length > 1 && Math.max(...rewards) - Math.min(...rewards) < STD_EPSILON;
  if (!groupAdvantage) {
    return (
      <p className="card soft">
        <b>{config.estimator}</b> does not compare the rollouts of a prompt. Each token’s advantage comes from its own
        rewards
        {config.critic === 'none' ? '.' : ' and the critic’s values.'} Below each rollout: the mean over its tokens.
      </p>
    );
  }
  if (isFlat) {
    return (
      <p className="card soft" data-flat="true" data-testid="flat-group">
        <b>
          All {rewards.length} scored {shortNumber(rewards[0])}.
        </b>{' '}
        Spread 0 → every advantage is 0 → this group teaches nothing. No rollout is better or worse than another.
      </p>
    );
  }
  return (
    <p className="card soft">
      {groupAdvantage.divisor === null
        ? `Advantage = reward − ${groupAdvantage.baselineText}`
        : `Advantage = (reward − ${groupAdvantage.baselineText}) / (standard deviation + ε), with the sample standard deviation (n − 1) and ε = 1e-6`}
      {whitensAdvantages(config) && ', then whitened over the batch'}.
      {hasRandomness(config) && ` ${RANDOMNESS_NOTES[config.randomness]}`}
    </p>
  );
}

interface HeadProps extends LessonProps {
  readonly column: RolloutColumn;
}

function ColumnHead({ column: { label, batch, episode }, rewards, config }: HeadProps) {
  const ownAdvantage = advantageEquation(config, rewards, episode.reward);
  const wanted = useConfig((s) => s.wanted);
  const otherConfig = ownAdvantage && otherBaselineKnobs(config, wanted);
  const comparison = otherConfig && advantageEquation(otherConfig, rewards, episode.reward);
  const trainedAdvantage = meanAdvantage(batch, episode.row);
  const isKept = batch.kept[episode.row] !== 0;
  const maxReward = Math.max(STD_EPSILON, ...rewards.map(Math.abs));
  return (
    <>
      <h3 className="line">
        <Icon name={episode.success ? 'check' : 'cross'} />
        <span className="visually-hidden">Rollout</span> {label.replace('Rollout ', '')}
        <b className="end large" data-testid="column-reward">
          {exactNumber(episode.reward)}
        </b>
      </h3>
      <p className="faint">{STOP_TEXTS[episode.stop]}</p>
      <div style={{ '--share': Math.abs(episode.reward) / maxReward } as CSSProperties}>
        <RewardSplit toScale episode={episode} />
      </div>
      {ownAdvantage && (
        <p className="formula" data-testid="column-advantage">
          <AdvantageSum calculation={ownAdvantage} reward={episode.reward} />
        </p>
      )}
      <p className="faint">
        {isKept
          ? trainedAdvantage === null
            ? 'no token carries an advantage'
            : `${ownAdvantage && Math.abs(ownAdvantage.value - trainedAdvantage) < 1e-3 ? '✓ Training used the same advantage' : 'Advantage used in training'}: ${signedNumber(trainedAdvantage)}`
          : 'not trained (filtered)'}
      </p>
      {comparison && (
        <p className="faint" data-testid="column-beside">
          For comparison, another method, not used here: the reward{' '}
          {BASELINE_DESCRIPTIONS[baselineOf(otherConfig.estimator, otherConfig.divideByStd === 'on')]}:{' '}
          <span className="formula">
            <AdvantageSum calculation={comparison} reward={episode.reward} />
          </span>
        </p>
      )}
    </>
  );
}

/** The calculation of an advantage, with its numbers. */
function AdvantageSum({
  calculation: { baseline, divisor, value },
  reward,
}: {
  readonly calculation: AdvantageEquation;
  readonly reward: number;
}) {
  return (
    <>
      {divisor !== null && '('}
      {exactNumber(reward)} − {exactNumber(baseline)}
      {divisor !== null && `) / (${exactNumber(divisor)} + 1e-6)`} = <b>{exactNumber(value)}</b>
    </>
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
