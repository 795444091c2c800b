import type { Parameter, Weights } from '../model/architecture.ts';
import { clipScale } from '../model/learning/optimizer.ts';
import type { NetworkState } from '../model/policy.ts';
import type { Credit } from '../model/learningMath.ts';
import type { OptimizerSettings } from '../model/learningSettings.ts';
import type { BatchView, RecordedRow } from '../domain/batch.ts';
import { tokenRecord } from '../domain/tokens.ts';
import type { Why } from '../domain/readings.ts';
import type { LearnStep, Lesson } from '../rl/lesson.ts';
import { PLAIN_OBJECTIVE } from '../rl/objective.ts';
import type { ReadingPolicy } from './readingPolicy.ts';
import type { Replay } from './replay.ts';
import type { Term, TermGradients } from './termMath.ts';

/** The contributions of an update's steps to ⟨probe, Δθ⟩, in nats if the probe is the gradient of a log-probability. */
export type Contributions = Omit<Why, 'before' | 'after' | 'residual' | 'together'>;

/**
 * Splits ⟨probe, Δθ⟩ of an update by the causes of Δθ. AdamW moves θ by −D⊙m − lr·decay·θ, with D = lr/(1−β₁ᵗ)/(√v̂+ε)
 * and m = β₁m + (1−β₁)·scale·g. If the D of each step is taken as given, this is linear in the gradients g, and g is a
 * sum over rollouts and terms. A gradient of step k acts through all steps from k on, with the weight
 * R_k = D_k + β₁R_{k+1}. The m from before the update acts with the weight β₁R_1. D depends on all gradients too; that
 * removing one of them would change D is ignored.
 *
 * Repeats the update in the replay. This overwrites the replay's weights and moments; at the end they are those after
 * the update, up to rounding.
 */
export async function attribute(
  { policy, math }: Replay,
  batch: BatchView,
  { lesson, credit }: { readonly lesson: Lesson; readonly credit: Credit },
  before: NetworkState,
  probe: Weights,
): Promise<Contributions> {
  const direction = flattened(policy.parameters, probe);
  policy.writeState({ policy: before, critic: null });
  loadBatch({ policy, math }, batch, credit);
  const steps = await repeatSteps({ policy, math }, lesson, before);

  const sum = { kl: 0, entropy: 0, observation: 0, value: 0, momentum: 0, decay: 0 };
  const rollouts = new Float64Array(batch.rows);
  let weightR = new Float64Array(direction.length); // R of the following step
  let beta1 = 0; // β₁ of the following step
  for (const step of steps.toReversed()) {
    const { settings, terms, sizes } = step;
    const laterBeta1 = beta1;
    weightR = sizes.map((size, i) => size + laterBeta1 * weightR[i]!);
    beta1 = settings.optimizer.beta1;
    const pull = weightR.map((r, i) => -(1 - beta1) * step.scale * r * direction[i]!);
    policy.writeWeights(step.weights);
    const contribution = async (term: Term, rows: Int32Array): Promise<number> => {
      return dot(pull, await accumulateTerm({ policy, math }, settings, { term, recorded: terms, rows }));
    };
    for (const row of settings.rows) {
      const hasGradient = terms.policyWeights
        .subarray(row * batch.length, (row + 1) * batch.length)
        .some((w) => w !== 0);
      if (hasGradient) rollouts[row] = rollouts[row]! + (await contribution('policy', Int32Array.of(row)));
    }
    const { klCoef, entropyCoef, observationLoss, valueCoef } = settings.objective;
    if (klCoef !== 0) sum.kl += await contribution('kl', settings.rows);
    if (entropyCoef !== 0) sum.entropy += await contribution('entropy', settings.rows);
    if (observationLoss !== 0) sum.observation += await contribution('observation', settings.rows);
    if (policy.model.value_head && valueCoef !== 0) sum.value += await contribution('value', settings.rows);
    sum.decay += decayContribution(policy.parameters, direction, step.weights, settings.optimizer);
  }
  math.setTerm();
  sum.momentum =
    -beta1 *
    dot(
      weightR.map((r, i) => r * direction[i]!),
      flattened(policy.parameters, before.adamM),
    );
  return { ...sum, rollouts, steps: steps.length };
}

/** The gradient of one term over some rows of a minibatch, whose `recorded` gradients are those of all its rows. Not a copy. */
export async function accumulateTerm(
  { policy, math }: Replay,
  { objective, temperature }: Pick<LearnStep, 'objective' | 'temperature'>,
  { term, recorded, rows }: { readonly term: Term; readonly recorded: TermGradients; readonly rows: Int32Array },
): Promise<ArrayLike<number>> {
  math.setTerm(term, recorded);
  await policy.accumulate(rows, objective, temperature);
  return policy.gradientPool();
}

/** An optimizer step that changed the policy. */
interface PolicyStep {
  readonly settings: LearnStep;
  readonly weights: Weights; // before the step
  readonly terms: TermGradients;
  readonly scale: number; // factor that clips the gradient's norm
  readonly sizes: Float64Array; // D
}

