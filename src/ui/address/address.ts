import { useShallow } from 'zustand/react/shallow';
import { addressed, differences, edit, fromHash, nearestPreset, useConfig } from '../knobs/configStore.ts';
import { hashOf, readHash, routeOf, type Selected } from './hash.ts';
import { changesText } from './knobChanges.ts';
import { lastAddress, noteAddress } from './lastAddress.ts';
import { currentSubpath, currentRoute, goTo } from './route.ts';
import { hasOwnAddress, type Route } from './screens.ts';
import { useSelection } from '../shell/selectionStore.ts';

const WRITE_MS = 120; // a dragged slider writes this often
const ENTRY_MS = 1000; // choices that follow each other faster are one step back
/** Marks history entries that the page wrote: going back to one moves the reader, and leaves the knobs as they are. */
const OWN = { own: true };

let entered = -Infinity; // when the last entry was made

/** Addresses of the screens, with the knobs and what is looked at. */
export function useAddress(): (route: Route) => string {
  const { begun, changes } = addressed(useConfig(useShallow(({ wanted, planned }) => ({ wanted, planned }))));
  const selected = useSelection(useShallow(selectedOf));
  return (route) => (hasOwnAddress(route) ? `#/${route}` : hashOf(begun, route, selected, '', changes));
}

/** Follows the address and writes it whenever a knob changes or something else is looked at. Returns a function that stops. */
export function bindAddress(): () => void {
  const left = lastAddress(location.hash);
  if (left !== null) history.replaceState(OWN, '', left);
  goTo(location.hash);
  noteAddress(location.hash);
  useConfig.setState(fromHash(location.hash));
  const { selected } = readHash(location.hash);
  useSelection.setState({ ...selected, pointed: selected });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let enter = false;
  const later = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      write(enter);
      enter = false;
    }, WRITE_MS);
  };
  const stopConfig = useConfig.subscribe((state, before) => {
    if (state.wanted !== before.wanted || state.planned !== before.planned) later();
  });
  const stopSelection = useSelection.subscribe((state, before) => {
    const now = selectedOf(state);
    const old = selectedOf(before);
    if (PARTS.every((part) => now[part] === old[part])) return;
    // scrubbing through updates is a slider: no entry for each tick
    enter ||= PARTS.some((part) => part !== 'shownUpdate' && now[part] !== old[part]);
    later();
  });
  const onPop = (event: PopStateEvent) => {
    clearTimeout(timer);
    timer = undefined;
    enter = false;
    follow(location.hash, isOwn(event.state));
  };
  addEventListener('popstate', onPop);
  return () => {
    stopConfig();
    stopSelection();
    clearTimeout(timer);
    removeEventListener('popstate', onPop);
  };
}

const PARTS: readonly (keyof Selected)[] = ['shownUpdate', 'recorded', 'row', 'turn', 'token', 'channel', 'hide'];

/** The part of the page's state that an address says. */
export function selectedOf({ shownUpdate, recorded, row, turn, token, channel, hide }: Selected): Selected {
  return { shownUpdate, recorded, row, turn, token, channel, hide };
}

/** Goes where an address leads. One that was typed or clicked brings its knobs, one that was gone back to does not. */
function follow(hash: string, own: boolean): void {
  goTo(hash);
  noteAddress(hash);
  if (hasOwnAddress(routeOf(hash))) return;
  const { config, selected, corrections, changes: planned = [] } = readHash(hash);
  const asks = hash.includes('?'); // one that only names a screen leaves all as it is
  if (own || asks) useSelection.setState({ ...selected, pointed: selected, revealed: null });
  if (!own) {
    const now = addressed(useConfig.getState());
    const changes =
      asks && (differences(config, now.begun).length > 0 || changesText(planned) !== changesText(now.changes));
    if (changes) {
      edit(config);
      useConfig.setState({
        preset: nearestPreset(config),
        planned: planned.length > 0 ? { begun: config, changes: planned } : null,
      });
    }
    // a link from one screen to another asks for nothing new: what was told stays
    if (changes || corrections.length > 0) useConfig.setState({ corrections });
  }
  write(false);
}

/** Writes the address: as a new history entry, or in place of the one that is there. */
function write(enter: boolean): void {
  const route = currentRoute();
  if (hasOwnAddress(route)) return;
  const { begun, changes } = addressed(useConfig.getState());
  const hash = hashOf(begun, route, selectedOf(useSelection.getState()), currentSubpath(), changes);
  const fresh = enter && performance.now() - entered > ENTRY_MS;
  if (fresh && hash !== location.hash) {
    entered = performance.now();
    history.replaceState(OWN, ''); // the entry that is left can be gone back to
    history.pushState(OWN, '', hash);
  } else history.replaceState(OWN, '', hash);
  noteAddress(hash);
}

function isOwn(state: unknown): boolean {
  return typeof state === 'object' && state !== null && 'own' in state;
}
