import type { RefObject } from 'react';
import { useConfig } from './configStore.ts';

const AT = ':is([data-knob], [data-algorithm])';

/**
 * Keeps the knob that is being turned where it is in the window, whatever lines its change puts above it or takes away: the next
 * press would be on something else. Returns a function that stops.
 */
export function keepUnderPointer(scroller: RefObject<HTMLElement | null>): () => void {
  return useConfig.subscribe((now, before) => {
    const box = scroller.current;
    if (!box || now.wanted === before.wanted) return;
    const knob = box.querySelector(`${AT}:focus-within`) ?? box.querySelector(`${AT}:hover`);
    if (!knob) return;
    const { top } = knob.getBoundingClientRect();
    // what the change adds is drawn by then, and nothing of it painted
    requestAnimationFrame(() => {
      box.scrollTop += knob.getBoundingClientRect().top - top;
    });
  });
}
