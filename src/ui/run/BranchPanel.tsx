import { useMemo, useState, type CSSProperties, type KeyboardEvent, type ReactNode, useRef } from 'react';
import { type Branch, treeOf, useBranches } from '../../page/training/branches.ts';
import { shortNumber, rewardNumber } from '../../page/words/numberText.ts';
import { sharedPrefixLength } from '../../page/rollout/parting.ts';
import { SharedBeginning, spansFrom, TurnWords } from '../tokens/RolloutWords.tsx';
import type { RolloutSource } from '../../page/training/inspect.ts';
import { STOP_TEXTS } from '../../page/rollout/kinds.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { readRollout, type Rollout } from '../../page/rollout/readRollout.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { RunDistribution } from '../tokens/RunDistribution.tsx';
import { Drawing } from '../drawings/Drawing.tsx';
import { Icon } from '../parts/Icon.tsx';
import { RewardSplit } from '../parts/RewardSplit.tsx';
import './branch.css';
import type { BatchView } from '../../domain/batch.ts';
import type { EpisodeView } from '../../domain/episode.ts';
import './columns.css';

export function BranchPanel({ id }: { readonly id: number }) {
  const branches = useBranches((s) => s.branches);
  const branch = branches.find((each) => each.id === id);
  const close = () => useSelection.setState({ branch: null });
  if (!branch) return null;
  return (
    <section className="branch col gap-3 fill low scrolls panel" aria-label="Branch" data-testid="branch">
      <div className="panel-head">
        <h2>What if?</h2>
        <span className="faint">never trained on · temperature {shortNumber(branch.temperature)}</span>
        <button type="button" className="quiet icon-button small end" aria-label="Close branch" onClick={close}>
          <Icon name="cross" />
        </button>
      </div>
      <BranchTree branches={branches} shown={branch} />
      <BranchBesideOrigin key={branch.id} branch={branch} />
    </section>
  );
}

function BranchTree({ branches, shown }: { readonly branches: readonly Branch[]; readonly shown: Branch }) {
  const tree = treeOf(branches, shown);
  const root = tree[0]?.branch.origin;
  const rootEpisode = root?.batch.episodes.find(({ row }) => row === root.row);
  return (
    <ul className="branch-tree" aria-label="Branches of this rollout">
      <li>
        <span className="small branch-node">
          rollout {(root?.row ?? 0) + 1} of update {root?.batch.update} ·{' '}
          {rootEpisode && shortNumber(rootEpisode.reward)}
        </span>
      </li>
      {tree.map(({ branch, depth }) => (
        <li key={branch.id} style={{ paddingLeft: 14 * (depth + 1) }}>
          <button
            type="button"
            className="quiet small branch-node"
            aria-pressed={branch.id === shown.id}
            onClick={() => useSelection.setState({ branch: branch.id })}
          >
            └ turn {turnOf(branch)}:{' '}
            {branch.oldWord === branch.newWord
              ? `${branch.newWord}, continued with new draws`
              : `${branch.oldWord} → ${branch.newWord}`}{' '}
            · {shortNumber(branch.source.batch.episodes[0]?.reward)}
          </button>
        </li>
      ))}
    </ul>
  );
}

function turnOf({ origin: { batch, row }, position }: Branch): number {
  return batch.turns[row * batch.length + position] ?? 0;
}

function BranchBesideOrigin({ branch }: { readonly branch: Branch }) {
  const [chosen, setChosen] = useState({ key: 'branch', turn: turnOf(branch) });
  const columns = useMemo(
    () => [
      columnOf('origin', branch.parentId === null ? 'Rollout' : 'Previous branch', branch.origin),
      columnOf('branch', 'Branch', branch.source),
    ],
    [branch],
  );
  const shared = sharedPrefixLength([branch.origin, branch.source].map(tokensOf));
  const [, branchColumn] = columns;
  const token = branchColumn && chosen.key === 'branch' ? firstAgentWord(branchColumn, chosen.turn, shared) : null;
  return (
    <div className="branch-beside grid gap-5">
      <div>
        <p className="row quote shared on-baseline breaks">
          <span className="faint">both begin:</span>{' '}
          {branchColumn && <SharedBeginning rollout={branchColumn.rollout} shared={shared} />}
        </p>
        <Columns
          columns={columns}
          sharedLength={shared}
          selected={chosen}
          choose={({ key }, turn) => setChosen({ key, turn })}
          renderHead={(column) => <ColumnHead column={column} turn={chosen.turn} />}
        />
      </div>
      {token !== null && <RunDistribution source={branch.source} t={token} />}
    </div>
  );
}

