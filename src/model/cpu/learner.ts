import type { Grammar } from '../../domain/tokens.ts';
import type { PolicySpec } from '../policy.ts';
import { NAN_MEASUREMENTS, NO_MEASUREMENTS, type StepStats } from '../policyReport.ts';
import type { LearningMath } from '../learningMath.ts';
import type { ObjectiveSettings, OptimizerSettings } from '../learningSettings.ts';
import { type Activations, viewOf } from './activations.ts';
import { type Batch, hasToken } from '../learning/batchArrays.ts';
import type { LanguageHead } from './head.ts';
import type { Network, NetworkTensors } from './network.ts';
import { firstNonFinite } from '../learning/trainedTensors.ts';
import { adamW, norm } from '../learning/optimizer.ts';
import { packRows, type Pass } from './packing.ts';
import type { Real } from '../learning/real.ts';
import { PASS_PARTS, type PassPart } from './team/team.ts';
import { scatterAddRows } from './layers.ts';
import { backward, forward, packedAttention } from './transformer.ts';
import { scoreValues, valuesBackward } from '../learning/valueHead.ts';

export interface NetworkWithBuffers {
  readonly network: Network;
  readonly buffers: Activations;
}

export interface Learner {
  readonly critic: PolicySpec['critic'];
  readonly policy: NetworkWithBuffers;
  readonly separateCritic: NetworkWithBuffers | null; // the separate critic, if there is one
  readonly head: LanguageHead;
  readonly rotary: Real;
  readonly batch: Batch;
  readonly math: LearningMath;
}

/** Scoring runs rows in groups of about this many tokens, so that a layer's activations of a part stay in the processor's cache. */
const SCORE_TOKENS = 2048 * PASS_PARTS;

function runForward(
  networkWithBuffers: NetworkWithBuffers,
  tensors: NetworkTensors,
  pass: Pass,
  rotary: Real,
  keepActivations: boolean,
): void {
  const { buffers } = networkWithBuffers;
  const { tokens, positions } = pass.packedTokens;
  const parts = pass.parts.map((range) => () => {
    const view = viewOf(buffers, range);
    const [from, end] = [range.from, range.from + range.count];
    const packed = { count: range.count, tokens: tokens.subarray(from, end), positions: positions.subarray(from, end) };
    forward(view, tensors, packed, rotary, packedAttention(view, packed, keepActivations), keepActivations);
  });
  buffers.arithmetic.runPass(parts);
}

/** Adds what follows from `buffers.dhidden` to the network's gradients, except the heads. */
function runBackward({ buffers, network }: NetworkWithBuffers, pass: Pass, rotary: Real): void {
  const { tensors, gradientTensors: gradients, model } = network;
  const parts = pass.parts.map((range): PassPart => (inTurn) => {
    backward(viewOf(buffers, range), tensors, gradients, range.count, rotary, inTurn);
  });
  buffers.arithmetic.runPass(parts);
  // after all parts, because the head adds to the same matrix if it is tied
  const { count, tokens } = pass.packedTokens;
  scatterAddRows(gradients.embed, buffers.dstream, tokens, count, model.hidden_size);
}

function writeValues(networkWithBuffers: NetworkWithBuffers, pass: Pass, values: Real): void {
  const { valueWeight, valueBias } = networkWithBuffers.network.tensors;
  if (!valueWeight || !valueBias) return;
  scoreValues(
    values,
    networkWithBuffers.buffers.hidden,
    valueWeight,
    valueBias,
    pass.valueTargets,
    networkWithBuffers.network.model.hidden_size,
  );
}

/**
 * Writes the old log-probability and entropy of every token to the batch, and the critic's value: that of a shared
 * critic always, that of a separate critic with `values`. The reference's log-probabilities are computed with the
 * weights `reference`; without `reference`, they are set to the old ones.
 */
export function scoreBatch(
  learner: Learner,
  grammar: Grammar,
  temperature: number,
  { reference, values }: { readonly reference: NetworkTensors | null; readonly values: boolean },
): void {
  const { batch, policy, head, rotary } = learner;
  const separate = values ? learner.separateCritic : null;
  for (const rows of groupRows(batch)) {
    const pass = packRows(batch, rows, { head: null, value: null });
    const { headTargets: targets } = pass;
    const weights = policy.network.tensors;
    runForward(policy, weights, pass, rotary, false);
    const hidden = policy.buffers.hidden;
    head.score(hidden, weights.head, targets, grammar, temperature, batch.oldLogprobs, batch.oldEntropies);
    writeValues(policy, pass, batch.oldValues);
    if (separate) {
      runForward(separate, separate.network.tensors, pass, rotary, false);
      writeValues(separate, pass, batch.oldValues);
    }
    if (reference) {
      runForward(policy, reference, pass, rotary, false);
      // the reference's entropies go to `entropies` and aren't used: learn() overwrites them before it reads them
      head.score(
        policy.buffers.hidden,
        reference.head,
        targets,
        grammar,
        temperature,
        batch.refLogprobs,
        batch.entropies,
      );
    }
  }
  if (!reference) batch.refLogprobs.set(batch.oldLogprobs);
}

function groupRows(batch: Batch): Int32Array[] {
  const groups: Int32Array[] = [];
  let rows: number[] = [];
  let tokens = 0;
  for (let row = 0; row < batch.rows; row++) {
    rows.push(row);
    tokens += batch.lengths[row]!;
    if (tokens >= SCORE_TOKENS || row === batch.rows - 1) {
      groups.push(Int32Array.from(rows));
      rows = [];
      tokens = 0;
    }
  }
  return groups;
}

