import { storedWord, storeWord } from '../browser/storedWord.ts';
import { currentRoute } from '../address/route.ts';
import { useSelection } from '../view/selectionStore.ts';

const KEY = 'rollout-playground-tour';

/** Whether to offer the tour: not if it was begun before. Without storage it's offered at every visit. */
export const isOffered = (): boolean => storedWord(KEY) === null;

export const noteTourBegun = (): void => storeWord(KEY, 'begun');

/** Begins the tour in the lab, which it explains. Knobs and run stay as they are. */
export function beginTour(): void {
  if (currentRoute() !== 'lab') location.assign('#/lab');
  useSelection.setState({ touring: true });
}
