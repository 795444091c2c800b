import { storedWord, storeWord } from '../parts/storedWord.ts';
import { currentRoute } from '../address/route.ts';
import { useSelection } from '../shell/selectionStore.ts';

const KEY = 'rollout-playground-tour';

/** Whether the tour may still be offered: who has begun it once knows of it. Without storage it is at each visit. */
export const isOffered = (): boolean => storedWord(KEY) === null;

/** The tour was begun: it is not offered again. */
export const forgetOffer = (): void => storeWord(KEY, 'begun');

/** Begins the tour in the lab, where all that it speaks of is; knobs and run stay as they are. */
export function beginTour(): void {
  if (currentRoute() !== 'lab') location.assign('#/lab');
  useSelection.setState({ touring: true });
}
