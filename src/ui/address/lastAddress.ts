import { panelOf } from '../embed/panels.ts';
import { storedWord, storeWord } from '../parts/storedWord.ts';
import { isEmptyHash, routeOf } from './hash.ts';

const KEY = 'rollout-playground-left';
/** A panel in another page is no visit: it neither goes where one left off nor changes that. */
const isPanel = () => 'location' in globalThis && panelOf(location.search) !== null;

/** Where a visitor who comes back by the page's bare address left off; null on a first visit, and where the address leads elsewhere. */
export function lastAddress(hash: string): string | null {
  return isEmptyHash(hash) && !isPanel() ? storedWord(KEY) : null;
}

/** Keeps where a visitor is for the next visit. Who has seen no more than the stage has begun nothing, and gets the stage again. */
export function noteAddress(hash: string): void {
  if (routeOf(hash) !== 'stage' && !isPanel()) storeWord(KEY, hash);
}
