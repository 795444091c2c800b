import type { FieldName } from '../config/fields.ts';
import type { MemoryShare, SpeakingEngine } from './modelCard.ts';

/** A value of one knob with which a run fits, while all other knobs stay as they are. */
export interface FittingKnob {
  readonly field: FieldName;
  readonly value: number;
  readonly bytes: number; // memory of the run with this value
}

/** The memory that a run needs for training adapters of a checkpoint, and the memory there is. */
export interface TrainingPlan {
  readonly engine: SpeakingEngine; // the engine that would train
  readonly parts: readonly MemoryShare[];
  readonly bytes: number; // sum of the parts
  readonly maxBytes: number | null; // largest number of bytes available; null: the run fits, and the limit is unknown
  readonly fitting: readonly FittingKnob[]; // if the run doesn't fit: single changes that make it fit, if there are any
}

/** Whether a run needs more memory than there is. */
export const isTooLarge = ({ bytes, maxBytes }: Pick<TrainingPlan, 'bytes' | 'maxBytes'>): boolean =>
  maxBytes !== null && bytes > maxBytes;
