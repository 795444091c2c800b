import { BREAKPOINTS } from './breakpoints.ts';

/** Whether the page is used by touch: a phone's width, or a screen whose only pointer is a finger. */
export const usesTouch = (): boolean => matchMedia(`${BREAKPOINTS.phone}, (hover: none) and (pointer: coarse)`).matches;
