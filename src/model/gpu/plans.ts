import { compile, type CompileProgress } from '../../gpu/compile.ts';
import { Plan, type Recorder } from '../../gpu/plan.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import { criticConfig, type PolicySpec } from '../policy.ts';
import { agentNetwork, type AgentNetwork, type OutputHeads } from './agentNetwork.ts';
import { recordCredit, type CreditPlans } from './creditPlans.ts';
import { Decoder } from './decoder.ts';
import type { KernelVariants } from './kernelSets.ts';
import { STEP_KNOBS_SCALARS } from './knobs.ts';
import { hasTeacher, recordForward, recordLearning, recordTeacherRows, type MicroBatch } from './learner.ts';
import { recordClosing, recordOpening, recordRounding, type StepParts } from './optimizerStep.ts';
import { WORK_KINDS, type WorkKind } from './options.ts';
import { knobsOf, minibatchOf, type DeviceTensors } from './deviceTensors.ts';
import { microBatchWords, nodeCounts } from './microBatchTokens.ts';
import { planFor } from './slots.ts';

/** A plan for each number of nodes, in ascending order; see nodeCounts. */
type PlansByNodes = ReadonlyMap<number, Plan>;

/** The plans of one network's optimizer step: `opening` runs once, `learn` once per micro-batch, `closing` once. */
export interface StepPlans {
  readonly opening: Plan;
  readonly learn: PlansByNodes;
  readonly closing: Plan;
}

export interface Plans {
  readonly clearScores: Plan; // the scores and values of the whole batch become 0
  readonly scoreLearner: PlansByNodes;
  readonly scoreReference: PlansByNodes;
  readonly scoreCritic: PlansByNodes | null;
  readonly copyOldToReference: Plan; // copies the old log-probabilities to the reference's
  readonly credit: CreditPlans;
  readonly policy: StepPlans;
  /** The policy's closing if only the critic learns: it measures the step without taking it. */
  readonly closingWithoutUpdate: Plan;
  readonly critic: StepPlans | null;
  /** Plan k makes the k-th R rows that were placed the current micro-batch. */
  readonly selectMicroBatch: readonly Plan[];
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
  const network = agentNetwork(common, model, policy.layout, policy.passWeights);
  const micro: MicroBatch = {
    recorder,
    batch,
    acts: tensors.activations,
    grads: tensors.gradients,
    logits: tensors.logits,
    tokens: tensors.tokens,
    nodesByToken: tensors.nodesByToken,
    rows: tensors.rows,
    knobs: knobsOf(tensors, 'policy'),
    B,
    T,
  };
  const step: StepParts = { ...micro, minibatch: minibatchOf(tensors) };
  const outputHeads: OutputHeads = { language: true, value: spec.critic === 'shared' };
  const byNodes = (record: (ofSize: Pick<MicroBatch, 'acts'>, size: number) => Plan): PlansByNodes =>
    new Map(nodeCounts(R, T).map((N) => [N, record({ acts: { ...tensors.activations, N } }, N)]));
  const forward = (label: string, scored: AgentNetwork, usedHeads: OutputHeads, scores: Tensor) =>
    byNodes((ofSize, N) => {
      const plan = new Plan(recorder, `${label} ${N}`);
      recordForward(plan, { ...micro, ...ofSize }, scored, usedHeads, { scores, values: batch.oldValues });
      if (hasTeacher(batch) && scores === batch.refScores)
        recordTeacherRows(plan, { ...micro, ...ofSize }, model.vocab_size);
      return plan;
    });
  const clearScores = new Plan(recorder, 'clear scores');
  for (const table of [batch.oldScores, batch.refScores, batch.scores, batch.oldValues, batch.values]) {
    clearScores.clear(table);
  }
  const copyOldToReference = new Plan(recorder, 'same reference');
  copyOldToReference.copy(batch.oldScores, 0, batch.refScores, 4 * B * T);
  const criticParts = critic && {
    network: agentNetwork(common, criticConfig(model), critic.layout, critic.passWeights),
    networkTensors: critic,
  };
  const selectMicroBatch = Array.from({ length: tensors.rowSlots / R }, (_, k) => {
    const plan = new Plan(recorder, 'micro-batch');
    plan.copy(tensors.placedTokens, k * microBatchWords(R, T), tensors.tokens.whole);
    plan.copy(tensors.stepInputs, 2 * STEP_KNOBS_SCALARS + k * R, tensors.rows);
    return plan;
  });
  const criticKnobs = knobsOf(tensors, 'critic');
  return {
    clearScores,
    scoreLearner: forward('score', network, outputHeads, batch.oldScores),
    scoreReference: forward(
      'score reference',
      agentNetwork(common, model, policy.layout, tensors.reference),
      LANGUAGE_HEAD,
      batch.refScores,
    ),
    scoreCritic: criticParts && forward('score critic', criticParts.network, VALUE_HEAD, batch.oldScores),
    copyOldToReference,
    credit: recordCredit(recorder, batch, tensors.creditSettings, B, T),
    policy: {
      opening: recordOpening(step, policy, 'opening', true),
      learn: byNodes((ofSize, N) =>
        recordLearning({ ...micro, ...ofSize }, network, policy, outputHeads, `learning ${N}`),
      ),
      closing: recordClosing(step, policy, outputHeads, 'closing'),
    },
    closingWithoutUpdate: recordClosing(step, policy, outputHeads, 'measured', true),
    critic: criticParts && {
      // the policy's opening has computed the tokens' weights
      opening: recordOpening(step, criticParts.networkTensors, 'critic opening', false),
      learn: byNodes((ofSize, N) =>
        recordLearning(
          { ...micro, ...ofSize, knobs: criticKnobs },
          criticParts.network,
          criticParts.networkTensors,
          VALUE_HEAD,
          `critic learning ${N}`,
        ),
      ),
      closing: recordClosing({ ...step, knobs: criticKnobs }, criticParts.networkTensors, VALUE_HEAD, 'critic closing'),
    },
    selectMicroBatch,
    rounding: recordRounding(recorder, critic ? [policy, critic] : [policy]),
    decoder: new Decoder(recorder, network, spec, batch, tensors.decoder),
  };
}

