import { useSyncExternalStore } from 'react';
import { routeOf, subpathOf } from './hash.ts';
import { type Route, SCREENS } from './screens.ts';

let route: Route = 'lab';
let subpath = '';
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

/** What stands behind the screen's name in the address; empty where nothing does. */
export function useSubpath(): string {
  return useSyncExternalStore(subscribe, () => subpath);
}

/** The same outside of React. */
export function currentSubpath(): string {
  return subpath;
}

/** Shows the screen that an address names, and what stands behind its name. */
export function goTo(hash: string): void {
  const [nextRoute, nextSubpath] = [routeOf(hash), subpathOf(hash)];
  if (nextRoute === route && nextSubpath === subpath) return;
  [route, subpath] = [nextRoute, nextSubpath];
  for (const listener of listeners) listener();
}

/** Whether the screen on view has a rollout to move about in. */
export function rolloutInView(): boolean {
  return SCREENS[route].rollout;
}
