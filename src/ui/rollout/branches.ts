import { create } from 'zustand';
import { addressOf, reply, type Source, wordOf } from '../run/inspect.ts';
import { useLive } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { question } from '../run/transport.ts';

/** A rollout played on from a token that was chosen, by the policy as it was then. Nothing learns from it. */
export interface Branch {
  readonly id: number;
  readonly from: Source; // the rollout it leaves
  readonly parent: number | null; // the branch it leaves; null: a rollout of a batch
  readonly position: number; // of the token that was chosen
  readonly was: string;
  readonly word: string;
  readonly temperature: number;
  readonly source: Source; // itself
}

interface BranchState {
  readonly branches: readonly Branch[];
  readonly temperature: number | null; // of the next one; null: the run's own
  readonly problem: string | null;
}

const MOST_BRANCHES = 40;

/** The branches of this page, oldest first. */
export const useBranches = create<BranchState>()(() => ({ branches: [], temperature: null, problem: null }));

let takes = 0;

// the branches of a run that is replaced are forgotten; one that was chosen is no longer shown
useLive.subscribe((now, before) => {
  if (now.run === before.run) return;
  useBranches.setState({ branches: [], problem: null });
  useSelection.setState({ branch: null });
});

/** Plays a rollout on from `position` with `token` there, and shows it beside the rollout it leaves. */
export async function branchFrom(from: Source, position: number, token: number): Promise<void> {
  const { batch, row, config } = from;
  const { branches } = useBranches.getState();
  const temperature = useBranches.getState().temperature ?? config.temperature;
  const asked = { kind: 'branch', of: addressOf(from), position, token, temperature, take: ++takes } as const;
  const of = useLive.getState().run; // an answer that comes late is of a run that is gone
  const answer = reply(await question(asked), 'branch');
  if (of !== useLive.getState().run) return;
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
  useBranches.setState((s) => ({ branches: [...s.branches, next].slice(-MOST_BRANCHES), problem: null }));
  useSelection.setState({ branch: id });
}

/** The branches that grew from the same rollout, each with how deep it lies. */
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
