import { ESTIMATORS, usesCritic, usesRewards } from '../../config/estimators.ts';
import { submit, upload, type Gpu } from '../../gpu/device.ts';
import { readOnce } from '../../gpu/readback.ts';
import { write } from '../../gpu/tensor.ts';
import type { WorkProfile } from '../../domain/profile.ts';
import type { BackendInfo } from '../../domain/backendInfo.ts';
import { freeGrammar, type Grammar, type TokenRecord } from '../../domain/tokens.ts';
import { type ModelConfig, type Parameter, parameters, type Weights } from '../architecture.ts';
import {
  packGrammar,
  packRecord,
  tokenMarks,
  writeContextStarts,
  writeGivenCredit,
  writeCreditMarks,
  writeTeacher,
} from './deviceBatch.ts';
import { creditPlan } from './creditPlans.ts';
import { stepInputWords, creditKnobs, CREDIT_KNOBS_SCALARS, TEMPERATURE_OFFSET } from './knobs.ts';
import { openOnDevice } from './onDevice.ts';
import type { GpuPolicyOptions } from './options.ts';
import { makeParts, type PolicyParts } from './parts.ts';
import { encodeGradients, encodePasses, stepCost, type Plans } from './plans.ts';
import { TokenPlacer, type PlacedTokens } from './microBatchTokens.ts';
import { resetNetworks, restoreNetworks, unpack } from './networkTensors.ts';
import { Reporter } from './report.ts';
import { sumPartials } from './partialGradients.ts';
import { StateReader } from './stateReader.ts';
import { sumStats } from './stepLog.ts';
import { checkHeadSize, type DeviceTensors } from './deviceTensors.ts';
import type { Profiler } from './workProfile.ts';
import type { DecodeChunk, DecodedChunk, DrawCounters, Sampling } from '../decoding.ts';
import {
  BackendError,
  type CreditInput,
  type EngineCounters,
  type SuppliedCredit,
  type Policy,
  type PolicySpec,
  type PolicyState,
  type WantedScores,
} from '../policy.ts';
import type { PolicyReport } from '../policyReport.ts';
import type { CreditSettings, ObjectiveSettings, OptimizerSettings } from '../learningSettings.ts';

/**
 * Opens a policy on the GPU device that a page's runs share or, with `ownDevice`, on a device of its own. Throws
 * NoGpuError without an adapter, BackendError if the model cannot fit, and DeviceLostError if the device is lost
 * meanwhile.
 */
export async function openGpuPolicy(
  gpu: GPU | undefined,
  spec: PolicySpec,
  options: GpuPolicyOptions,
): Promise<GpuPolicy> {
  checkHeadSize(spec);
  const open = async (device: Gpu) => {
    const { parts, weights } = await makeParts(device, spec, options);
    const policy = new GpuPolicy(parts);
    policy.setGrammar(freeGrammar(spec.model.vocab_size));
    policy.writeWeights(weights);
    policy.freezeReference();
    return policy;
  };
  return openOnDevice(gpu, options, open, ({ message, dimensions }) => {
    const remedy = dimensions.includes('rows') ? 'Use fewer or shorter rollouts, or a smaller model.' : 'Use a smaller model.'; // prettier-ignore
    return new BackendError(message, remedy, dimensions);
  });
}

/** All GPU work is recorded when it is created; an update creates no buffer, bind group or pipeline. */
export class GpuPolicy implements Policy {
  readonly backend: BackendInfo;
  readonly model: ModelConfig;
  readonly parameters: readonly Parameter[];
  readonly rows: number;
  readonly length: number;
  readonly memoryBytes: number;
  private readonly gpu: Gpu;
  private readonly spec: PolicySpec;
  private readonly tensors: DeviceTensors;
  private readonly plans: Plans;
  private readonly reporter: Reporter;
  private readonly stateReader: StateReader;
  private grammar: Grammar | null = null;
  private readonly teacherTable: Float32Array<ArrayBuffer>; // of the last expert, (B,T,V); empty if the run has no teacher
  private criticTargets = false; // whether the batch has any; without them a separate critic does not learn
  private hasContexts = false; // whether a row of the batch has several
  private readonly profiler: Profiler;
  private readonly placer: TokenPlacer;
  private placed: PlacedTokens | null = null; // what `tensors.placedTokens` has
  readonly lost: Promise<string>;
  readonly loseDevice = (): void => this.gpu.device.destroy();

