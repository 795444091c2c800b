import { compile, type CompileProgress } from '../../gpu/compile.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import { criticConfig, type PolicySpec } from '../policy.ts';
import { recordCredit, type CreditPlans } from './creditPlans.ts';
import { Decoder } from './decoder.ts';
import type { Heads } from './finalNorm.ts';
import type { SetParts } from './kernelSets.ts';
import { KNOBS_SCALARS } from './knobs.ts';
import { recordForward, recordLearning, type MicroBatch } from './learner.ts';
import { recordClosing, recordOpening, recordRounding, type StepParts } from './optimizerStep.ts';
import { WORK, type Work } from './options.ts';
import { knobsOf, minibatchOf, type DeviceTensors } from './deviceTensors.ts';
import type { Trunk } from './transformer.ts';

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
  readonly sameReference: Plan; // copies the old log-probabilities to the reference's
  readonly credit: CreditPlans;
  readonly policy: StepPlans;
  readonly measured: Plan; // the policy's closing if only the critic learns: measures the step without taking it
  readonly critic: StepPlans | null;
  readonly scoreRows: readonly Plan[]; // plan k makes the k-th R rows of the batch the current micro-batch
  readonly stepRows: readonly Plan[]; // plan k makes the k-th R rows of the minibatch the current micro-batch
  readonly rounding: Plan; // after weights were written; for forward passes that read halves
  readonly decoder: Decoder;
}

const LANGUAGE: Heads = { language: true, value: false };
const VALUE: Heads = { language: false, value: true };

/** Records every plan of a policy over allocated tensors. */
export function recordPlans(recorder: Recorder, choice: SetParts, spec: PolicySpec, tensors: DeviceTensors): Plans {
  const { rows: B, length: T, model } = spec;
  const { batch, policy, critic, R } = tensors;
  const shared = { choice, rotaryTable: tensors.rotaryTable };
  const trunk: Trunk = { ...shared, model, layout: policy.layout };
  const micro: MicroBatch = {
    recorder,
    batch,
    acts: tensors.activations,
    grads: tensors.gradients,
    positions: tensors.positions,
    places: tensors.places,
    rows: tensors.rows,
    knobs: knobsOf(tensors, 'policy'),
    B,
    T,
  };
  const step: StepParts = { ...micro, minibatch: minibatchOf(tensors) };
  const heads: Heads = { language: true, value: spec.critic === 'shared' };
  const forward = (label: string, of: Trunk, weights: Tensor, use: Heads, scores: Tensor) => {
    const plan = new Plan(recorder, label);
    recordForward(plan, micro, of, weights, use, { scores, values: batch.oldValues });
    return plan;
  };
  const sameReference = new Plan(recorder, 'same reference');
  sameReference.copy(batch.oldScores, 0, batch.refScores, 4 * B * T);
  const criticSide = critic && {
    trunk: { ...shared, model: criticConfig(model), layout: critic.layout },
    pools: critic,
  };
  const copyRows = (from: Tensor, start: number) => {
    const plan = new Plan(recorder, 'rows');
    plan.copy(from, start, tensors.rows);
    return plan;
  };
  const starts = Array.from({ length: tensors.capacity / R }, (_, k) => k * R);
  const criticKnobs = knobsOf(tensors, 'critic');
  return {
    scoreLearner: forward('score', trunk, policy.shadow, heads, batch.oldScores),
    scoreReference: forward('score reference', trunk, tensors.reference, LANGUAGE, batch.refScores),
    scoreCritic:
      criticSide && forward('score critic', criticSide.trunk, criticSide.pools.shadow, VALUE, batch.oldScores),
    sameReference,
    credit: recordCredit(recorder, batch, tensors.creditSettings, B, T),
    policy: {
      opening: recordOpening(step, policy, 'opening', true),
      learn: recordLearning(micro, trunk, policy, heads, 'learning'),
      closing: recordClosing(step, policy, heads, 'closing'),
    },
    measured: recordClosing(step, policy, heads, 'measured', true),
    critic: criticSide && {
      // the policy's opening has computed the tokens' weights
      opening: recordOpening(step, criticSide.pools, 'critic opening', false),
      learn: recordLearning(
        { ...micro, knobs: criticKnobs },
        criticSide.trunk,
        criticSide.pools,
        VALUE,
        'critic learning',
      ),
      closing: recordClosing({ ...step, knobs: criticKnobs }, criticSide.pools, VALUE, 'critic closing'),
    },
    scoreRows: starts.map((start) => copyRows(tensors.allRows, start)),
    stepRows: starts.map((start) => copyRows(tensors.control, 2 * KNOBS_SCALARS + start)),
    rounding: recordRounding(recorder, critic ? [policy, critic] : [policy]),
    decoder: new Decoder(recorder, trunk, spec, policy.shadow, batch, tensors.decoder, tensors.activations),
  };
}

/** Every plan that a kind of work replays. */
export function plansOf(plans: Plans, work: Work): readonly Plan[] {
  if (work === 'drawing') return plans.decoder.plans;
  if (work === 'crediting') return Object.values(plans.credit);
  const { policy, critic, scoreLearner, scoreReference, scoreCritic } = plans;
  return [
    ...[scoreLearner, scoreReference, ...(scoreCritic ? [scoreCritic] : []), plans.sameReference],
    ...[policy, ...(critic ? [critic] : [])].flatMap(({ opening, learn, closing }) => [opening, learn, closing]),
    ...[plans.measured, plans.rounding],
  ];
}

/**
 * Compiles the pipelines of some kinds of work, by default of all, and always those for writing weights. Throws
 * NoGpuError.
 */
export async function compilePlans(
  recorder: Recorder,
  plans: Plans,
  { work = WORK, progress }: { readonly work?: readonly Work[]; readonly progress?: CompileProgress },
): Promise<void> {
  const wanted = [...plans.rounding.list, ...work.flatMap((kind) => plansOf(plans, kind).flatMap(({ list }) => list))];
  await compile(recorder, progress, [...new Set(wanted.map(({ entry }) => entry))]);
}

/**
 * The plans that select each micro-batch of an optimizer step over `rows` rows, `perMicro` rows each. At least one
 * plan.
 */
export function microCopies({ stepRows }: Plans, rows: number, perMicro: number): readonly Plan[] {
  return stepRows.slice(0, Math.max(1, Math.ceil(rows / perMicro)));
}

/**
 * Encodes opening and gradients of a policy's optimizer step over `rows` rows, `perMicro` per micro-batch, but not its
 * closing.
 */
export function encodeGradients(plans: Plans, encoder: GPUCommandEncoder, rows: number, perMicro: number): void {
  plans.policy.opening.encode(encoder);
  for (const copy of microCopies(plans, rows, perMicro)) {
    copy.encode(encoder);
    plans.policy.learn.encode(encoder);
  }
}

/**
 * Dispatches and FLOPs of a policy's optimizer step of one micro-batch: forward, objective, backward, opening, closing.
 */
export function stepCost({ policy }: Plans): { readonly dispatches: number; readonly flops: number } {
  const parts = [policy.opening, policy.learn, policy.closing];
  return {
    dispatches: parts.reduce((sum, plan) => sum + plan.dispatches, 0),
    flops: parts.reduce((sum, plan) => sum + plan.flops, 0),
  };
}
