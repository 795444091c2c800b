import { submit, type Gpu } from '../../gpu/device.ts';
import { Readback, readOnce } from '../../gpu/readback.ts';
import type { PolicySpec } from '../policy.ts';
import { KEPT_PASSES, type PassWeights, type PolicyReport, type StepStats } from '../policyReport.ts';
import { firstChannels } from './deviceBatch.ts';
import { LOG_LINES, LOG_WORDS } from './pools.ts';
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
  private passes = 0; // epochs of this batch whose weights are kept
  private passEnds = false; // an epoch has ended and its weights must be kept before the next step

  constructor(gpu: Gpu, spec: PolicySpec, tensors: DeviceTensors) {
    const { rows: B, length: T } = spec;
    const { oldScores, refScores, oldValues, shaped, credit, masks, coefficients } = tensors.batch;
    this.gpu = gpu;
    this.spec = spec;
    this.tensors = tensors;
    this.readback = new Readback(gpu, 'report', [
      firstChannels(oldScores, 2, B, T),
      firstChannels(refScores, 1, B, T),
      oldValues,
      shaped,
      credit,
      firstChannels(masks, 5, B, T),
      firstChannels(coefficients, 2, B, T),
      tensors.policy.log,
      ...(tensors.critic ? [tensors.critic.log] : []),
      ...tensors.batch.passes, // last, because a read takes only those in use
    ]);
  }

  /** The log line that the next optimizer step writes. */
  get nextLine(): number {
    return this.stepCount % LOG_LINES;
  }

  /** Notes that a step was submitted. */
  noteStep(note: StepNote): void {
    this.steps.push(note);
    this.stepCount++;
  }

  /** Begins a new batch, of which no epoch is kept yet. */
  beginBatch(): void {
    this.passes = 0;
    this.passEnds = false;
  }

  /** Ends an epoch: its gradient weights are kept before the next step overwrites them. */
  endPass(): void {
    this.passEnds = this.passes < KEPT_PASSES - 1;
  }

  /** Encodes the copy of an ended epoch's gradient weights, if there is one. Call it in the submit of the next step. */
  keepPass(encoder: GPUCommandEncoder): void {
    if (!this.passEnds) return;
    this.passEnds = false;
    const { coefficients, passes } = this.tensors.batch;
    const kept = passes[this.passes++]!;
    encoder.copyBufferToBuffer(coefficients.buffer, coefficients.offset, kept.buffer, kept.offset, kept.bytes);
  }

  async read(): Promise<PolicyReport> {
    const passes = this.passes;
    const count = 8 + (this.tensors.critic ? 1 : 0) + passes;
    this.beginBatch();
    submit(this.gpu, (encoder) => this.readback.encode(encoder, count));
    const words = await this.readback.read(count);
    const problem = this.gpu.problems.shift();
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
    const all = this.spec.rows * this.spec.length;
    const part = (table: Float32Array, index: number) => table.subarray(index * all, (index + 1) * all);
    return {
      logprobs: part(scores, 0),
      refLogprobs,
      entropies: part(scores, 1),
      values,
      advantages: part(credit, 0),
      returns: part(credit, 1),
      rewards,
      lossMask: part(masks, 0),
      regularizerMask: part(masks, 1),
      valueMask: part(masks, 2),
      advantageMask: part(masks, 3),
      whitenMask: part(masks, 4),
      gradWeights: part(coefficients, 0),
      policyWeights: part(coefficients, 1),
      earlierPasses: tables.slice(count - passes).map((table): PassWeights => {
        return { gradWeights: part(table, 0), policyWeights: part(table, 1) };
      }),
      steps: await this.blamed(this.readSteps(log, criticLog)),
    };
  }

  /** With f16 storage, names the tensor that overflowed as the culprit of steps that failed. */
  private blamed(steps: readonly StepStats[]): readonly StepStats[] | Promise<readonly StepStats[]> {
    const { activations } = this.tensors;
    if (activations.qkv.whole.scalar === 'f32') return steps;
    return blameHalves(this.gpu, activations, this.spec.model.num_hidden_layers, steps);
  }

  /** Statistics of the steps since the last report, of at most the last LOG_LINES. */
  private readSteps(log: Float32Array<ArrayBuffer>, criticLog: Float32Array<ArrayBuffer> | undefined) {
    const kept = this.steps.slice(-LOG_LINES);
    const first = this.stepCount - kept.length;
    this.steps = [];
    const line = (table: Float32Array<ArrayBuffer>, step: number) => {
      const start = (step % LOG_LINES) * LOG_WORDS;
      return table.subarray(start, start + LOG_WORDS);
    };
    const { policy, critic } = this.tensors;
    return kept.map((note, i) => {
      const criticLine = criticLog && note.criticRan ? line(criticLog, first + i) : null;
      return stepStats(line(log, first + i), policy.layout, note, criticLine, critic?.layout ?? null);
    });
  }
}

const EXPONENT = 0x7c00; // of a half, all ones: infinity or NaN

/**
 * Names what overflowed f16, whose largest number is 65,504, in steps that failed with a number that is not finite. If
 * the culprit is a weight, it is known already. If it is a gradient, the first saved activation that is not finite is
 * named, in the order in which the last forward pass computed them. Reads the activations tensor by tensor, and only if
 * a step failed.
 */
async function blameHalves(
  gpu: Gpu,
  acts: Activations,
  layers: number,
  steps: readonly StepStats[],
): Promise<readonly StepStats[]> {
  if (!steps.some(({ skipped }) => skipped === 'non-finite')) return steps;
  const activation = await firstOverflow(gpu, activationsInOrder(acts, layers));
  return steps.map((step) => {
    if (step.skipped !== 'non-finite') return step;
    const found = /^(critic )?weight /.test(step.culprit) ? step.culprit : activation;
    return found ? { ...step, culprit: `${found} in f16` } : step;
  });
}

/** Name of the first tensor of halves with an infinity or NaN; '' if there is none. */
async function firstOverflow(gpu: Gpu, tensors: Iterable<readonly [string, Tensor]>): Promise<string> {
  for (const [name, tensor] of tensors) {
    const [words] = await readOnce(gpu, [tensor]);
    const halves = new Uint16Array(words!.buffer, words!.byteOffset, 2 * words!.length);
    if (halves.some((half) => (half & EXPONENT) === EXPONENT)) return name;
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
