import type { BatchView } from '../../domain/batch.ts';

/** A batch over as many passes as a ghost of it has, where they are kept: what the ghost is held against. */
export function asFarAs(batch: BatchView, ghost: BatchView): BatchView {
  const first = batch.passes?.[0];
  return (ghost.passes?.length ?? 0) <= 1 && first ? { ...batch, passes: [first] } : batch;
}
