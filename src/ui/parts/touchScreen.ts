/** Whether the page is used by touch: a phone's width, or a screen whose only pointer is a finger. */
export const usesTouch = (): boolean => matchMedia('(max-width: 860px), (hover: none) and (pointer: coarse)').matches;
