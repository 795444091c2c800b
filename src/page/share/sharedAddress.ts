import { addressSelection, recordingInView } from '../view/address.ts';
import { DEFAULT_SELECTION, hashOf, type AddressSelection } from '../address/hash.ts';
import { currentSubpath, currentRoute } from '../address/route.ts';
import { presetNamed } from '../../config/presets.ts';
import { currentConfig } from '../files/caption.ts';
import { nearestPreset } from '../knobs/configStore.ts';
import { currentRun } from '../runs/liveRun.ts';
import { hasHistory, type Route, type EmbedPanel } from '../address/screens.ts';
import { shownRollout, type ShownRollout } from '../view/currentRollout.ts';
import { useLive } from '../view/liveStore.ts';
import { useSelection } from '../view/selectionStore.ts';
import { isOwnRun } from '../stage/liveAgent.ts';
import { useStage, stageSubpath } from '../stage/stageStore.ts';
import type { LinkableRun } from './linkedRun.ts';

/** The page's address without query and hash. */
export const pageAddress = (): string => `${location.origin}${location.pathname}`;

/**
 * The selection for a link, on a screen. It names a place only if the link's reader can get there: on a recording its
 * update, in a run the update shown, if the reader holds it or has selected a rollout, turn or token there.
 */
export function shownSelection({ unlinkable }: LinkableRun, route: Route = currentRoute()): AddressSelection {
  const { linkTarget, row } = useSelection.getState();
  const selected = addressSelection(useSelection.getState());
  const { channel, hide, shownUpdate } = selected;
  const nowhere = { ...DEFAULT_SELECTION, channel, hide };
  const { session, update } = useLive.getState();
  if (!hasHistory(route)) return nowhere; // such a screen shows no update
  // the place that a link named and that isn't trained yet
  const isAwaited = linkTarget?.shownUpdate === shownUpdate && linkTarget.row === row;
  if (isAwaited && shownUpdate !== null && (session === 'none' || shownUpdate > update))
    return unlinkable ? nowhere : { ...selected, recorded: null };
  if (useLive.getState().batch.rows === 0) return nowhere;
  const place = placeIn(shownRollout(row), selected);
  if (useLive.getState().isExample) return { ...nowhere, ...place, recorded: useLive.getState().batch.update };
  const isChosen = shownUpdate !== null || place.row !== 0 || place.turn !== null || place.token !== null;
  return unlinkable || !isChosen ? nowhere : { ...nowhere, ...place, shownUpdate: useLive.getState().batch.update };
}

/** The part of a selection that a batch has: the selected one may be of an earlier batch. */
function placeIn({ batch, rollout }: ShownRollout, { row, turn, token, beside }: AddressSelection) {
  if (row >= batch.rows) return { row: 0, turn: null, token: null, beside: '' };
  const hasTurn = rollout.turns.some((each) => each.turn === turn);
  const hasToken = token !== null && token < rollout.words.length;
  return { row, turn: hasTurn ? turn : null, token: hasToken ? token : null, beside };
}

/** The hash of a link to what is on the screen, or of a frame with a panel. */
export function sharedHash(
  linked: LinkableRun,
  selected: AddressSelection = shownSelection(linked),
  route: Route = currentRoute(),
): string {
  const { startConfig, changes } = linked;
  const subpath = route === currentRoute() ? sharedSubpath() : '';
  return hashOf(startConfig, { route, selected, subpath, changes, recording: recordingInView(startConfig) });
}

/** The hash in the address of a frame. The panels with a rollout and a curve are the lab's. */
export function embedHash(panel: EmbedPanel, linked: LinkableRun): string {
  const route = panel === 'rollout' || panel === 'curve' ? 'lab' : panel === 'stage' ? 'stage' : currentRoute();
  return sharedHash(linked, shownSelection(linked, route), route);
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
  const run = useLive.getState().shownRecording ?? currentRun();
  const config = run?.begun ?? currentConfig();
  return readableAddress() || `npm start · ${presetNamed(nearestPreset(config)).label} · seed ${config.seed}`;
}
