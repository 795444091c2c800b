import { submit, type Gpu } from '../../gpu/device.ts';
import { Readback, readOnce } from '../../gpu/readback.ts';
import type { PolicySpec } from '../policy.ts';
import { KEPT_EPOCHS, type EpochWeights, type PolicyReport, type StepStats } from '../policyReport.ts';
import { firstChannels } from './deviceBatch.ts';
import { LOG_LINES, LOG_WORDS } from './networkTensors.ts';
import { stepStats, type StepNote } from './stepLog.ts';
import type { DeviceTensors } from './deviceTensors.ts';
import type { Tensor } from '../../gpu/tensor.ts';
import type { Activations } from './activations.ts';

/** Reads back, in one awaited read, the results of scoring, credit and learning and the log of optimizer steps. */
export class Reporter {
  private readonly gpu: Gpu;
  private readonly spec: PolicySpec;
  private readonly tensors: DeviceTensors;
  private readonly readback: Readback;
  private steps: StepNote[] = []; // since the last report
  private stepCount = 0; // steps submitted so far
  private keptEpochs = 0; // epochs of this batch whose weights are kept
  private epochEnded = false; // an epoch has ended and its weights must be kept before the next step

  constructor(gpu: Gpu, spec: PolicySpec, tensors: DeviceTensors) {
    const { rows: B, length: T } = spec;
    const { oldScores, refScores, oldValues, rewardsAfterKl, advantagesAndReturns, masks, coefficients } =
      tensors.batch;
    this.gpu = gpu;
    this.spec = spec;
    this.tensors = tensors;
    this.readback = new Readback(gpu, 'report', [
      firstChannels(oldScores, 2, B, T),
      firstChannels(refScores, 1, B, T),
      oldValues,
      rewardsAfterKl,
      advantagesAndReturns,
      firstChannels(masks, 6, B, T),
      firstChannels(coefficients, 2, B, T),
      tensors.policy.log,
      ...(tensors.critic ? [tensors.critic.log] : []),
      ...tensors.batch.epochCoefficients, // last, because a read takes only those in use
    ]);
  }

  /** The log line that the next optimizer step writes. */
  get nextLine(): number {
    return this.stepCount % LOG_LINES;
  }

  noteStep(note: StepNote): void {
    this.steps.push(note);
    this.stepCount++;
  }

  /** Begins a new batch, of which no epoch is kept yet. */
  beginBatch(): void {
    this.keptEpochs = 0;
    this.epochEnded = false;
  }

  /** Ends an epoch: its gradient weights are kept before the next step overwrites them. */
  endEpoch(): void {
    this.epochEnded = this.keptEpochs < KEPT_EPOCHS - 1;
  }

  /** Encodes the copy of an ended epoch's gradient weights, if there is one. Call it in the submit of the next step. */
  keepEpoch(encoder: GPUCommandEncoder): void {
    if (!this.epochEnded) return;
    this.epochEnded = false;
    const { coefficients, epochCoefficients } = this.tensors.batch;
    const target = epochCoefficients[this.keptEpochs++]!;
    encoder.copyBufferToBuffer(coefficients.buffer, coefficients.offset, target.buffer, target.offset, target.bytes);
  }

  async read(): Promise<PolicyReport> {
    const epochs = this.keptEpochs;
    const count = 8 + (this.tensors.critic ? 1 : 0) + epochs;
    this.beginBatch();
    submit(this.gpu, (encoder) => this.readback.encode(encoder, count));
    const words = await this.readback.read(count);
    const problem = this.gpu.uncaughtErrors.shift();
    if (problem) throw new Error(`WebGPU reported an error: ${problem}`);
    const tables = words.map((w) => new Float32Array(w.buffer, w.byteOffset, w.length));
    const criticLog = this.tensors.critic ? tables[8] : undefined;
    const [scores, refLogprobs, values, rewards, credit, masks, coefficients, log] = tables as [
      Float32Array<ArrayBuffer>,
      Float32Array<ArrayBuffer>,
      Float32Array<ArrayBuffer>,
      Float32Array<ArrayBuffer>,
      Float32Array<ArrayBuffer>,
      Float32Array<ArrayBuffer>,
      Float32Array<ArrayBuffer>,
      Float32Array<ArrayBuffer>,
    ];
    const tableSize = this.spec.rows * this.spec.length;
    const channel = (table: Float32Array, index: number) => table.subarray(index * tableSize, (index + 1) * tableSize);
    return {
      logprobs: channel(scores, 0),
      refLogprobs,
      entropies: channel(scores, 1),
      values,
      advantages: channel(credit, 0),
      returns: channel(credit, 1),
      rewards,
      lossMask: channel(masks, 0),
      regularizerMask: channel(masks, 1),
      valueMask: channel(masks, 2),
      observationMask: channel(masks, 3),
      advantageMask: channel(masks, 4),
      whitenMask: channel(masks, 5),
      gradWeights: channel(coefficients, 0),
      policyWeights: channel(coefficients, 1),
      earlierEpochs: tables.slice(count - epochs).map((table): EpochWeights => {
        return { gradWeights: channel(table, 0), policyWeights: channel(table, 1) };
      }),
      steps: await this.withOverflowSource(this.readSteps(log, criticLog)),
    };
  }

