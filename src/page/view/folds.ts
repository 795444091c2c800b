import { create } from 'zustand';
import { BREAKPOINTS } from '../browser/breakpoints.ts';
import { storedWord, storeWord } from '../browser/storedWord.ts';

/** A part of the lab that can be folded away, to give the rollout more space. */
type Part = 'controls' | 'curves';

const KEYS: Readonly<Record<Part, string>> = {
  controls: 'rollout-playground-controls',
  curves: 'rollout-playground-curves',
};

export const useFolds = create<Readonly<Record<Part, boolean>>>()(() => ({
  controls: storedFold('controls') ?? false,
  curves: storedFold('curves') ?? isLow(),
}));

/** Folds or opens a part, and stores this for the next visit. */
export function fold(part: Part, folded: boolean): void {
  useFolds.setState({ [part]: folded });
  storeWord(KEYS[part], folded ? 'folded' : 'open');
}

function storedFold(part: Part): boolean | null {
  const word = storedWord(KEYS[part]);
  return word === 'folded' || word === 'open' ? word === 'folded' : null;
}

/** Whether the window is too low for both charts and a rollout. On a phone the curves have their own panel. */
function isLow(): boolean {
  return typeof matchMedia === 'function' && matchMedia(BREAKPOINTS.lowDesk).matches;
}
