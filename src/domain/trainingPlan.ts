import type { FieldName } from '../config/fields.ts';
import type { MemoryShare, SpeakingEngine } from './modelCard.ts';

/** A knob that makes a run fit where it is turned to this value, all others as they are. */
export interface FittingKnob {
  readonly field: FieldName;
  readonly value: number;
  readonly bytes: number; // the run takes then
}

/** What a run beside a checkpoint reserves, beside what there can be. */
export interface TrainingPlan {
  readonly engine: SpeakingEngine; // it would learn on
  readonly parts: readonly MemoryShare[];
  readonly bytes: number; // together
  readonly most: number | null; // bytes there can be; null: it fits, and how much more would is not known
  readonly fitting: readonly FittingKnob[]; // where that is less: what would do; none where no knob alone does
}

/** Whether there cannot be as much. */
export const isTooLarge = ({ bytes, most }: Pick<TrainingPlan, 'bytes' | 'most'>): boolean =>
  most !== null && bytes > most;
