import { useShallow } from 'zustand/react/shallow';
import type { KnobChange } from '../../config/knobChange.ts';
import type { LinkTarget } from '../address/hash.ts';
import { useConfig } from '../knobs/configStore.ts';
import { useShownRollout, type ShownRollout } from './currentRollout.ts';
import { useLive } from './liveStore.ts';
import { useSelection } from './selectionStore.ts';

/** Targets of the link that can't be shown, one sentence for each. */
export function useMissingTargets(): readonly string[] {
  const current = useShownRollout();
  const linkTarget = useSelection((s) => s.linkTarget);
  const chosen = useSelection(
    useShallow(({ shownUpdate, recorded, row, turn, token }) => ({ shownUpdate, recorded, row, turn, token })),
  );
  const running = useLive((s) => s.running); // meanwhile rollouts come and go
  const update = useLive((s) => (s.session === 'none' ? null : s.update));
  const updates = useLastUpdate();
  return running ? [] : missingTargets(linkTarget, chosen, current, { update, updates });
}

/**
 * The update that the link shows, if training here gets to it and hasn't begun. Null otherwise: a run's timeline says
 * itself what it waits for.
 */
export function useAwaitedUpdate(): number | null {
  const awaited = useSelection((s) => (s.linkTarget?.shownUpdate === s.shownUpdate ? s.shownUpdate : null));
  const hasNoRun = useLive((s) => s.session === 'none');
  const updates = useLastUpdate();
  return hasNoRun && awaited !== null && awaited <= updates ? awaited : null;
}

const useLastUpdate = () => useConfig((s) => lastUpdate((s.applied ?? s.wanted).updates, s.planned?.changes ?? []));

export interface RunPosition {
  readonly update: number | null; // null: there is no run; a recording or an example is shown
  readonly updates: number; // planned; the run ends after this one
}

/** The update after which a run ends that is planned for `updates` of them, if these changes come. */
export function lastUpdate(updates: number, changes: readonly KnobChange[]): number {
  // a run that is over takes a change of the update that would be next
  return changes.reduce(
    (end, { update, set }) => (update <= end + 1 ? Math.max(update - 1, set.updates ?? end) : end),
    updates,
  );
}

/**
 * Targets of a link that can't be shown: one sentence for each, which also says what is shown instead.
 * Empty before there is a batch, and once the reader has chosen something else.
 */
export function missingTargets(
  linkTarget: LinkTarget | null,
  chosen: LinkTarget,
  current: ShownRollout,
  position: RunPosition,
): string[] {
  const { batch, rollout } = current;
  if (!linkTarget) return [];
  const isStillChosen = (part: keyof LinkTarget) => linkTarget[part] !== null && linkTarget[part] === chosen[part];
  const isShown = position.update !== null && batch.update === linkTarget.shownUpdate;
  // the link's row, turn and token belong to its own update, not to the one shown
  if (isStillChosen('shownUpdate') && !isShown) {
    const why = whyNotShown(linkTarget.shownUpdate ?? 0, position);
    return why === null ? [] : [`update ${linkTarget.shownUpdate}: ${why}`];
  }
  if (batch.rows === 0) return [];
  const inRecording = position.update === null && batch.update === linkTarget.recorded;
  if (isStillChosen('recorded') && position.update === null && !inRecording) {
    return [`recorded: the recording has no update ${linkTarget.recorded}. Shown is update ${batch.update}.`];
  }
  const missing: string[] = [];
  if (linkTarget.row >= batch.rows) {
    if (isStillChosen('row'))
      missing.push(
        `rollout ${linkTarget.row} isn’t in this batch, which has 0 to ${batch.rows - 1}. Rollout 0 is shown.`,
      );
    return missing;
  }
  const turns = rollout.turns.map(({ turn }) => turn);
  if (isStillChosen('turn') && !turns.includes(linkTarget.turn ?? 0)) {
    const last = turns.at(-1) ?? 0;
    missing.push(
      `turn ${linkTarget.turn} isn’t in this rollout, which has ${turns[0] ?? 0} to ${last}. Its end is shown.`,
    );
  }
  if (isStillChosen('token') && (linkTarget.token ?? 0) >= rollout.words.length) {
    missing.push(
      `token ${linkTarget.token} isn’t in this rollout, which has 0 to ${rollout.words.length - 1}. No token is selected.`,
    );
  }
  return missing;
}

/** Why the rollouts of an update can't be shown; null if training the run shows them. */
function whyNotShown(shownUpdate: number, { update, updates }: RunPosition): string | null {
  if (shownUpdate > Math.max(updates, update ?? 0))
    return `the run ends after update ${updates}. Set Updates to ${shownUpdate} or more.`;
  if (update === null || update < shownUpdate) return null; // `LinkedPlan` says that it comes
  return `the run no longer keeps its rollouts. Other rollouts are shown.`;
}