  /** Use `openGpuPolicy` instead: it also writes grammar and weights. */
  constructor({ gpu, spec, tensors, plans, profiler, backend, sharePrefixes }: PolicyParts) {
    this.gpu = gpu;
    this.lost = gpu.lost;
    this.spec = spec;
    this.model = spec.model;
    this.parameters = parameters(spec.model);
    this.rows = spec.rows;
    this.length = spec.length;
    this.teacherTable = new Float32Array(spec.teacher ? spec.rows * spec.length * spec.model.vocab_size : 0);
    this.memoryBytes = profiler.memoryBytes;
    this.backend = backend;
    this.tensors = tensors;
    this.plans = plans;
    this.profiler = profiler;
    this.placer = new TokenPlacer(spec, tensors.R, tensors.rowSlots, sharePrefixes);
    this.reporter = new Reporter(gpu, spec, tensors);
    this.stateReader = new StateReader(gpu, tensors.policy, tensors.critic);
  }

  setGrammar(grammar: Grammar): void {
    if (grammar === this.grammar) return; // environments hand out the same table for every batch
    write(this.gpu, this.tensors.batch.grammar, packGrammar(grammar, this.model.vocab_size));
    this.grammar = grammar;
  }

  begin(sampling: Sampling): void {
    this.plans.decoder.begin(sampling, this.grammar?.states ?? 1);
    this.placer.clear();
  }

  beginRow(row: number, counters: DrawCounters): void {
    this.plans.decoder.beginRow(row, counters);
    this.placer.clear(row);
  }

  async decode(chunk: DecodeChunk): Promise<DecodedChunk> {
    this.placer.appendForced(chunk);
    const decoded = await this.plans.decoder.decode(chunk, this.placer);
    this.placer.appendDrawn(chunk.maxTokens, decoded);
    return decoded;
  }

  load(record: TokenRecord, suppliedCredit?: SuppliedCredit): void {
    const { batch } = this.tensors;
    write(this.gpu, batch.record, packRecord(record));
    this.placer.load(record);
    this.writeContexts(record.contextStarts);
    if (!suppliedCredit) return;
    writeGivenCredit(this.gpu, batch, suppliedCredit);
    write(this.gpu, this.tensors.creditSettings, new Uint32Array(CREDIT_KNOBS_SCALARS));
    submit(this.gpu, (encoder) => this.plans.credit.supplied.encode(encoder));
    this.criticTargets = suppliedCredit.valueMask.some((m) => m !== 0);
  }

  score(temperature: number, want: WantedScores): void {
    upload(this.gpu, this.tensors.stepInputs.buffer, TEMPERATURE_OFFSET, Float32Array.of(temperature));
    const { nodes } = this.place(Int32Array.from({ length: this.rows }, (_, row) => row));
    const { scoreLearner, scoreReference, scoreCritic } = this.plans;
    const critic = want.values ? scoreCritic : null;
    const readsReference = want.reference || want.teacher === 'reference';
    submit(this.gpu, (encoder) => {
      this.plans.clearScores.encode(encoder);
      const passes = [scoreLearner, ...(readsReference ? [scoreReference] : []), ...(critic ? [critic] : [])];
      encodePasses(this.plans, encoder, nodes, passes);
      if (!readsReference) this.plans.copyOldToReference.encode(encoder);
    });
    if (this.teacherTable.length === 0) return;
    // after the passes, because that of the reference writes its rows
    const { teacherTable, grammar } = this;
    writeTeacher(this.gpu, this.tensors.batch, want.teacher, {
      ...{ teacherTable, grammar: grammar ?? freeGrammar(this.model.vocab_size) },
    });
  }

