import { addressSelection } from '../address/address.ts';
import { hashOf, type AddressSelection } from '../address/hash.ts';
import { currentSubpath, currentRoute } from '../address/route.ts';
import { presetNamed } from '../../config/presets.ts';
import { currentConfig } from '../export/caption.ts';
import { nearestPreset } from '../knobs/configStore.ts';
import { currentRun } from '../run/liveRun.ts';
import { live } from '../run/liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { isOwnRun } from '../stage/liveAgent.ts';
import { stageSubpath } from '../stage/stagePlace.ts';
import { useStage } from '../stage/stageStore.ts';
import type { LinkedRun } from './linkedRun.ts';

/** The page's address without query and hash. */
export const pageAddress = (): string => `${location.origin}${location.pathname}`;

/**
 * The selection for a link. It names the update shown: on a recording always, in a run if the reader holds an update or
 * has selected a rollout, turn or token.
 */
export function shownSelection(): AddressSelection {
  const selected = addressSelection(useSelection.getState());
  if (currentRoute() === 'stage') return selected; // the start screen has its own task and agents
  if (live.isExample && live.batch.rows > 0) return { ...selected, recorded: live.batch.update };
  const { row, turn, token } = selected;
  const chosen = row !== 0 || turn !== null || token !== null;
  const shownUpdate = chosen && live.batch.rows > 0 ? live.batch.update : null;
  return { ...selected, shownUpdate: selected.shownUpdate ?? shownUpdate };
}

/** The hash of a link to what is on the screen. */
export function sharedHash({ startConfig, changes }: LinkedRun, selected: AddressSelection = shownSelection()): string {
  return hashOf(startConfig, currentRoute(), selected, sharedSubpath(), changes);
}

function sharedSubpath(): string {
  if (currentRoute() !== 'stage') return currentSubpath();
  const { task, chosenUpdate } = useStage.getState();
  return stageSubpath({ task, chosenUpdate: isOwnRun() ? null : chosenUpdate }); // the agents of a run aren't in a link
}

const LOCAL_HOST = /^(?:localhost|127\.|\[::1\])/;

/**
 * The page's address for a picture: host and folder. A local host can't be reached by others: there it's the address
 * that the page was built for (its `og:url`), or '' without one.
 */
export function readableAddress(
  { host, pathname }: Pick<Location, 'host' | 'pathname'> = location,
  builtFor = document.querySelector<HTMLMetaElement>('meta[property="og:url"]')?.content ?? '',
): string {
  const folder = LOCAL_HOST.test(host) ? builtFor.replace(/^https?:\/\//, '') : `${host}${pathname}`;
  return folder.replace(/\/(?:index\.html)?$/, '');
}

/** The last line of a card: the page's address or, if others can't reach it, how to get the same run. */
export function cardAddress(): string {
  const run = live.shownRecording ?? currentRun();
  const config = run?.begun ?? currentConfig();
  return readableAddress() || `npm start · ${presetNamed(nearestPreset(config)).label} · seed ${config.seed}`;
}