function ColumnHead({ column: { label, episode }, turn }: { readonly column: RolloutColumn; readonly turn: number }) {
  return (
    <>
      <h3 className="line">
        <Icon name={episode.success ? 'check' : 'cross'} /> {label}
        <b className="end">{rewardNumber(episode.reward)}</b>
      </h3>
      <p className="faint">{STOP_TEXTS[episode.stop]}</p>
      <RewardSplit episode={episode} />
      <div className="branch-env" translate="no">
        <Drawing view={episode.view} turn={Math.min(turn, episode.turns)} group={[episode.view]} />
      </div>
    </>
  );
}

function columnOf(key: string, label: string, { batch, row }: RolloutSource): RolloutColumn {
  const episode = batch.episodes.find((each) => each.row === row);
  if (!episode) throw new Error(`BranchPanel: the batch has no rollout in row ${row}.`);
  return { key, label, batch, episode, rollout: readRollout(batch, useLive.getState().vocabulary, row) };
}

function tokensOf({ batch, row }: RolloutSource): Int32Array {
  const start = row * batch.length;
  return batch.tokens.subarray(start, start + (batch.lengths[row] ?? 0));
}

/** Position of the agent's first word in a turn after the shared prefix, tags excluded; null if there is none. */
function firstAgentWord({ rollout }: RolloutColumn, turn: number, shared: number): number | null {
  const spans = rollout.turns.find((each) => each.turn === turn)?.spans ?? [];
  const agentTokens = spans.filter(({ kind }) => kind !== 'observation').flatMap(({ tokens }) => tokens);
  return agentTokens.find((t) => t >= shared && !rollout.tags[t]) ?? null;
}

interface RolloutColumn {
  readonly key: string;
  readonly label: string;
  readonly batch: BatchView;
  readonly episode: EpisodeView;
  readonly rollout: Rollout;
}

interface Props {
  readonly columns: readonly RolloutColumn[];
  readonly sharedLength: number; // number of tokens that all rollouts begin with; left out of the cells
  readonly selected: { readonly key: string; readonly turn: number | null };
  readonly choose: (column: RolloutColumn, turn: number) => void;
  readonly renderHead: (column: RolloutColumn) => ReactNode;
}

/** Rollouts are aligned by turn. One tab stop; arrow keys move between turns (up, down) and rollouts (left, right). */
function Columns({ columns, sharedLength, selected, choose, renderHead }: Props) {
  const grid = useRef<HTMLDivElement>(null);
  const turns = [...new Set(columns.flatMap(({ rollout }) => rollout.turns.map(({ turn }) => turn)))]
    .filter((turn) => turn > 0)
    .sort((a, b) => a - b);
  const onKey = (event: KeyboardEvent) => {
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    const cellText = event.target instanceof HTMLElement ? event.target.dataset['cell'] : undefined;
    if (!direction || cellText === undefined) return;
    const [c = 0, t = 0] = cellText.split(' ').map(Number);
    const cell = grid.current?.querySelector(`[data-cell="${c + (direction[0] ?? 0)} ${t + (direction[1] ?? 0)}"]`);
    event.preventDefault();
    if (!(cell instanceof HTMLElement)) return;
    cell.focus();
    cell.click();
  };
  // if no turn was chosen, the last one is current
  const current = selected.turn ?? turns.at(-1) ?? 0;
  return (
    <div
      className="columns grid scroll"
      ref={grid}
      role="toolbar"
      aria-label="Rollouts, turn by turn; arrow keys move"
      tabIndex={-1}
      onKeyDown={onKey}
      style={{ '--rows': turns.length + 1 } as CSSProperties}
    >
      {columns.map((column, c) => {
        const last = column.rollout.turns.at(-1)?.turn ?? 0;
        return (
          <article
            key={column.key}
            className="card column"
            aria-label={column.label}
            data-chosen={column.key === selected.key}
          >
            <header>{renderHead(column)}</header>
            {turns.map((turn) => (
              <Cell
                key={turn}
                {...{ column, sharedLength, turn }}
                cellKey={`${c} ${turn}`}
                isTabStop={column.key === selected.key && turn === Math.min(current, last)}
                onChoose={() => choose(column, turn)}
              />
            ))}
          </article>
        );
      })}
    </div>
  );
}

interface CellProps {
  readonly column: RolloutColumn;
  readonly sharedLength: number;
  readonly turn: number;
  readonly cellKey: string;
  readonly isTabStop: boolean; // the tab stop
  readonly onChoose: () => void;
}

function Cell({ column: { label, rollout }, sharedLength, turn, cellKey, isTabStop, onChoose }: CellProps) {
  const spans = spansFrom(rollout, turn, sharedLength);
  if (spans.length === 0) return <div className="cell empty-cell" aria-hidden="true" />;
  return (
    <button
      type="button"
      className="cell"
      data-cell={cellKey}
      tabIndex={isTabStop ? 0 : -1}
      aria-pressed={isTabStop}
      onClick={onChoose}
    >
      <span className="cell-turn">
        <span className="visually-hidden">{label}, </span>turn {turn}
      </span>
      <TurnWords rollout={rollout} spans={spans} divergence={sharedLength} />
    </button>
  );
}
