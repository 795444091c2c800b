interface PlaceEntry {
  readonly label: string;
  readonly doc: string;
}

/** The places, in the order of the navigation. Each has one or more screens, its views. */
export const PLACES = {
  lab: { label: 'Lab', doc: 'Train one run and see every token of it' },
  compare: { label: 'Compare', doc: 'Compare runs with each other' },
  models: { label: 'Models', doc: 'Open a model, talk to it, train it' },
  rollouts: { label: 'Rollouts', doc: 'Open files of rollouts' },
  learn: { label: 'Learn', doc: 'Chapters with exercises, and answers to common questions' },
} as const satisfies Readonly<Record<string, PlaceEntry>>;

export type Place = keyof typeof PLACES;

export interface Screen {
  readonly place: Place;
  readonly label: string;
  readonly key?: string;
  /** Whether it shows a rollout that keys move through. */
  readonly rollout: boolean;
  /** Whether it shows one update of the run, so that it needs the slider through the updates. */
  readonly history?: boolean;
  /** Whether its address holds something other than knobs and a selection. */
  readonly ownAddress?: boolean;
  /** Whether its address can continue after its name: `#/learn/clip`. */
  readonly subpaths?: boolean;
  /** False if the navigation doesn't list it, because it's opened in another way. */
  readonly listed?: false;
}

/** In the order of the navigation. Their components are in `shell/App.tsx`; everything else is derived from this table. */
export const SCREENS = {
  stage: { place: 'lab', label: 'Start', rollout: false, listed: false, subpaths: true },
  lab: { place: 'lab', label: 'Rollout', key: 'l', rollout: true, history: true },
  group: { place: 'lab', label: 'Group', key: 'g', rollout: true, history: true },
  update: { place: 'lab', label: 'Update', key: 'u', rollout: true, history: true },
  profile: { place: 'lab', label: 'Profile', rollout: true },
  environment: { place: 'lab', label: 'Editor', rollout: false, ownAddress: true },
  runs: { place: 'compare', label: 'Runs', key: 'r', rollout: false },
  forks: { place: 'compare', label: 'Forks', rollout: false },
  experiments: {
    place: 'compare',
    label: 'Experiments',
    key: 'e',
    rollout: false,
    ownAddress: true,
  },
  models: { place: 'models', label: 'Open', key: 'd', rollout: false },
  talk: { place: 'models', label: 'Talk', key: 'a', rollout: false },
  train: { place: 'models', label: 'Train', rollout: false },
  rollouts: { place: 'rollouts', label: 'Rollouts', key: 'o', rollout: false, ownAddress: true },
  learn: { place: 'learn', label: 'Chapters', rollout: true, subpaths: true },
  answers: { place: 'learn', label: 'Answers', rollout: true, subpaths: true },
} as const satisfies Readonly<Record<string, Screen>>;

export type Route = keyof typeof SCREENS;

export type ListedRoute = Exclude<Route, 'stage'>;

const ALL_SCREENS = Object.entries(SCREENS) as readonly (readonly [Route, Screen])[];

export const SCREEN_LIST = ALL_SCREENS.filter(([, { listed }]) => listed !== false) as readonly (readonly [
  ListedRoute,
  Screen,
])[];

/** The places with their views, in order. A place opens with its first view. */
export const PLACE_LIST: readonly (PlaceEntry & { readonly place: Place; readonly views: readonly ListedRoute[] })[] = (
  Object.keys(PLACES) as Place[]
).map((place) => ({
  place,
  ...PLACES[place],
  views: SCREEN_LIST.flatMap(([route, screen]) => (screen.place === place ? [route] : [])),
}));

/** All views of the place that a screen belongs to, including the screen itself. */
export function siblingViews(route: Route): readonly ListedRoute[] {
  return PLACE_LIST.find(({ place }) => place === SCREENS[route].place)?.views ?? [];
}

/** For example “Lab · Update”. A place with one view, and a screen that isn't listed, need only one name: “Learn”. */
export function fullLabel(route: Route): string {
  const screen: Screen = SCREENS[route];
  if (screen.listed === false) return screen.label;
  const { label } = PLACES[screen.place];
  return siblingViews(route).length > 1 ? `${label} · ${SCREENS[route].label}` : label;
}

export function screenNamed(name: string): Route | undefined {
  return ALL_SCREENS.find(([route]) => route === name)?.[0];
}

export function hasHistory(route: Route): boolean {
  const screen: Screen = SCREENS[route];
  return screen.history ?? false;
}

export function hasSubpaths(route: Route): boolean {
  const screen: Screen = SCREENS[route];
  return screen.subpaths ?? false;
}

export function hasOwnAddress(route: Route): boolean {
  const screen: Screen = SCREENS[route];
  return screen.ownAddress ?? false;
}

export interface Panel {
  readonly label: string;
  readonly height: number;
  readonly of?: Route; // the only screen that has it
}

/** Panels that another page can show in a frame: their labels and the heights of their frames, px. */
export const EMBED_PANELS = {
  stage: { label: 'Before and after', height: 640 },
  rollout: { label: 'Rollout', height: 560 },
  curve: { label: 'Curve', height: 320 },
  exercise: { label: 'Exercise', height: 480, of: 'learn' },
  answer: { label: 'Answer', height: 640, of: 'answers' },
} as const satisfies Readonly<Record<string, Panel>>;

export type EmbedPanel = keyof typeof EMBED_PANELS;

/** The panel that an address's query names: `?embed=curve`. Null if it names none or an unknown one. */
export function embeddedPanel(search: string): EmbedPanel | null {
  const name = new URLSearchParams(search).get('embed');
  return name !== null && Object.hasOwn(EMBED_PANELS, name) ? (name as EmbedPanel) : null;
}