/**
 * Computes the gradients of the objective over the given rows, in the networks' gradient pools, and returns the
 * measurements. Changes no weight. Checks the weights first: if one is a NaN or an infinity, nothing is run, and the
 * losses, the entropy, the KL and the gradient norm are NaN. The loss of a separate critic is the value loss with
 * coefficient 1, which isn't part of `total`. Its tensors are named `critic.NAME`.
 */
export function accumulateGradients(
  learner: Learner,
  grammar: Grammar,
  rows: Int32Array,
  settings: ObjectiveSettings,
  temperature: number,
): StepStats {
  const { batch, policy, head, rotary, math } = learner;
  const { network, buffers } = policy;
  const d = network.model.hidden_size;
  network.gradients.fill(0);
  learner.separateCritic?.network.gradients.fill(0);
  const badWeight = firstBadTensor('weight', learner, (n) => n.weights);
  if (badWeight !== '')
    return { ...NO_MEASUREMENTS, ...NAN_MEASUREMENTS, tokens: 0, skipped: 'non-finite', culprit: badWeight };
  const valueMask = learner.critic === 'none' ? new Float32Array(batch.valueMask.length) : batch.valueMask;
  const pass = packRows(batch, rows, { head: [batch.lossMask, batch.regularizerMask], value: [valueMask] });
  // with an estimator that needs no critic, there are no values to learn
  const separate = pass.valueTargets.count > 0 ? learner.separateCritic : null;
  if (!rows.some((row) => hasToken(batch.lossMask, row, batch.length)))
    return { ...NO_MEASUREMENTS, tokens: 0, skipped: 'empty', culprit: '' };

  runForward(policy, network.tensors, pass, rotary, true);
  head.score(
    buffers.hidden,
    network.tensors.head,
    pass.headTargets,
    grammar,
    temperature,
    batch.logprobs,
    batch.entropies,
  );
  writeValues(policy, pass, batch.values);
  if (separate) {
    runForward(separate, separate.network.tensors, pass, rotary, true);
    writeValues(separate, pass, batch.values);
  }
  const coefficients = learner.separateCritic ? { ...settings, valueCoef: 1 } : settings;
  const objectiveParts = math.objective({ ...batch, valueMask }, rows, coefficients, batch);

  buffers.dhidden.fill(0, 0, pass.packedTokens.count * d);
  const { dlogprobs, dentropies } = batch;
  const { tensors, gradientTensors: gradients } = network;
  head.backward(
    buffers.dhidden,
    gradients.head,
    buffers.hidden,
    tensors.head,
    pass.headTargets,
    grammar,
    temperature,
    dlogprobs,
    dentropies,
  );
  valueHeadBackward(policy, pass, batch.dvalues);
  runBackward(policy, pass, rotary);
  if (separate) {
    separate.buffers.dhidden.fill(0, 0, pass.packedTokens.count * d);
    valueHeadBackward(separate, pass, batch.dvalues);
    runBackward(separate, pass, rotary);
  }
  const badGradient = firstBadTensor('gradient', learner, (n) => n.gradients);
  return {
    ...objectiveParts,
    total: learner.separateCritic
      ? objectiveParts.policyLoss - settings.entropyCoef * objectiveParts.entropy + klTerm(settings, objectiveParts.kl)
      : objectiveParts.total,
    gradNorm: norm(network.gradients),
    criticGradNorm: separate ? norm(separate.network.gradients) : 0,
    skipped: badGradient === '' ? '' : 'non-finite',
    culprit: badGradient,
  };
}

const klTerm = (settings: ObjectiveSettings, kl: number) => (settings.klCoef === 0 ? 0 : settings.klCoef * kl);

function valueHeadBackward(networkWithBuffers: NetworkWithBuffers, pass: Pass, dvalues: Float64Array): void {
  const { tensors, gradientTensors: gradients, model } = networkWithBuffers.network;
  if (!tensors.valueWeight || !gradients.valueWeight || !gradients.valueBias) return;
  valuesBackward(
    networkWithBuffers.buffers.dhidden,
    gradients.valueWeight,
    gradients.valueBias,
    dvalues,
    networkWithBuffers.buffers.hidden,
    tensors.valueWeight,
    pass.valueTargets,
    model.hidden_size,
  );
}

/** Returns 'KIND NAME' of the first tensor with a NaN or an infinity, or ''. Searches the policy before the critic. */
function firstBadTensor(kind: 'weight' | 'gradient', learner: Learner, pool: (network: Network) => Real): string {
  const badInPolicy = firstNonFinite(learner.policy.network.layout, pool(learner.policy.network));
  if (badInPolicy !== '') return `${kind} ${badInPolicy}`;
  if (!learner.separateCritic) return '';
  const badInCritic = firstNonFinite(learner.separateCritic.network.layout, pool(learner.separateCritic.network));
  return badInCritic === '' ? '' : `${kind} critic.${badInCritic}`;
}

/** Skips the policy with `criticOnly`, a separate critic without targets, and everything if `stats` says that the step was skipped. */
export function stepNetworks(learner: Learner, stats: StepStats, settings: OptimizerSettings): void {
  if (stats.skipped !== '') return;
  if (!settings.criticOnly) adamW(learner.policy.network, stats.gradNorm, settings.learningRate, settings);
  if (learner.separateCritic && learner.batch.valueMask.includes(1)) {
    adamW(learner.separateCritic.network, stats.criticGradNorm, settings.criticLearningRate, settings);
  }
}
