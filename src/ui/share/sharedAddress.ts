import { selectedOf } from '../address/address.ts';
import { hashOf, type Selected } from '../address/hash.ts';
import { currentSubpath, currentRoute } from '../address/route.ts';
import { live } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { isOwnRun } from '../stage/liveAgent.ts';
import { stageSubpath } from '../stage/stagePlace.ts';
import { useStage } from '../stage/stageStore.ts';
import type { LinkedRun } from './linkedRun.ts';

/** The page's address without what follows it. */
export const pageAddress = (): string => `${location.origin}${location.pathname}`;

/** What is looked at. A recorded rollout is of the recorded update in view; one of a run of the run's, held or not. */
export function shownSelection(): Selected {
  const selected = selectedOf(useSelection.getState());
  if (currentRoute() === 'stage') return selected; // it shows a task and an agent of its own
  if (live.isExample && live.batch.rows > 0) return { ...selected, recorded: live.batch.update };
  const { row, turn, token } = selected;
  const chosen = row !== 0 || turn !== null || token !== null;
  const shownUpdate = chosen && live.batch.rows > 0 ? live.batch.update : null;
  return { ...selected, shownUpdate: selected.shownUpdate ?? shownUpdate };
}

/** What follows the page's address in a link to what is seen. */
export function sharedHash({ begun, changes }: LinkedRun, selected: Selected = shownSelection()): string {
  return hashOf(begun, currentRoute(), selected, sharedSubpath(), changes);
}

function sharedSubpath(): string {
  if (currentRoute() !== 'stage') return currentSubpath();
  const { task, at } = useStage.getState();
  return stageSubpath({ task, at: isOwnRun() ? null : at }); // the agents of a run aren't in a link
}

const ONLY_HERE = /^(?:localhost|127\.|\[::1\])/;

/** The page's address as a picture says it: host and folder; '' where it leads nowhere for others. */
export function readableAddress({ host, pathname }: Pick<Location, 'host' | 'pathname'> = location): string {
  return ONLY_HERE.test(host) ? '' : `${host}${pathname.replace(/\/(?:index\.html)?$/, '')}`;
}
