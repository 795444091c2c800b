/**
 * Every width and height at which the layout changes, as a media query. Style sheets cannot read these: they write the same words, and
 * test/ui/scale.test.ts holds them to it.
 */
export const BREAKPOINTS = {
  phone: '(width <= 860px)',
  lyingPhone: '(560px < width <= 860px) and (height <= 600px)', // also a desk at 200 %
  frame: '(width <= 560px)', // of another page, around one panel
  desk: '(width > 860px)',
  narrowDesk: '(860px < width <= 1180px)',
  mediumDesk: '(860px < width <= 1340px)', // and narrow ones
  wideDesk: '(width >= 1700px)',
  lowDesk: '(width > 860px) and (height < 800px)',
} as const;

/** Whether the page is used by touch: a phone's width, or a screen whose only pointer is a finger. */
export const usesTouch = (): boolean => matchMedia(`${BREAKPOINTS.phone}, (hover: none) and (pointer: coarse)`).matches;