  /** With f16 storage, names the tensor that overflowed as the culprit of steps that failed. */
  private withOverflowSource(steps: readonly StepStats[]): readonly StepStats[] | Promise<readonly StepStats[]> {
    const { activations } = this.tensors;
    if (activations.qkv.whole.scalarType === 'f32') return steps;
    return nameOverflowSource(this.gpu, activations, this.spec.model.num_hidden_layers, steps);
  }

  /** Statistics of the steps since the last report, of at most the last LOG_LINES. */
  private readSteps(log: Float32Array<ArrayBuffer>, criticLog: Float32Array<ArrayBuffer> | undefined) {
    const notes = this.steps.slice(-LOG_LINES);
    const first = this.stepCount - notes.length;
    this.steps = [];
    const line = (table: Float32Array<ArrayBuffer>, step: number) => {
      const start = (step % LOG_LINES) * LOG_WORDS;
      return table.subarray(start, start + LOG_WORDS);
    };
    const { policy, critic } = this.tensors;
    return notes.map((note, i) => {
      const criticLine = criticLog && note.criticRan ? line(criticLog, first + i) : null;
      return stepStats(line(log, first + i), policy.layout, note, criticLine, critic?.layout ?? null);
    });
  }
}

const FLOAT16_EXPONENT = 0x7c00; // of a float16, all ones: infinity or NaN

/**
 * Names what overflowed f16, whose largest number is 65,504, in steps that failed with a number that is not finite. If
 * the culprit is a weight, it is known already. If it is a gradient, the first saved activation that is not finite is
 * named, in the order in which the last forward pass computed them. Reads the activations tensor by tensor, and only if
 * a step failed.
 */
async function nameOverflowSource(
  gpu: Gpu,
  acts: Activations,
  layers: number,
  steps: readonly StepStats[],
): Promise<readonly StepStats[]> {
  if (!steps.some(({ skipped }) => skipped === 'non-finite')) return steps;
  const activation = await firstOverflow(gpu, activationsInOrder(acts, layers));
  return steps.map((step) => {
    if (step.skipped !== 'non-finite') return step;
    const source = /^(critic )?weight /.test(step.culprit) ? step.culprit : activation;
    return source ? { ...step, culprit: `${source} in f16` } : step;
  });
}

/** Name of the first f16 tensor with an infinity or NaN; '' if there is none. */
async function firstOverflow(gpu: Gpu, tensors: Iterable<readonly [string, Tensor]>): Promise<string> {
  for (const [name, tensor] of tensors) {
    const [words] = await readOnce(gpu, [tensor]);
    const float16Words = new Uint16Array(words!.buffer, words!.byteOffset, 2 * words!.length);
    if (float16Words.some((bits) => (bits & FLOAT16_EXPONENT) === FLOAT16_EXPONENT)) return name;
  }
  return '';
}

/** The saved activations with their names, in the order in which a forward pass computes them. */
function* activationsInOrder({ xhat, qkv, attended, gateUp, act }: Activations, layers: number) {
  for (let layer = 0; layer < layers; layer++) {
    const named = (name: string, tensor: Tensor) => [`${name} of layer ${layer}`, tensor] as const;
    yield named('normed input', xhat.at(2 * layer));
    yield named('queries, keys or values', qkv.at(layer));
    yield named('attention', attended.at(layer));
    yield named('normed middle', xhat.at(2 * layer + 1));
    yield named('gates or ups', gateUp.at(layer));
    yield named('SwiGLU', act.at(layer));
  }
}
