import { useMemo, useState } from 'react';
import { type Branch, treeOf, useBranches } from '../../page/training/branches.ts';
import { shortNumber, rewardNumber } from '../../page/words/numberText.ts';
import { sharedPrefixLength } from '../../page/rollout/align.ts';
import { type RolloutColumn, Columns } from '../tokens/Columns.tsx';
import { SharedBeginning } from '../tokens/RolloutWords.tsx';
import type { RolloutSource } from '../../page/training/inspect.ts';
import { STOP_TEXTS } from '../../page/rollout/kinds.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { readRollout } from '../../page/rollout/readRollout.ts';
import { useSelection } from '../../page/view/selectionStore.ts';
import { RunDistribution } from '../tokens/RunDistribution.tsx';
import { Drawing } from '../drawings/Drawing.tsx';
import { Icon } from '../parts/Icon.tsx';
import { RewardSplit } from '../parts/RewardSplit.tsx';
import './branch.css';

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
