import { fnvOfText } from '../base/checksum.ts';
import { pcg4d } from '../base/rng.ts';

export type Side = 'train' | 'held-out';

/** Share of an environment's tasks that is held out. */
export const HELD_OUT_SHARE = 0.2;
/** Draws to find a task on one side. At least a fifth of all tasks are on each side, so this many misses mean that it has none. */
const MAX_DRAWS = 2000;

/**
 * Returns the side of the task with this `key`, by a hash of the key (FNV-1a over UTF-16 units, mixed by pcg4d). It
 * does not depend on the seed that drew the task. So equal tasks are on the same side in every run, and no task is both
 * trained on and held out.
 */
export function sideOf(key: string): Side {
  const mixed = new Uint32Array(4);
  pcg4d(fnvOfText(key), key.length, 0, 0, mixed);
  return (mixed[0] ?? 0) < HELD_OUT_SHARE * 2 ** 32 ? 'held-out' : 'train';
}

/** Calls `draw` until it returns a task on `side`. Throws after 2,000 tasks on the other side. */
export function drawFromSide<T extends { readonly key: string }>(side: Side, draw: () => T): T {
  for (let count = 0; count < MAX_DRAWS; count++) {
    const task = draw();
    if (sideOf(task.key) === side) return task;
  }
  throw new Error(`drawOn: none of ${MAX_DRAWS} tasks is on the side ${side}. The environment has too few tasks.`);
}
