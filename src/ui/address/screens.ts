/** A screen of the page: what it is called, where it is offered and what its address means. */
interface Screen {
  readonly label: string;
  /** The key that opens it, where it has one. */
  readonly key?: string;
  /** Whether it shows a rollout to move about in by keys. */
  readonly rollout: boolean;
  /** Whether its address means something of its own, not knobs and what is looked at. */
  readonly ownAddress?: boolean;
  /** Whether places within it stand in its address, behind its name: `#/learn/en/clip`. */
  readonly places?: boolean;
  /** What older addresses call it. */
  readonly formerly?: string;
}

/** The screens in the order they are offered. Their components stand in `shell/App.tsx`; everything else derives from here. */
export const SCREENS = {
  lab: { label: 'Lab', key: 'l', rollout: true },
  group: { label: 'Group', key: 'g', rollout: true },
  update: { label: 'Update', key: 'u', rollout: true },
  talk: { label: 'Talk', key: 'a', rollout: false },
  models: { label: 'Models', key: 'd', rollout: false },
  runs: { label: 'Runs', key: 'r', rollout: false },
  rollouts: {
    label: 'Rollouts',
    key: 'o',
    rollout: false,
    ownAddress: true,
  },
  experiments: {
    label: 'Experiments',
    key: 'e',
    rollout: false,
    ownAddress: true,
    formerly: 'ablate',
  },
  profile: { label: 'Profile', rollout: true },
  learn: { label: 'Learn', rollout: true, places: true },
} as const satisfies Readonly<Record<string, Screen>>;

/** The name of a screen in the address. */
export type Route = keyof typeof SCREENS;

/** The screens' names and what they are, in order. */
export const SCREEN_LIST = Object.entries(SCREENS) as readonly (readonly [Route, Screen])[];

/** The screen that an address's path names, by its name of today or of once; undefined where there is none. */
export function screenNamed(name: string): Route | undefined {
  return SCREEN_LIST.find(([route, { formerly }]) => route === name || formerly === name)?.[0];
}

/** Whether a screen has places within it that addresses name. */
export function hasPlaces(route: Route): boolean {
  const screen: Screen = SCREENS[route];
  return screen.places ?? false;
}

/** Whether what follows a screen's name is something of its own, and no knob. */
export function hasOwnAddress(route: Route): boolean {
  const screen: Screen = SCREENS[route];
  return screen.ownAddress ?? false;
}
