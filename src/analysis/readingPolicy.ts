import type { AttentionView } from '../domain/readings.ts';
import type { Weights } from '../model/architecture.ts';
import type { Policy } from '../model/policy.ts';
import type { StepStats } from '../model/policyReport.ts';
import type { ObjectiveSettings } from '../model/learningSettings.ts';

/**
 * A second policy that answers questions about a run: it shows logits, attention and gradients. Methods either return
 * their result at once, or compute with breaks between layers and return a promise.
 */
export interface ReadingPolicy extends Policy {
  /** Returns (V) untempered logits after the first `count` tokens of row `row`. */
  nextLogits(row: number, count: number): ArrayLike<number> | Promise<ArrayLike<number>>;
  /** Returns the attention with which the policy chooses the token after the first `count` tokens of row `row`. */
  attention(row: number, count: number): AttentionView | Promise<AttentionView>;
  /** The first half of `learn`: gradients and measurements, without a step. */
  accumulate(rows: Int32Array, objective: ObjectiveSettings, temperature: number): StepStats | Promise<StepStats>;
  /** Returns the gradients of the last `learn` or `accumulate`, before clipping. */
  gradients(): Weights;
  /** Returns the gradients as one array, in the order of `parameters`; not a copy. */
  gradientPool(): ArrayLike<number>;
}
