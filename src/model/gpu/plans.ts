import { compile, type CompileProgress } from '../../gpu/compile.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import { criticConfig, type PolicySpec } from '../policy.ts';
import { recordCredit, type CreditPlans } from './creditPlans.ts';
import { Decoder } from './decoder.ts';
import type { OutputHeads } from './finalNorm.ts';
import type { KernelVariants } from './kernelSets.ts';
import { STEP_KNOBS_SCALARS } from './knobs.ts';
import { recordForward, recordLearning, type MicroBatch } from './learner.ts';
import { recordClosing, recordOpening, recordRounding, type StepParts } from './optimizerStep.ts';
import { WORK_KINDS, type WorkKind } from './options.ts';
import { knobsOf, minibatchOf, type DeviceTensors } from './deviceTensors.ts';
import type { NetworkSpec } from './transformer.ts';

/** The plans of one network's optimizer step: `opening` runs once, `learn` once per micro-batch, `closing` once. */
export interface StepPlans {
  readonly opening: Plan;
  readonly learn: Plan;
  readonly closing: Plan;
}

/** All plans of a policy. */
export interface Plans {
  readonly scoreLearner: Plan;
  readonly scoreReference: Plan;
  readonly scoreCritic: Plan | null;
  readonly copyOldToReference: Plan; // copies the old log-probabilities to the reference's
  readonly credit: CreditPlans;
  readonly policy: StepPlans;
  /** The policy's closing if only the critic learns: it measures the step without taking it. */
  readonly closingWithoutUpdate: Plan;
  readonly critic: StepPlans | null;
  /** Plan k makes the k-th R rows of the batch the current micro-batch. */
  readonly selectBatchRows: readonly Plan[];
  /** Plan k makes the k-th R rows of the minibatch the current micro-batch. */
  readonly selectMinibatchRows: readonly Plan[];
  readonly rounding: Plan; // after weights were written; for forward passes that read f16
  readonly decoder: Decoder;
}

const LANGUAGE_HEAD: OutputHeads = { language: true, value: false };
const VALUE_HEAD: OutputHeads = { language: false, value: true };

export function recordPlans(
  recorder: Recorder,
  variants: KernelVariants,
  spec: PolicySpec,
  tensors: DeviceTensors,
): Plans {
  const { rows: B, length: T, model } = spec;
  const { batch, policy, critic, R } = tensors;
  const common = { variants, rotaryTable: tensors.rotaryTable };
  const network: NetworkSpec = { ...common, model, layout: policy.layout };
  const micro: MicroBatch = {
    recorder,
    batch,
    acts: tensors.activations,
    grads: tensors.gradients,
    positions: tensors.positions,
    rowsByToken: tensors.rowsByToken,
    rows: tensors.rows,
    knobs: knobsOf(tensors, 'policy'),
    B,
    T,
  };
  const step: StepParts = { ...micro, minibatch: minibatchOf(tensors) };
  const outputHeads: OutputHeads = { language: true, value: spec.critic === 'shared' };
  const forward = (
    label: string,
    networkSpec: NetworkSpec,
    weights: Tensor,
    usedHeads: OutputHeads,
    scores: Tensor,
  ) => {
    const plan = new Plan(recorder, label);
    recordForward(plan, micro, networkSpec, weights, usedHeads, { scores, values: batch.oldValues });
    return plan;
  };
  const copyOldToReference = new Plan(recorder, 'same reference');
  copyOldToReference.copy(batch.oldScores, 0, batch.refScores, 4 * B * T);
  const criticParts = critic && {
    network: { ...common, model: criticConfig(model), layout: critic.layout },
    networkTensors: critic,
  };
  const copyRows = (from: Tensor, start: number) => {
    const plan = new Plan(recorder, 'rows');
    plan.copy(from, start, tensors.rows);
    return plan;
  };
  const starts = Array.from({ length: tensors.rowSlots / R }, (_, k) => k * R);
  const criticKnobs = knobsOf(tensors, 'critic');
  return {
    scoreLearner: forward('score', network, policy.passWeights, outputHeads, batch.oldScores),
    scoreReference: forward('score reference', network, tensors.reference, LANGUAGE_HEAD, batch.refScores),
    scoreCritic:
      criticParts &&
      forward('score critic', criticParts.network, criticParts.networkTensors.passWeights, VALUE_HEAD, batch.oldScores),
    copyOldToReference,
    credit: recordCredit(recorder, batch, tensors.creditSettings, B, T),
    policy: {
      opening: recordOpening(step, policy, 'opening', true),
      learn: recordLearning(micro, network, policy, outputHeads, 'learning'),
      closing: recordClosing(step, policy, outputHeads, 'closing'),
    },
    closingWithoutUpdate: recordClosing(step, policy, outputHeads, 'measured', true),
    critic: criticParts && {
      // the policy's opening has computed the tokens' weights
      opening: recordOpening(step, criticParts.networkTensors, 'critic opening', false),
      learn: recordLearning(
        { ...micro, knobs: criticKnobs },
        criticParts.network,
        criticParts.networkTensors,
        VALUE_HEAD,
        'critic learning',
      ),
      closing: recordClosing({ ...step, knobs: criticKnobs }, criticParts.networkTensors, VALUE_HEAD, 'critic closing'),
    },
    selectBatchRows: starts.map((start) => copyRows(tensors.allRows, start)),
    selectMinibatchRows: starts.map((start) => copyRows(tensors.stepInputs, 2 * STEP_KNOBS_SCALARS + start)),
    rounding: recordRounding(recorder, critic ? [policy, critic] : [policy]),
    decoder: new Decoder(recorder, network, spec, policy.passWeights, batch, tensors.decoder),
  };
}