  credit(input: CreditInput, settings: CreditSettings): void {
    this.reporter.beginBatch();
    const { correction, ...others } = settings;
    const { behaviour } = input;
    const used = behaviour && correction ? settings : others;
    write(this.gpu, this.tensors.creditSettings, creditKnobs(used));
    if (behaviour && correction) write(this.gpu, this.tensors.batch.corrections, behaviour);
    // credit_masks reads the marks from the first mask before it overwrites the masks
    write(this.gpu, this.tensors.batch.masks, tokenMarks(input, settings.choicesOnly));
    write(this.gpu, this.tensors.batch.rewards, input.rewards);
    const { advantageKind, sharesProgress } = ESTIMATORS[settings.estimator];
    const ofTurns = sharesProgress ? 'progress' : 'states';
    if (advantageKind === 'group-turns') writeCreditMarks(this.gpu, this.tensors.batch, input, ofTurns);
    else if (!usesRewards(settings.estimator)) writeCreditMarks(this.gpu, this.tensors.batch, input, 'solved');
    this.writeContexts(this.placer.contextStarts);
    write(this.gpu, this.tensors.batch.rowGroups, input.groups);
    submit(this.gpu, (encoder) => creditPlan(this.plans.credit, settings).encode(encoder));
    this.criticTargets = usesCritic(settings.estimator);
  }

  /** Writes the context starts, unless the batch and the one before have none. */
  private writeContexts(starts: Int32Array | undefined): void {
    const hasContexts = starts?.some((start) => start > 0) ?? false;
    if (hasContexts || this.hasContexts)
      writeContextStarts(this.gpu, this.tensors.batch, starts ?? new Int32Array(this.rows * this.length));
    this.hasContexts = hasContexts;
  }

  learn(rows: Int32Array, objective: ObjectiveSettings, optimizer: OptimizerSettings, temperature: number): void {
    const { nodes, tokens: trainedTokens } = this.prepare(rows, objective, optimizer, temperature);
    const critic = this.criticTargets ? this.plans.critic : null;
    submit(this.gpu, (encoder) => {
      this.reporter.keepEpoch(encoder);
      encodeGradients(this.plans.policy, this.plans, encoder, nodes);
      (optimizer.criticOnly ? this.plans.closingWithoutUpdate : this.plans.policy.closing).encode(encoder);
      if (!critic) return;
      encodeGradients(critic, this.plans, encoder, nodes);
      critic.closing.encode(encoder);
    });
    const { entropyCoef, klCoef, observationLoss, teacherCoef } = objective;
    const valueCoef = this.spec.critic === 'shared' ? objective.valueCoef : 0;
    const computedTokens = nodes.reduce((sum, count) => sum + count, 0);
    const counts = { computedTokens, trainedTokens };
    this.reporter.noteStep({
      entropyCoef,
      klCoef,
      observationLoss,
      teacherCoef,
      valueCoef,
      criticRan: critic !== null,
      counts,
    });
  }

  /** Gradients of one step, by tensor name and before clipping, with its statistics. The weights don't change. For tests and goldens. */
  async gradients(
    rows: Int32Array,
    objective: ObjectiveSettings,
    optimizer: OptimizerSettings,
    temperature: number,
  ): Promise<{ readonly gradients: Weights; readonly stats: Float32Array }> {
    const { nodes } = this.prepare(rows, objective, optimizer, temperature);
    submit(this.gpu, (encoder) => encodeGradients(this.plans.policy, this.plans, encoder, nodes));
    const { layout, grads } = this.tensors.policy;
    const [gradientWords, words] = await readOnce(this.gpu, [grads.tensor, this.tensors.batch.coefficients]);
    const summands = new Float32Array(words!.buffer, words?.byteOffset, words?.length);
    const stats = sumStats(summands, rows, this.rows, this.length);
    return { gradients: unpack(layout, sumPartials(grads, gradientWords!)), stats };
  }

