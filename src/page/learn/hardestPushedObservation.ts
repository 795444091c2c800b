import { pushAt } from '../rollout/channels.ts';
import { Role } from '../../domain/tokens.ts';
import type { BatchView } from '../../domain/batch.ts';

/** Flat index of the observation token that was pushed hardest, up or down; −1 if none was pushed. */
export function hardestPushedObservation(batch: BatchView): number {
  let [best, largestPush] = [-1, 0];
  batch.roles.forEach((role, i) => {
    if (role !== Role.observation || Math.abs(pushAt(batch, i)) <= largestPush) return;
    [best, largestPush] = [i, Math.abs(pushAt(batch, i))];
  });
  return best;
}
