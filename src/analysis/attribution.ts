import type { Parameter, Weights } from '../model/architecture.ts';
import { clipScale } from '../model/cpu/optimizer.ts';
import type { NetworkState } from '../model/policy.ts';
import type { Credit, TokenGradients } from '../model/learningMath.ts';
import type { OptimizerSettings } from '../model/learningSettings.ts';
import type { BatchView, RecordedRow } from '../domain/batch.ts';
import type { Why } from '../domain/readings.ts';
import type { LearnStep, Lesson } from '../rl/lesson.ts';
import type { ReadingPolicy } from './readingPolicy.ts';
import type { Replay } from './replay.ts';
import type { Term } from './termMath.ts';

/** What an update's steps add to ⟨probe, Δθ⟩, in nats if the probe is a gradient of a log-probability. */
export type Contributions = Omit<Why, 'before' | 'after' | 'residual' | 'together'>;

/**
 * ⟨probe, Δθ⟩ of an update, split by where Δθ came from. AdamW moves θ by −D⊙m − lr·decay·θ, with D = lr/(1−β₁ᵗ)/(√v̂+ε) and
 * m = β₁m + (1−β₁)·scale·g. With the D that each step really had, that is linear in the gradients g, and g is a sum over
 * rollouts and terms: a gradient of step k counts through all steps from k on, with R_k = D_k + β₁R_{k+1}, and what m brought
 * along counts with β₁R_1. D itself depends on all gradients; that it would be another without one of them is not followed.
 *
 * The update is done again in `replay`: its weights and moments are overwritten, and end as the update left them, up to rounding.
 */
export async function attribute(
  { policy, math }: Replay,
  batch: BatchView,
  { lesson, credit }: { readonly lesson: Lesson; readonly credit: Credit },
  before: NetworkState,
  probe: Weights,
): Promise<Contributions> {
  const direction = flat(policy.parameters, probe);
  policy.writeState({ policy: before, critic: null });
  loadKept({ policy, math }, batch, credit);
  const taken = await retake({ policy, math }, lesson, before);

  const sum = { kl: 0, entropy: 0, value: 0, momentum: 0, decay: 0 };
  const rollouts = new Float64Array(batch.rows);
  let reach = new Float64Array(direction.length); // R of the step after
  let beta1 = 0; // of the step after
  for (const step of taken.toReversed()) {
    const { settings, terms, sizes } = step;
    const later = beta1;
    reach = sizes.map((size, i) => size + later * reach[i]!);
    beta1 = settings.optimizer.beta1;
    const pull = reach.map((r, i) => -(1 - beta1) * step.scale * r * direction[i]!);
    policy.writeWeights(step.weights);
    const through = async (term: Term, rows: Int32Array): Promise<number> => {
      math.show(term, terms);
      await policy.accumulate(rows, settings.objective, settings.temperature);
      return dot(pull, policy.gradientPool());
    };
    for (const row of settings.rows) {
      const pushed = terms.policyWeights.subarray(row * batch.length, (row + 1) * batch.length).some((w) => w !== 0);
      if (pushed) rollouts[row] = rollouts[row]! + (await through('policy', Int32Array.of(row)));
    }
    const { klCoef, entropyCoef, valueCoef } = settings.objective;
    if (klCoef !== 0) sum.kl += await through('kl', settings.rows);
    if (entropyCoef !== 0) sum.entropy += await through('entropy', settings.rows);
    if (policy.model.value_head && valueCoef !== 0) sum.value += await through('value', settings.rows);
    sum.decay += decayed(policy.parameters, direction, step.weights, settings.optimizer);
  }
  math.show();
  sum.momentum =
    -beta1 *
    dot(
      reach.map((r, i) => r * direction[i]!),
      flat(policy.parameters, before.adamM),
    );
  return { ...sum, rollouts, steps: taken.length };
}

/** A step that moved the policy. */
interface Taken {
  readonly settings: LearnStep;
  readonly weights: Weights; // before it
  readonly terms: TokenGradients;
  readonly scale: number; // of the gradient, by its norm
  readonly sizes: Float64Array; // D
}