  /**
   * (B,T,V), illegal tokens included; index t has those of the token after t. A row's last token and padding have 0. The
   * batch must fit one micro-batch. For tests.
   */
  async logits(): Promise<Float32Array> {
    if (this.tensors.R < this.rows)
      throw new RangeError(
        `logits: ${this.rows} rows are split into micro-batches of ${this.tensors.R}. Use a single micro-batch.`,
      );
    this.score(1, { reference: false, values: false });
    const { logits: deviceLogits, tokens } = this.tensors;
    const [words, targets] = await readOnce(this.gpu, [deviceLogits, tokens.targets]);
    const V = this.model.vocab_size;
    const logits = new Uint32Array(this.rows * this.length * V);
    for (let j = 0; j < targets!.length; j += 2) {
      const [node, after] = [targets![j]!, targets![j + 1]!];
      if (after < this.rows * this.length) logits.set(words!.subarray(node * V, (node + 1) * V), (after - 1) * V);
    }
    return new Float32Array(logits.buffer);
  }

  private prepare(
    rows: Int32Array,
    objective: ObjectiveSettings,
    optimizer: OptimizerSettings,
    temperature: number,
  ): PlacedTokens {
    const { rowSlots } = this.tensors;
    if (rows.length > rowSlots)
      throw new RangeError(`learn: ${rows.length} rows don’t fit: this policy holds ${rowSlots}.`);
    const words = stepInputWords(
      this.tensors.stepInputs.shape[0]!,
      rows,
      temperature,
      objective,
      optimizer,
      this.reporter.nextLine,
    );
    upload(this.gpu, this.tensors.stepInputs.buffer, 0, words);
    return this.place(rows);
  }

  /** Uploads the tokens that passes over these rows compute, unless they are there, as in a further epoch over a whole batch. */
  private place(rows: Int32Array): PlacedTokens {
    const placed = this.placer.place(rows);
    if (placed !== this.placed) write(this.gpu, this.tensors.placedTokens, placed.words);
    return (this.placed = placed);
  }

  endEpoch(): void {
    this.reporter.endEpoch();
  }

  report(): Promise<PolicyReport> {
    return this.reporter.read();
  }

  freezeReference(): void {
    const { passWeights } = this.tensors.policy;
    submit(this.gpu, (encoder) => {
      encoder.copyBufferToBuffer(passWeights.buffer, 0, this.tensors.reference.buffer, 0, passWeights.bytes);
    });
  }

  readState(): Promise<PolicyState> {
    return this.stateReader.read();
  }

  writeState(state: PolicyState): void {
    restoreNetworks(this.gpu, this.tensors, state);
    this.roundWeights();
  }

  writeWeights(weights: Weights): void {
    resetNetworks(this.gpu, this.tensors, weights);
    this.roundWeights();
  }

  private roundWeights(): void {
    const { rounding } = this.plans;
    if (rounding.dispatchCount > 0) submit(this.gpu, (encoder) => rounding.encode(encoder));
  }

  counters(): EngineCounters {
    return { ...this.gpu.counters };
  }

  async whenIdle(): Promise<void> {
    await this.gpu.device.queue.onSubmittedWorkDone();
  }

  startProfile(): void {
    this.profiler.start();
  }

  async profile(now: () => number): Promise<WorkProfile> {
    const state = await this.readState(); // timing repeats dispatches, and some of them write weights
    try {
      return await this.profiler.measure(now);
    } finally {
      this.writeState(state);
    }
  }

  /** Recorded dispatches and FLOPs of an optimizer step with one micro-batch, and of decoding one token in every row. */
  get recorded() {
    return { step: stepCost(this.plans), token: this.plans.decoder.stepCost };
  }

  destroy(): void {
    this.gpu.close();
  }
}
