import { embeddedPanel } from './screens.ts';
import { storedWord, storeWord } from '../browser/storedWord.ts';
import { isEmptyHash, routeOf } from './hash.ts';

const KEY = 'rollout-playground-left';
/** Whether this is a panel in another page. A panel neither opens nor stores the last address. */
const isPanel = () => 'location' in globalThis && embeddedPanel(location.search) !== null;

/** The address where a returning visitor left off. Null on a first visit, and if `hash` isn't empty. */
export function lastAddress(hash: string): string | null {
  return isEmptyHash(hash) && !isPanel() ? storedWord(KEY) : null;
}

/** Stores an address for the next visit. Not the start screen: visitors who saw only that screen get it again. */
export function storeLastAddress(hash: string): void {
  if (routeOf(hash) !== 'stage' && !isPanel()) storeWord(KEY, hash);
}
