import { useSyncExternalStore } from 'react';
import { placeOf, routeOf } from './hash.ts';
import { type Route, SCREENS } from './screens.ts';

let route: Route = 'lab';
let place = ''; // within it
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The screen that the address names. */
export function useRoute(): Route {
  return useSyncExternalStore(subscribe, () => route);
}

/** The screen on view, outside of React. */
export function currentRoute(): Route {
  return route;
}

/** The place within its screen that the address names; empty where it names none. */
export function usePlace(): string {
  return useSyncExternalStore(subscribe, () => place);
}

/** The place on view, outside of React. */
export function currentPlace(): string {
  return place;
}

/** Shows the screen, and the place in it, that an address names. */
export function goTo(hash: string): void {
  const [nextRoute, nextPlace] = [routeOf(hash), placeOf(hash)];
  if (nextRoute === route && nextPlace === place) return;
  [route, place] = [nextRoute, nextPlace];
  for (const listener of listeners) listener();
}

/** Whether the screen on view has a rollout to move about in. */
export function rolloutInView(): boolean {
  return SCREENS[route].rollout;
}
