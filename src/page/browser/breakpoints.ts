/** All media queries at which the layout changes. Style sheets repeat them (test/ui/scale.test.ts), because they can't read them. */
export const BREAKPOINTS = {
  phone: '(width <= 860px)',
  lyingPhone: '(560px < width <= 860px) and (height <= 600px)', // also a desktop window at 200 % zoom
  frame: '(width <= 560px)', // a frame in another page that shows one panel
  lowFrame: '(width <= 560px) and (height <= 600px)',
  lowPhone: '(width <= 560px) and (height <= 640px)',
  desk: '(width > 860px)',
  narrowDesk: '(860px < width <= 1180px)',
  mediumDesk: '(860px < width <= 1340px)', // includes narrowDesk
  wideDesk: '(width >= 1700px)',
  lowDesk: '(width > 860px) and (height < 800px)',
} as const;

/** Whether the page is used by touch: a phone's width, or a screen whose only pointer is a finger. */
export const usesTouch = (): boolean => matchMedia(`${BREAKPOINTS.phone}, (hover: none) and (pointer: coarse)`).matches;
