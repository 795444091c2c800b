import { pcg4d } from '../base/rng.ts';

/** The tasks to train on, or those kept from training. */
export type Side = 'train' | 'held-out';

/** Share of an environment's tasks that is kept from training. */
export const HELD_OUT_SHARE = 0.2;
/** The most draws to find a task on one side. At least a fifth of all tasks are on each side, so this many misses mean that there is none. */
const MOST_DRAWS = 2000;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * The side a task is on, by a hash of its `key` (FNV-1a over UTF-16 units, mixed by pcg4d). The seed that drew it does not matter, so
 * two equal tasks are on the same side in every run, and no task is both trained on and held out.
 */
export function sideOf(key: string): Side {
  let hash = FNV_OFFSET;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), FNV_PRIME);
  const mixed = new Uint32Array(4);
  pcg4d(hash, key.length, 0, 0, mixed);
  return (mixed[0] ?? 0) < HELD_OUT_SHARE * 2 ** 32 ? 'held-out' : 'train';
}

/** Calls `draw` until it returns a task on `side`. Throws after 2,000 tasks on the other side. */
export function drawOn<T extends { readonly key: string }>(side: Side, draw: () => T): T {
  for (let count = 0; count < MOST_DRAWS; count++) {
    const task = draw();
    if (sideOf(task.key) === side) return task;
  }
  throw new Error(`drawOn: none of ${MOST_DRAWS} tasks is on the side ${side}. The environment has too few tasks.`);
}
