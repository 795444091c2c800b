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

export function useRoute(): Route {
  return useSyncExternalStore(subscribe, () => route);
}

export function currentRoute(): Route {
  return route;
}

/** The part of the address after the screen's name; empty if there is none. */
export function useSubpath(): string {
  return useSyncExternalStore(subscribe, () => subpath);
}

export function currentSubpath(): string {
  return subpath;
}

export function goTo(hash: string): void {
  const [nextRoute, nextSubpath] = [routeOf(hash), subpathOf(hash)];
  if (nextRoute === route && nextSubpath === subpath) return;
  [route, subpath] = [nextRoute, nextSubpath];
  for (const listener of listeners) listener();
}

/** Whether the current screen shows a rollout that keys move through. */
export function rolloutInView(): boolean {
  return SCREENS[route].rollout;
}
