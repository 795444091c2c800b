import type { Place } from '../address/screens.ts';

/** The paths of the places' pictures in a phone's bar (24 × 24). */
export const PLACE_ICONS: Readonly<Record<Place, string>> = {
  lab: 'M9 3h6M10 3v6L5 19a1.5 1.5 0 0 0 1.4 2h11.2a1.5 1.5 0 0 0 1.4-2L14 9V3',
  compare: 'M4 18c5 0 5-11 10-11h6M4 18c6 0 8-5 16-5',
  models: 'M4 8l8-4 8 4-8 4zM4 12l8 4 8-4M4 16l8 4 8-4',
  rollouts: 'M6 3h8l5 5v13H6zM14 3v5h5M9 12h7M9 16h7',
  learn: 'M4 5c4-1 6 0 8 2 2-2 4-3 8-2v13c-4-1-6 0-8 2-2-2-4-3-8-2zM12 7v13',
};
