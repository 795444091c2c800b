import { create } from 'zustand';
import { addressOf, reply, type RolloutSource, wordOf } from './inspect.ts';
import { useLive } from '../view/liveStore.ts';
import { useSelection } from '../view/selectionStore.ts';
import { question } from './transport.ts';

/** A rollout continued from a chosen token, by the policy before the rollout’s update. It is never trained on. */
export interface Branch {
  readonly id: number;
  readonly origin: RolloutSource; // the rollout or branch it starts from
  readonly parentId: number | null; // the branch it starts from; null: it starts from a rollout of a batch
  readonly position: number; // of the chosen token
  readonly oldWord: string; // the word at `position` in `origin`
  readonly newWord: string; // the word that replaces it
  readonly temperature: number;
  readonly source: RolloutSource; // the tokens of the branch
}

interface BranchState {
  readonly branches: readonly Branch[];
  readonly temperature: number | null; // for the next branch; null: the run's temperature
  readonly problem: string | null;
}

const MAX_BRANCHES = 40;

/** The branches of this page, oldest first. */
export const useBranches = create<BranchState>()(() => ({ branches: [], temperature: null, problem: null }));

let takeCount = 0;

// when a new run begins, drop the old run's branches and stop showing the chosen branch
useLive.subscribe((state, previous) => {
  if (state.run === previous.run) return;
  useBranches.setState({ branches: [], problem: null });
  useSelection.setState({ branch: null });
});

/** Continues a rollout from `position` with `token` there, and shows the branch beside the original. */
export async function branchFrom(origin: RolloutSource, position: number, token: number): Promise<void> {
  const { batch, row, config } = origin;
  const { branches } = useBranches.getState();
  const temperature = useBranches.getState().temperature ?? config.temperature;
  const branchQuestion = {
    kind: 'branch',
    rollout: addressOf(origin),
    position,
    token,
    temperature,
    drawIndex: ++takeCount,
  } as const;
  const run = useLive.getState().run; // an answer that arrives after a new run began is ignored
  const answer = reply(await question(branchQuestion), 'branch');
  if (run !== useLive.getState().run) return;
  if (!answer.ok) {
    useBranches.setState({ problem: answer.message });
    return;
  }
  const id = (useBranches.getState().branches.at(-1)?.id ?? 0) + 1;
  const newBranch: Branch = {
    id,
    origin,
    parentId: branches.find(({ source }) => source.batch === batch)?.id ?? null,
    position,
    oldWord: wordOf(origin, batch.tokens[row * batch.length + position] ?? 0),
    newWord: wordOf(origin, token),
    temperature,
    source: { batch: answer.answer.branch, row: 0, config, branch: answer.answer.id },
  };
  useBranches.setState((s) => ({ branches: [...s.branches, newBranch].slice(-MAX_BRANCHES), problem: null }));
  useSelection.setState({ branch: id });
}

/** All branches of the rollout from which `member` descends, depth first, each with its depth in the tree. */
export function treeOf(
  branches: readonly Branch[],
  member: Branch,
): readonly { readonly branch: Branch; readonly depth: number }[] {
  const rootOf = (branch: Branch): Branch => {
    const parent = branches.find(({ id }) => id === branch.parentId);
    return parent ? rootOf(parent) : branch;
  };
  const root = rootOf(member).origin;
  const descendantsOf = (parent: number | null, depth: number): { branch: Branch; depth: number }[] =>
    branches
      .filter(
        (branch) =>
          branch.parentId === parent &&
          rootOf(branch).origin.batch === root.batch &&
          rootOf(branch).origin.row === root.row,
      )
      .flatMap((branch) => [{ branch, depth }, ...descendantsOf(branch.id, depth + 1)]);
  return descendantsOf(null, 0);
}
