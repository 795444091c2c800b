import { choosesSteps, warmStartRecipe } from '../config/imitationRecipe.ts';
import type { Progress } from '../domain/progress.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { Run } from './run.ts';

/** `update 3`, or `imitation step 12 of 40` before the first. A run that chooses its steps doesn't know their number yet. */
export function progressText({ begun, progress }: Pick<Checkpoint, 'begun' | 'progress'>): string {
  const { imitated, update } = progress;
  if (update > 0 || imitated === 0) return `update ${update}`;
  return `imitation step ${imitated}${choosesSteps(begun) ? '' : ` of ${warmStartRecipe(begun).steps}`}`;
}

/** How far a `Run` has come, in words. Without a checkpoint only its update is known. */
export function runProgressText({ checkpoint, update }: Pick<Run, 'checkpoint' | 'update'>): string {
  return checkpoint ? progressText(checkpoint) : `update ${update}`;
}

/** True once the run has taken a step of imitation or an update. */
export const hasBegun = ({ imitated, update }: Pick<Progress, 'imitated' | 'update'>): boolean =>
  update > 0 || imitated > 0;
