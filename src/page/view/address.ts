import { useShallow } from 'zustand/react/shallow';
import {
  addressPlan,
  knobDifferences,
  editKnobs,
  configStateFromHash,
  nearestPreset,
  useConfig,
} from '../knobs/configStore.ts';
import { hashOf, readHash, routeOf, type AddressSelection } from '../address/hash.ts';
import { changesText } from '../address/knobChanges.ts';
import { lastAddress, storeLastAddress } from '../address/lastAddress.ts';
import { currentSubpath, currentRoute, goTo } from '../address/route.ts';
import type { RunConfig } from '../../config/fields.ts';
import type { PresetName } from '../../config/presets.ts';
import { recordedPreset } from '../../config/recordings.ts';
import { useLive } from './liveStore.ts';
import { hasOwnAddress, type Route } from '../address/screens.ts';
import { useSelection } from './selectionStore.ts';

const WRITE_MS = 120; // shortest time between two writes, for example while a slider is dragged
const ENTRY_MS = 1000; // choices in quicker succession share one history entry
/** Marks history entries that the page wrote. Going back to one restores the selection but not the knobs. */
const PAGE_ENTRY = { own: true };

let lastEntryTime = -Infinity; // when the last entry was made

export function useAddress(): (route: Route) => string {
  const { startConfig, changes } = addressPlan(useConfig(useShallow(({ wanted, planned }) => ({ wanted, planned }))));
  const selected = useSelection(useShallow(addressSelection));
  return (route) => (hasOwnAddress(route) ? `#/${route}` : hashOf(startConfig, { route, selected, changes }));
}

/** Follows the address, and writes it whenever a knob or the selection changes. Returns a function that stops this. */
export function bindAddress(): () => void {
  const lastVisited = lastAddress(location.hash);
  if (lastVisited !== null) history.replaceState(PAGE_ENTRY, '', lastVisited);
  goTo(location.hash);
  storeLastAddress(location.hash);
  useConfig.setState(configStateFromHash(location.hash));
  const { selection } = readHash(location.hash);
  useSelection.setState({ ...selection, linkTarget: selection });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let newEntry = false;
  const scheduleWrite = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      writeAddress(newEntry);
      newEntry = false;
    }, WRITE_MS);
  };
  const stopConfig = useConfig.subscribe((state, before) => {
    if (state.wanted !== before.wanted || state.planned !== before.planned) scheduleWrite();
  });
  const stopSelection = useSelection.subscribe((state, before) => {
    const current = addressSelection(state);
    const old = addressSelection(before);
    if (SELECTION_KEYS.every((part) => current[part] === old[part])) return;
    // updates are chosen with a slider, which must not add an entry for each step
    newEntry ||= SELECTION_KEYS.some((part) => part !== 'shownUpdate' && current[part] !== old[part]);
    scheduleWrite();
  });
  const onPop = (event: PopStateEvent) => {
    clearTimeout(timer);
    timer = undefined;
    newEntry = false;
    openAddress(location.hash, isPageEntry(event.state));
  };
  addEventListener('popstate', onPop);
  return () => {
    stopConfig();
    stopSelection();
    clearTimeout(timer);
    removeEventListener('popstate', onPop);
  };
}

const SELECTION_KEYS: readonly (keyof AddressSelection)[] = [
  'shownUpdate',
  'recorded',
  'row',
  'turn',
  'token',
  'beside',
  'channel',
  'hide',
];

export function addressSelection({
  shownUpdate,
  recorded,
  row,
  turn,
  token,
  beside,
  channel,
  hide,
}: AddressSelection): AddressSelection {
  return { shownUpdate, recorded, row, turn, token, beside, channel, hide };
}

/** Sets the knobs if the address was typed or clicked, but not if the page wrote it (`writtenByPage`) and the reader went back. */
function openAddress(hash: string, writtenByPage: boolean): void {
  goTo(hash);
  storeLastAddress(hash);
  if (hasOwnAddress(routeOf(hash))) return;
  const { config, selection, corrections, changes: planned = [], recording } = readHash(hash);
  const hasSettings = hash.includes('?'); // an address that only names a screen changes nothing else
  if (writtenByPage || hasSettings) useSelection.setState({ ...selection, linkTarget: selection, revealed: null });
  if (!writtenByPage) {
    const current = addressPlan(useConfig.getState());
    const changes =
      hasSettings &&
      (knobDifferences(config, current.startConfig).length > 0 ||
        changesText(planned) !== changesText(current.changes));
    if (changes) {
      editKnobs(config);
      useConfig.setState({
        preset: recording ?? nearestPreset(config),
        planned: planned.length > 0 ? { startConfig: config, changes: planned } : null,
      });
    } else if (recording) useConfig.setState({ preset: recording });
    // a link from one screen to another changes no knobs, so the messages about corrected settings stay
    if (changes || corrections.length > 0) useConfig.setState({ corrections });
  }
  writeAddress(false);
}

/** The preset whose recording is in view, if an address with these knobs would show another one. Otherwise null. */
export function recordingInView(config: RunConfig): PresetName | null {
  const shown = recordedPreset(useConfig.getState().preset);
  return useLive.getState().isExample && shown !== recordedPreset(nearestPreset(config)) ? shown : null;
}

function writeAddress(newEntry: boolean): void {
  const route = currentRoute();
  if (hasOwnAddress(route)) return;
  const { startConfig, changes } = addressPlan(useConfig.getState());
  const selected = addressSelection(useSelection.getState());
  const hash = hashOf(startConfig, {
    route,
    selected,
    subpath: currentSubpath(),
    changes,
    recording: recordingInView(startConfig),
  });
  const addsEntry = newEntry && performance.now() - lastEntryTime > ENTRY_MS;
  if (addsEntry && hash !== location.hash) {
    lastEntryTime = performance.now();
    history.replaceState(PAGE_ENTRY, ''); // marks the old entry too, for going back to it
    history.pushState(PAGE_ENTRY, '', hash);
  } else history.replaceState(PAGE_ENTRY, '', hash);
  storeLastAddress(hash);
}

function isPageEntry(state: unknown): boolean {
  return typeof state === 'object' && state !== null && 'own' in state;
}
