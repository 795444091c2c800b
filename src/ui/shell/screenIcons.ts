import type { Route } from '../address/screens.ts';

/** The paths of the screens' pictures in a phone's bar (24 × 24); the lab stands there as its panels. */
export const SCREEN_ICONS: Readonly<Record<Exclude<Route, 'lab'>, string>> = {
  group: 'M4 5h4v14H4zM10 5h4v14h-4zM16 5h4v14h-4z',
  update: 'M7 20V5M3 9l4-4 4 4M17 4v15m-4-4 4 4 4-4',
  talk: 'M4 5h16v11H10l-5 4v-4H4zM8 9h8M8 12h5',
  models: 'M4 8l8-4 8 4-8 4zM4 12l8 4 8-4M4 16l8 4 8-4',
  runs: 'M4 18c5 0 5-11 10-11h6M4 18c6 0 8-5 16-5',
  rollouts: 'M6 3h8l5 5v13H6zM14 3v5h5M9 12h7M9 16h7',
  experiments: 'M9 3h6M10 3v6L5 19a1.5 1.5 0 0 0 1.4 2h11.2a1.5 1.5 0 0 0 1.4-2L14 9V3',
  profile: 'M12 8v5l3 2M10 2h4M12 5a8 8 0 1 0 0 16 8 8 0 0 0 0-16z',
  learn: 'M4 5c4-1 6 0 8 2 2-2 4-3 8-2v13c-4-1-6 0-8 2-2-2-4-3-8-2zM12 7v13',
};