/** Gives a replay a kept batch with its credit, to learn from again. */
export function loadKept({ policy, math }: Replay, batch: BatchView, credit: Credit): void {
  const { tokens, roles, states, logprobs: oldLogprobs, refLogprobs, values: oldValues } = batch;
  const { advantages, returns, masks } = credit;
  policy.load(
    { tokens, roles, states },
    {
      ...{ oldLogprobs, refLogprobs, oldValues, lossMask: masks.policy, valueMask: masks.value },
      ...{ advantages: Float32Array.from(advantages), returns: Float32Array.from(returns) },
    },
  );
  math.give(credit); // in full precision, and with a regularizer mask of its own
  policy.credit({ rewards: batch.rewards, groups: new Int32Array(batch.rows) }, NO_SETTINGS);
}

// what is given needs none
const NO_SETTINGS = {
  ...({
    estimator: 'grpo',
    gamma: 1,
    lambda: 1,
    turnGamma: 1,
    divideByStd: false,
    whiten: false,
    remask: true,
  } as const),
  ...({ klCoef: 0, klEstimator: 'k1', scale: 1, choicesOnly: false } as const),
  masks: { advantage: true, whiten: true, value: true, klReward: true, policy: true, regularizer: true },
};

/** Takes the steps of a lesson again; those that left the policy as it was are left out. */
async function retake({ policy, math }: Replay, { steps }: Lesson, before: NetworkState): Promise<Taken[]> {
  const takenSteps: Taken[] = [];
  let { weights } = before;
  math.show();
  await policy.report(); // of steps before
  for (const settings of steps) {
    const { rows, objective, optimizer, temperature } = settings;
    if (optimizer.criticOnly) continue;
    await policy.learn(rows, objective, optimizer, temperature);
    const [stats] = (await policy.report()).steps;
    if (stats?.skipped !== '') continue;
    const { policy: state } = await policy.readState();
    const scale = clipScale(stats.gradNorm, optimizer.maxGradNorm);
    takenSteps.push({
      settings,
      weights,
      terms: math.terms(),
      scale,
      sizes: stepSizes(policy.parameters, state, optimizer),
    });
    ({ weights } = state);
  }
  return takenSteps;
}

/** D of the step that led to `state`, in the order of `parameters`. */
export function stepSizes(
  parameters: readonly Parameter[],
  { adamV, steps }: NetworkState,
  optimizer: OptimizerSettings,
): Float64Array {
  const { learningRate, beta1, beta2, eps } = optimizer;
  const rate = learningRate / (1 - beta1 ** steps);
  const correction = 1 / (1 - beta2 ** steps);
  return flat(parameters, adamV).map((v) => rate / (Math.sqrt(v * correction) + eps));
}

/** What weight decay of one step adds to ⟨direction, Δθ⟩. */
export function decayed(
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

/** All tensors that are learned one after the other, in their order; zeros for one that is not given. */
export function flat(parameters: readonly Parameter[], tensors: Weights): Float64Array {
  const out = new Float64Array(parameters.reduce((sum, { size }) => sum + size, 0));
  let at = 0;
  for (const { name, size } of parameters) {
    out.set(tensors.get(name) ?? [], at);
    at += size;
  }
  return out;
}

/** Σ aᵢ·bᵢ over the entries of a. */
export function dot(a: Float64Array, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}

/** ∇ of the log-probability of the token at `position`, for a policy of one row that has the weights and the grammar. */
export async function logprobGradient(
  reader: ReadingPolicy,
  row: RecordedRow,
  position: number,
  temperature: number,
): Promise<Weights> {
  const none = new Float32Array(row.tokens.length);
  const only = none.slice().fill(1, position, position + 1);
  reader.load(row, {
    ...{ oldLogprobs: none, refLogprobs: none, oldValues: none, returns: none, valueMask: none },
    ...{ advantages: only.map((one) => -one), lossMask: only },
  });
  // descent on −A·log π of the one token with A = −1: the objective is its log-probability itself
  await reader.accumulate(Int32Array.of(0), ITSELF, temperature);
  return reader.gradients();
}

const ITSELF = {
  ...({
    surrogate: 'plain',
    clipLow: 0,
    clipHigh: 0,
    dualClip: 0,
    klEstimator: 'k1',
    aggregation: 'token-mean',
  } as const),
  ...{ klCoef: 0, entropyCoef: 0, valueCoef: 0, valueClip: 0 },
};
