import { create } from 'zustand';
import { BREAKPOINTS } from '../parts/breakpoints.ts';
import { storedWord, storeWord } from '../parts/storedWord.ts';

/** What of the lab can be folded away so that the rollout has more room. */
type Part = 'controls' | 'curves';

const KEYS: Readonly<Record<Part, string>> = {
  controls: 'rollout-playground-controls',
  curves: 'rollout-playground-curves',
};

/** Which parts are folded. */
export const useFolds = create<Readonly<Record<Part, boolean>>>()(() => ({
  controls: chosen('controls') ?? false,
  curves: chosen('curves') ?? isLow(),
}));

/** Folds a part or opens it, and keeps that for the next visit. */
export function fold(part: Part, folded: boolean): void {
  useFolds.setState({ [part]: folded });
  storeWord(KEYS[part], folded ? 'folded' : 'open');
}

/** What was chosen at an earlier visit; null where nothing was. */
function chosen(part: Part): boolean | null {
  const word = storedWord(KEYS[part]);
  return word === 'folded' || word === 'open' ? word === 'folded' : null;
}

/** Whether the window is too low for charts beside a rollout. A phone has the curves on a panel of their own. */
function isLow(): boolean {
  return typeof matchMedia === 'function' && matchMedia(BREAKPOINTS.lowDesk).matches;
}
