import type { AttentionView } from '../domain/readings.ts';
import type { Weights } from '../model/architecture.ts';
import type { Policy } from '../model/policy.ts';
import type { StepStats } from '../model/policyReport.ts';
import type { ObjectiveSettings } from '../model/learningSettings.ts';

/** A policy beside a run that questions about it are answered with: it shows logits, attention and gradients, at once or layer by layer with breaks. */
export interface ReadingPolicy extends Policy {
  /** (V) untempered logits after the first `count` tokens of row `row`. */
  nextLogits(row: number, count: number): ArrayLike<number> | Promise<ArrayLike<number>>;
  /** What it looked at when row `row` had its first `count` tokens and the next was to be chosen. */
  attention(row: number, count: number): AttentionView | Promise<AttentionView>;
  /** The first half of `learn`: gradients and measurements, without a step. */
  accumulate(rows: Int32Array, objective: ObjectiveSettings, temperature: number): StepStats | Promise<StepStats>;
  /** Gradients of the last `learn` or `accumulate`, before clipping. */
  gradients(): Weights;
  /** The same in the order of `parameters`, one tensor after the other; not a copy. */
  gradientPool(): ArrayLike<number>;
}