export function plansOf(plans: Plans, work: WorkKind): readonly Plan[] {
  if (work === 'drawing') return plans.decoder.plans;
  if (work === 'crediting') return Object.values(plans.credit);
  const { policy, critic, scoreLearner, scoreReference, scoreCritic } = plans;
  return [
    ...[scoreLearner, scoreReference, ...(scoreCritic ? [scoreCritic] : []), plans.copyOldToReference],
    ...[policy, ...(critic ? [critic] : [])].flatMap(({ opening, learn, closing }) => [opening, learn, closing]),
    ...[plans.closingWithoutUpdate, plans.rounding],
  ];
}

/** Compiles all kinds of work by default, and always the pipelines for writing weights. Throws NoGpuError. */
export async function compilePlans(
  recorder: Recorder,
  plans: Plans,
  { work = WORK_KINDS, progress }: { readonly work?: readonly WorkKind[]; readonly progress?: CompileProgress },
): Promise<void> {
  const wanted = [
    ...plans.rounding.dispatches,
    ...work.flatMap((kind) => plansOf(plans, kind).flatMap(({ dispatches }) => dispatches)),
  ];
  await compile(recorder, progress, [...new Set(wanted.map(({ entry }) => entry))]);
}

/** One plan for each micro-batch of `rowsPerMicroBatch` rows of an optimizer step over `rows` rows; at least one. */
export function microBatchSelections(
  { selectMinibatchRows }: Plans,
  rows: number,
  rowsPerMicroBatch: number,
): readonly Plan[] {
  return selectMinibatchRows.slice(0, Math.max(1, Math.ceil(rows / rowsPerMicroBatch)));
}

/** Encodes opening and gradients, but not the closing, of a step over `rows` rows, `rowsPerMicroBatch` per micro-batch. */
export function encodeGradients(
  plans: Plans,
  encoder: GPUCommandEncoder,
  rows: number,
  rowsPerMicroBatch: number,
): void {
  plans.policy.opening.encode(encoder);
  for (const copy of microBatchSelections(plans, rows, rowsPerMicroBatch)) {
    copy.encode(encoder);
    plans.policy.learn.encode(encoder);
  }
}

/** Dispatches and FLOPs of a policy's optimizer step of one micro-batch: forward, objective, backward, opening, closing. */
export function stepCost({ policy }: Plans): { readonly dispatches: number; readonly flops: number } {
  const parts = [policy.opening, policy.learn, policy.closing];
  return {
    dispatches: parts.reduce((sum, plan) => sum + plan.dispatchCount, 0),
    flops: parts.reduce((sum, plan) => sum + plan.flops, 0),
  };
}
