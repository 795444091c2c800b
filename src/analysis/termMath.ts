import type { Credit, LearningMath, ObjectiveParts, TokenGradients } from '../model/learningMath.ts';
import type { StepOutputs } from '../rl/previewBatch.ts';
import { objective, observationWeights } from '../rl/objective.ts';

/** A term of the objective whose gradient can be computed alone. */
export type Term = 'policy' | 'kl' | 'entropy' | 'observation' | 'value';

/** Gradients per token, with the observation loss's part of `dlogprobs`. */
export interface TermGradients extends TokenGradients {
  readonly observationWeights: Float64Array; // (B,T)
}

/**
 * `LearningMath` for a policy that learns from a kept batch again. It returns credit that is already known, and can
 * limit the objective to one term.
 */
export interface TermMath extends LearningMath {
  /** Sets the result that `credit` returns from now on, whatever the arguments of `credit`. */
  setCredit(credit: Credit): void;
  /** Returns a copy of the per-token gradients of the last computation of the whole objective. */
  terms(): TermGradients;
  /**
   * Returns a copy of each token's log-probability, entropy and value in the last computation of the whole objective.
   */
  stepOutputs(): StepOutputs;
  /**
   * Limits the objective from now on to one term of recorded gradients. These were computed over a whole minibatch, so
   * the gradient of some of its rows is their contribution to the minibatch's gradient. Without arguments, the
   * objective is the whole objective again.
   */
  setTerm(term?: Term, recorded?: TermGradients): void;
}

/** Measurements that aren't used. `tokens` isn't 0, because that would mean that there is nothing to learn. */
const UNUSED_MEASUREMENTS: ObjectiveParts = {
  ...{ policyLoss: 0, entropy: 0, kl: 0, clipFraction: 0, clipFractionLower: 0, approxKl: 0, valueLoss: 0, total: 0 },
  ...{ observationLoss: 0, teacherKl: 0, tokens: 1 },
};

export function createTermMath(): TermMath {
  let givenCredit: Credit | null = null;
  let lastGradients: TermGradients | null = null;
  let lastOutputs: StepOutputs | null = null;
  let limitedTo: { readonly term: Term; readonly recorded: TermGradients } | null = null;
  return {
    setCredit(credit) {
      givenCredit = credit;
    },
    terms() {
      if (!lastGradients) throw new Error('terms: nothing was learned yet. Compute the whole objective first.');
      return lastGradients;
    },
    stepOutputs() {
      if (!lastOutputs) throw new Error('stepOutputs: nothing was learned yet. Compute the whole objective first.');
      return lastOutputs;
    },
    setTerm(term, recorded) {
      limitedTo = term && recorded ? { term, recorded } : null;
    },
    credit() {
      if (!givenCredit) throw new Error('credit: none was given; call setCredit first.');
      return givenCredit;
    },
    objective(batch, rows, settings, out) {
      if (!limitedTo) {
        const parts = objective(batch, rows, settings, out);
        const { logprobs, entropies, values } = batch;
        lastOutputs = {
          ...{ logprobs: Float64Array.from(logprobs), entropies: Float64Array.from(entropies) },
          values: Float64Array.from(values),
        };
        const { dlogprobs, policyWeights, dentropies, dvalues } = out;
        lastGradients = {
          dlogprobs: dlogprobs.slice(),
          policyWeights: policyWeights.slice(),
          dentropies: dentropies.slice(),
          dvalues: dvalues.slice(),
          observationWeights: observationWeights(batch, rows, settings),
        };
        return parts;
      }
      for (const row of rows)
        writeTerm(limitedTo.term, limitedTo.recorded, out, row * batch.length, (row + 1) * batch.length);
      return UNUSED_MEASUREMENTS;
    },
  };
}

function writeTerm(term: Term, recorded: TermGradients, out: TokenGradients, from: number, to: number): void {
  for (let at = from; at < to; at++) {
    const policy = recorded.policyWeights[at]!;
    out.policyWeights[at] = term === 'policy' ? policy : 0;
    const observation = recorded.observationWeights[at]!;
    const kl = recorded.dlogprobs[at]! - policy - observation;
    out.dlogprobs[at] = { policy, kl, observation, entropy: 0, value: 0 }[term];
    out.dentropies[at] = term === 'entropy' ? recorded.dentropies[at]! : 0;
    out.dvalues[at] = term === 'value' ? recorded.dvalues[at]! : 0;
  }
}
