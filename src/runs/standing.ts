import { warmStartRecipe } from '../config/imitationRecipe.ts';
import type { Progress } from '../domain/progress.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { Run } from './run.ts';

/** Where a run stands, in words: `update 3`, or before the first `imitation step 12 of 40`. */
export function standing({ begun, progress }: Pick<Checkpoint, 'begun' | 'progress'>): string {
  const { imitated, update } = progress;
  if (update > 0 || imitated === 0) return `update ${update}`;
  return `imitation step ${imitated} of ${warmStartRecipe(begun).steps}`;
}

/** The same of a run that may have been left. */
export function standingOf({ checkpoint, update }: Pick<Run, 'checkpoint' | 'update'>): string {
  return checkpoint ? standing(checkpoint) : `update ${update}`;
}

/** Whether anything was learned yet that would be lost. */
export const hasBegun = ({ imitated, update }: Pick<Progress, 'imitated' | 'update'>): boolean =>
  update > 0 || imitated > 0;