/** Loads a kept batch and its credit into a replay, to learn from it again. */
export function loadBatch({ policy, math }: Replay, batch: BatchView, credit: Credit): void {
  const { logprobs: oldLogprobs, refLogprobs, values: oldValues } = batch;
  const { advantages, returns, masks } = credit;
  policy.load(tokenRecord(batch), {
    ...{ oldLogprobs, refLogprobs, oldValues, lossMask: masks.policy, valueMask: masks.value },
    ...{ advantages: Float32Array.from(advantages), returns: Float32Array.from(returns) },
  });
  math.setCredit(credit); // in float64, and with the batch's own regularizer mask, which `load` doesn't take
  policy.credit({ rewards: batch.rewards, groups: new Int32Array(batch.rows) }, NO_SETTINGS);
}

/** Settings for `Policy.credit`. They have no effect, because `TermMath` returns the credit that was given to it. */
const NO_SETTINGS = {
  ...({
    estimator: 'grpo',
    gamma: 1,
    lambda: 1,
    turnGamma: 1,
    stateWeight: 1,
    divideByStd: false,
    whiten: false,
    remask: true,
  } as const),
  ...({ klCoef: 0, klEstimator: 'k1', klTimesRatio: 'off', scale: 1, trainTurns: 'all', choicesOnly: false } as const),
  masks: { advantage: true, whiten: true, value: true, klReward: true, policy: true, regularizer: true },
};

/**
 * Repeats the steps of a lesson, and returns those that changed the policy. Steps that train only the critic aren't
 * repeated.
 */
async function repeatSteps({ policy, math }: Replay, { steps }: Lesson, before: NetworkState): Promise<PolicyStep[]> {
  const policySteps: PolicyStep[] = [];
  let { weights } = before;
  math.setTerm();
  await policy.report(); // empties the list of earlier steps
  for (const settings of steps) {
    const { rows, objective, optimizer, temperature } = settings;
    if (optimizer.criticOnly) continue;
    await policy.learn(rows, objective, optimizer, temperature);
    const [stats] = (await policy.report()).steps;
    if (stats?.skipped !== '') continue;
    const { policy: state } = await policy.readState();
    const scale = clipScale(stats.gradNorm, optimizer.maxGradNorm);
    policySteps.push({
      settings,
      weights,
      terms: math.terms(),
      scale,
      sizes: stepSizes(policy.parameters, state, optimizer),
    });
    ({ weights } = state);
  }
  return policySteps;
}

/** Returns D of the step that led to `state`, in the order of `parameters`; see `attribute`. */
export function stepSizes(
  parameters: readonly Parameter[],
  { adamV, steps }: NetworkState,
  optimizer: OptimizerSettings,
): Float64Array {
  const { learningRate, beta1, beta2, eps } = optimizer;
  const rate = learningRate / (1 - beta1 ** steps);
  const correction = 1 / (1 - beta2 ** steps);
  return flattened(parameters, adamV).map((v) => rate / (Math.sqrt(v * correction) + eps));
}

/** Returns the contribution of one step's weight decay to ⟨direction, Δθ⟩. `weights` are those before the step. */
export function decayContribution(
  parameters: readonly Parameter[],
  direction: Float64Array,
  weights: Weights,
  optimizer: OptimizerSettings,
): number {
  let [sum, at] = [0, 0];
  for (const { name, size, decay } of parameters) {
    const tensor = weights.get(name);
    if (decay && tensor) for (let i = 0; i < size; i++) sum += direction[at + i]! * tensor[i]!;
    at += size;
  }
  return -optimizer.learningRate * optimizer.weightDecay * sum;
}

/**
 * Returns the trained tensors in one array, in the order of `parameters`. A tensor that isn't in `tensors` becomes
 * zeros.
 */
export function flattened(parameters: readonly Parameter[], tensors: Weights): Float64Array {
  const out = new Float64Array(parameters.reduce((sum, { size }) => sum + size, 0));
  let at = 0;
  for (const { name, size } of parameters) {
    out.set(tensors.get(name) ?? [], at);
    at += size;
  }
  return out;
}

/** Returns Σ aᵢ·bᵢ over the entries of a; b may be longer. */
export function dot(a: Float64Array, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/**
 * Returns the gradient of the log-probability of the token at `position`. `reader` is a policy of one row with the
 * weights and the grammar to use.
 */
export async function logprobGradient(
  reader: ReadingPolicy,
  row: RecordedRow,
  position: number,
  temperature: number,
): Promise<Weights> {
  const zeros = new Float32Array(row.tokens.length);
  const mask = zeros.slice().fill(1, position, position + 1);
  reader.load(row, {
    ...{ oldLogprobs: zeros, refLogprobs: zeros, oldValues: zeros, returns: zeros, valueMask: zeros },
    ...{ advantages: mask.map((weight) => -weight), lossMask: mask },
  });
  // the loss of a token is −A·log π; with one token and A = −1 it's the log-probability
  await reader.accumulate(Int32Array.of(0), PLAIN_OBJECTIVE, temperature);
  return reader.gradients();
}
