/** A screen of the page: what it is called, where it is offered and what its address means. */
interface Screen {
  readonly label: string;
  /** The key that opens it, where it has one. */
  readonly key?: string;
  /** The path of its picture in a phone's bar (24 × 24), where it stands there. */
  readonly icon?: string;
  /** Whether it shows a rollout to move about in by keys. */
  readonly rollout: boolean;
  /** Whether its address means something of its own, not knobs and what is looked at. */
  readonly ownAddress?: boolean;
  /** What older addresses call it. */
  readonly formerly?: string;
}

/** The screens in the order they are offered. Their components stand in `shell/App.tsx`; everything else derives from here. */
export const SCREENS = {
  lab: { label: 'Lab', key: 'l', rollout: true },
  group: { label: 'Group', key: 'g', rollout: true, icon: 'M4 5h4v14H4zM10 5h4v14h-4zM16 5h4v14h-4z' },
  update: { label: 'Update', key: 'u', rollout: true, icon: 'M7 20V5M3 9l4-4 4 4M17 4v15m-4-4 4 4 4-4' },
  talk: { label: 'Talk', key: 'a', rollout: false, icon: 'M4 5h16v11H10l-5 4v-4H4zM8 9h8M8 12h5' },
  models: { label: 'Models', key: 'd', rollout: false, icon: 'M4 8l8-4 8 4-8 4zM4 12l8 4 8-4M4 16l8 4 8-4' },
  runs: { label: 'Runs', key: 'r', rollout: false, icon: 'M4 18c5 0 5-11 10-11h6M4 18c6 0 8-5 16-5' },
  rollouts: {
    label: 'Rollouts',
    key: 'o',
    rollout: false,
    icon: 'M6 3h8l5 5v13H6zM14 3v5h5M9 12h7M9 16h7',
    ownAddress: true,
  },
  experiments: {
    label: 'Experiments',
    key: 'e',
    rollout: false,
    icon: 'M9 3h6M10 3v6L5 19a1.5 1.5 0 0 0 1.4 2h11.2a1.5 1.5 0 0 0 1.4-2L14 9V3',
    ownAddress: true,
    formerly: 'ablate',
  },
  profile: { label: 'Profile', rollout: true },
  learn: { label: 'Learn', rollout: true, icon: 'M4 5c4-1 6 0 8 2 2-2 4-3 8-2v13c-4-1-6 0-8 2-2-2-4-3-8-2zM12 7v13' },
} as const satisfies Readonly<Record<string, Screen>>;

/** The name of a screen in the address. */
export type Route = keyof typeof SCREENS;

/** The screens' names and what they are, in order. */
export const SCREEN_LIST = Object.entries(SCREENS) as readonly (readonly [Route, Screen])[];

/** The screen that an address's path names, by its name of today or of once; undefined where there is none. */
export function screenNamed(name: string): Route | undefined {
  return SCREEN_LIST.find(([route, { formerly }]) => route === name || formerly === name)?.[0];
}

/** Whether what follows a screen's name is something of its own, and no knob. */
export function hasOwnAddress(route: Route): boolean {
  const screen: Screen = SCREENS[route];
  return screen.ownAddress ?? false;
}
