import type { FieldName } from '../config/fields.ts';
import type { MemoryShare } from './modelCard.ts';

/** A knob that makes a run fit where it is turned to this value, all others as they are. */
export interface FittingKnob {
  readonly field: FieldName;
  readonly value: number;
  readonly bytes: number; // the run takes then
}

/** What a run beside a checkpoint reserves, beside what there can be. */
export interface TrainingPlan {
  readonly parts: readonly MemoryShare[];
  readonly bytes: number; // together
  readonly most: number; // bytes there can be
  readonly fitting: readonly FittingKnob[]; // where that is less: what would do; none where no knob alone does
}

/** Whether there cannot be as much. */
export const isTooLarge = ({ bytes, most }: Pick<TrainingPlan, 'bytes' | 'most'>): boolean => bytes > most;