export function plansOf(plans: Plans, work: WorkKind): readonly Plan[] {
  if (work === 'drawing') return plans.decoder.plans;
  if (work === 'crediting') return Object.values(plans.credit);
  const { policy, critic, scoreLearner, scoreReference, scoreCritic } = plans;
  return [
    ...[scoreLearner, scoreReference, ...(scoreCritic ? [scoreCritic] : [])].flatMap((byNodes) => [
      ...byNodes.values(),
    ]),
    plans.copyOldToReference,
    ...[policy, ...(critic ? [critic] : [])].flatMap(({ opening, learn, closing }) => [
      opening,
      ...learn.values(),
      closing,
    ]),
    ...[plans.closingWithoutUpdate, plans.rounding, plans.credit.supplied],
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

/** Encodes passes over micro-batches of so many nodes, one after the other. */
export function encodePasses(
  { selectMicroBatch }: Plans,
  encoder: GPUCommandEncoder,
  nodes: readonly number[],
  passes: readonly PlansByNodes[],
): void {
  for (const [k, count] of nodes.entries()) {
    selectMicroBatch[k]!.encode(encoder);
    for (const pass of passes) planFor(pass, count).encode(encoder);
  }
}

/** Encodes opening and gradients, but not the closing, of a step. */
export function encodeGradients(
  { opening, learn }: StepPlans,
  plans: Plans,
  encoder: GPUCommandEncoder,
  nodes: readonly number[],
): void {
  opening.encode(encoder);
  encodePasses(plans, encoder, nodes, [learn]);
}

/** Dispatches and FLOPs of a policy's optimizer step of one micro-batch whose rows are full and share nothing: forward, objective, backward, opening, closing. */
export function stepCost({ policy }: Plans): { readonly dispatches: number; readonly flops: number } {
  const parts = [policy.opening, [...policy.learn.values()].at(-1)!, policy.closing];
  return {
    dispatches: parts.reduce((sum, plan) => sum + plan.dispatchCount, 0),
    flops: parts.reduce((sum, plan) => sum + plan.flops, 0),
  };
}
