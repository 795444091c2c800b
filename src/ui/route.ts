import { useSyncExternalStore } from 'react';
import { routeOf, type Route } from './hash.ts';

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

/**
 * Follows the address. Call it before anything else listens to `hashchange`: what comes later is the lab's and only hears of
 * addresses of the lab, so that no other screen's address is read as knobs. Returns a function that stops.
 */
export function bindRoute(): () => void {
  route = routeOf(location.hash);
  const onHash = (event: Event) => {
    const next = routeOf(location.hash);
    if (next !== 'lab') event.stopImmediatePropagation();
    if (next === route) return;
    route = next;
    for (const listener of listeners) listener();
  };
  addEventListener('hashchange', onHash);
  return () => removeEventListener('hashchange', onHash);
}

/** Binds something while the lab is on screen; `bind` returns what ends it. */
export function whileAtLab(bind: () => () => void): void {
  let end: (() => void) | null = null;
  const follow = () => {
    if (route === 'lab') end ??= bind();
    else {
      end?.();
      end = null;
    }
  };
  follow();
  subscribe(follow);
}
