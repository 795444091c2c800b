import type { Credit, LearningMath, ObjectiveParts, TokenGradients } from '../model/learningMath.ts';
import type { StepLogprobs } from '../rl/previewBatch.ts';
import { objective } from '../rl/objective.ts';

/** A part of the objective whose gradient can be taken alone. */
export type Term = 'policy' | 'kl' | 'entropy' | 'value';

/** `learningMath` for a policy that learns a kept batch again: it gives known credit, and can show one term at a time. */
export interface TermMath extends LearningMath {
  /** The credit that the next `credit` gives, whatever it is asked. */
  give(credit: Credit): void;
  /** The per-token gradients of the last whole pass, a copy. */
  terms(): TokenGradients;
  /** What the policy said of each token in the last whole pass, a copy. */
  seen(): StepLogprobs;
  /**
   * From now on the objective is `term` of recorded gradients: what a part of the rows adds to the whole minibatch, with its
   * counts and its ratios. Without arguments it is the whole objective again.
   */
  show(term?: Term, recorded?: TokenGradients): void;
}

const NOTHING: ObjectiveParts = {
  ...{ policyLoss: 0, entropy: 0, kl: 0, clipFraction: 0, clipFractionLower: 0, approxKl: 0, valueLoss: 0, total: 0 },
  tokens: 1,
};

/** See `TermMath`. */
export function createTermMath(): TermMath {
  let given: Credit | null = null;
  let last: TokenGradients | null = null;
  let seen: StepLogprobs | null = null;
  let shown: { readonly term: Term; readonly recorded: TokenGradients } | null = null;
  return {
    give(credit) {
      given = credit;
    },
    terms() {
      if (!last) throw new Error('terms: nothing was learned yet; take a whole pass first.');
      return last;
    },
    seen() {
      if (!seen) throw new Error('seen: nothing was learned yet; take a whole pass first.');
      return seen;
    },
    show(term, recorded) {
      shown = term && recorded ? { term, recorded } : null;
    },
    credit() {
      if (!given) throw new Error('credit: none was given; call give first.');
      return given;
    },
    objective(batch, rows, settings, out) {
      if (!shown) {
        const parts = objective(batch, rows, settings, out);
        const { logprobs, entropies, values } = batch;
        seen = {
          ...{ logprobs: Float64Array.from(logprobs), entropies: Float64Array.from(entropies) },
          values: Float64Array.from(values),
        };
        const { dlogprobs, policyWeights, dentropies, dvalues } = out;
        last = {
          dlogprobs: dlogprobs.slice(),
          policyWeights: policyWeights.slice(),
          dentropies: dentropies.slice(),
          dvalues: dvalues.slice(),
        };
        return parts;
      }
      for (const row of rows) one(shown.term, shown.recorded, out, row * batch.length, (row + 1) * batch.length);
      return NOTHING;
    },
  };
}

function one(term: Term, recorded: TokenGradients, out: TokenGradients, from: number, to: number): void {
  for (let at = from; at < to; at++) {
    const policy = recorded.policyWeights[at]!;
    out.policyWeights[at] = term === 'policy' ? policy : 0;
    out.dlogprobs[at] = term === 'policy' ? policy : term === 'kl' ? recorded.dlogprobs[at]! - policy : 0;
    out.dentropies[at] = term === 'entropy' ? recorded.dentropies[at]! : 0;
    out.dvalues[at] = term === 'value' ? recorded.dvalues[at]! : 0;
  }
}
