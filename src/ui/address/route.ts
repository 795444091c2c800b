import { useSyncExternalStore } from 'react';
import { routeOf } from './hash.ts';
import { type Route, SCREENS } from './screens.ts';

let route: Route = 'lab';
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

/** Shows the screen that an address names. */
export function goTo(hash: string): void {
  const next = routeOf(hash);
  if (next === route) return;
  route = next;
  for (const listener of listeners) listener();
}

/** Whether the screen on view has a rollout to move about in. */
export function rolloutInView(): boolean {
  return SCREENS[route].rollout;
}
