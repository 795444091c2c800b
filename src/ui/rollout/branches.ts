import { create } from 'zustand';
import { addressOf, reply, type Source, wordOf } from '../run/inspect.ts';
import { useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { question } from '../run/transport.ts';

/** A rollout continued from a chosen token, by the policy that drew the rollout. It is never trained on. */
export interface Branch {
  readonly id: number;
  readonly from: Source; // the rollout or branch it starts from
  readonly parent: number | null; // the branch it starts from; null: it starts from a rollout of a batch
  readonly position: number; // of the chosen token
  readonly was: string; // the word at `position` in `from`
  readonly word: string; // the word that replaces it
  readonly temperature: number;
  readonly source: Source; // the tokens of the branch
}

interface BranchState {
  readonly branches: readonly Branch[];
  readonly temperature: number | null; // for the next branch; null: the run's temperature
  readonly problem: string | null;
}

const MAX_BRANCHES = 40;

/** The branches of this page, oldest first. */
export const useBranches = create<BranchState>()(() => ({ branches: [], temperature: null, problem: null }));

let takes = 0;

// when a new run begins, drop the old run's branches and stop showing the chosen one
useLive.subscribe((now, before) => {
  if (now.run === before.run) return;
  useBranches.setState({ branches: [], problem: null });
  useSelection.setState({ branch: null });
});

/** Continues a rollout from `position` with `token` there, and shows the branch beside the original. */
export async function branchFrom(from: Source, position: number, token: number): Promise<void> {
  const { batch, row, config } = from;
  const { branches } = useBranches.getState();
  const temperature = useBranches.getState().temperature ?? config.temperature;
  const branchQuestion = { kind: 'branch', of: addressOf(from), position, token, temperature, take: ++takes } as const;
  const run = useLive.getState().run; // an answer that arrives after a new run began is ignored
  const answer = reply(await question(branchQuestion), 'branch');
  if (run !== useLive.getState().run) return;
  if (!answer.ok) {
    useBranches.setState({ problem: answer.message });
    return;
  }
  const id = (useBranches.getState().branches.at(-1)?.id ?? 0) + 1;
  const next: Branch = {
    id,
    from,
    parent: branches.find(({ source }) => source.batch === batch)?.id ?? null,
    position,
    was: wordOf(from, batch.tokens[row * batch.length + position] ?? 0),
    word: wordOf(from, token),
    temperature,
    source: { batch: answer.answer.branch, row: 0, config, branch: answer.answer.id },
  };
  useBranches.setState((s) => ({ branches: [...s.branches, next].slice(-MAX_BRANCHES), problem: null }));
  useSelection.setState({ branch: id });
}

/** All branches of the rollout that `of` belongs to, depth first, each with its depth in the tree. */
export function treeOf(
  branches: readonly Branch[],
  of: Branch,
): readonly { readonly branch: Branch; readonly depth: number }[] {
  const rootOf = (branch: Branch): Branch => {
    const parent = branches.find(({ id }) => id === branch.parent);
    return parent ? rootOf(parent) : branch;
  };
  const root = rootOf(of).from;
  const below = (parent: number | null, depth: number): { branch: Branch; depth: number }[] =>
    branches
      .filter(
        (branch) =>
          branch.parent === parent && rootOf(branch).from.batch === root.batch && rootOf(branch).from.row === root.row,
      )
      .flatMap((branch) => [{ branch, depth }, ...below(branch.id, depth + 1)]);
  return below(null, 0);
}
