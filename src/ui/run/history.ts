import type { RunConfig } from '../../config/fields.ts';
import { KEPT_UPDATES, leastMissed } from '../../runs/keptUpdates.ts';
import type { BatchView } from '../../domain/batch.ts';
import { live } from './liveStore.ts';
import { useSelection } from '../shell/selectionStore.ts';

/** A batch as it is kept: with the configuration it was made under. */
export interface KeptBatch {
  readonly batch: BatchView;
  readonly config: RunConfig;
}

const MOST_BYTES = 64 * 2 ** 20;
const EPISODE_BYTES = 1000; // what an EpisodeView takes, about: small objects have no byteLength

const kept = new Map<number, KeptBatch & { readonly bytes: number }>(); // by update, oldest first
let bytes = 0;

/** Keeps a batch, and of all so far 64 (see `leastMissed`), fewer when they would take more than 64 MiB; the newest and the one that is looked at always. */
export function keepBatch(batch: BatchView, config: RunConfig): void {
  const size = sizeOf(batch);
  forget(batch.update);
  kept.set(batch.update, { batch, config, bytes: size });
  bytes += size;
  const { held } = useSelection.getState();
  while (kept.size > KEPT_UPDATES || bytes > MOST_BYTES) {
    const others = [...kept.keys()].filter((update) => update !== held && update !== batch.update);
    if (others.length === 0) break;
    forget(leastMissed(others));
  }
  announce();
}

/** Forgets all of them. */
export function clearHistory(): void {
  kept.clear();
  bytes = 0;
  announce();
}

/** The batch that an update learned from; undefined when it is not kept. */
export function keptBatch(update: number): KeptBatch | undefined {
  return kept.get(update);
}

/** The newest batch; undefined before the first. */
export function newestBatch(): KeptBatch | undefined {
  return kept.get(live.kept.updates.at(-1) ?? -1);
}

function forget(update: number): void {
  bytes -= kept.get(update)?.bytes ?? 0;
  kept.delete(update);
}

function announce(): void {
  live.kept = { updates: [...kept.keys()], bytes };
}

function sizeOf({ episodes, parts, passes = [], ...batch }: BatchView): number {
  // the last pass is the batch's own
  const earlier = passes.slice(0, -1).flatMap(({ gradWeights, policyWeights }) => [gradWeights, policyWeights]);
  const arrays = [...Object.values(batch), ...Object.values(parts), ...earlier].filter(
    (part) => typeof part !== 'number',
  );
  return arrays.reduce((sum, { byteLength }) => sum + byteLength, 0) + EPISODE_BYTES * episodes.length;
}
