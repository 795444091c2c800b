import type { ScalarType } from '../../gpu/tensor.ts';
import { Purpose, random, streamKey } from '../../base/rng.ts';
import { Role, type TokenRecord } from '../../domain/tokens.ts';
import { initialWeights, parameterCount, type ModelConfig, type Weights } from '../architecture.ts';
import { createCpuPolicy } from '../cpu/cpuPolicy.ts';
import { openGpuPolicy, type GpuPolicy } from '../gpuPolicy.ts';
import type { SuppliedCredit, PolicySpec } from '../policy.ts';
import type { LearningMath } from '../learningMath.ts';
import type { ObjectiveSettings, OptimizerSettings } from '../learningSettings.ts';
import type { OpenTrial, Trial } from './tuner.ts';

/** Enough that kernels take most of the time, not their launches; few enough for a short slice. */
const STEP_FLOPS = { hardware: 2e9, software: 1.5e8 };
const MIN_ROWS = 2;
const CHECKED_ROWS = 2; // rows that are compared with the reference
const CHUNK_TOKENS = 16; // tokens per row of a decoded chunk, the forced one included
const SEED = 1;

const OBJECTIVE: ObjectiveSettings = {
  ...{ surrogate: 'plain', clipLow: 0.2, clipHigh: 0.2, dualClip: 0, klEstimator: 'k3', klCoef: 0 },
  ...{ entropyCoef: 0.01, valueCoef: 0.5, valueClip: 100, aggregation: 'token-mean' },
};
const OPTIMIZER: OptimizerSettings = {
  ...{ learningRate: 1e-4, criticLearningRate: 1e-4, beta1: 0.9, beta2: 0.999, eps: 1e-5, weightDecay: 0 },
  ...{ maxGradNorm: 1, criticOnly: false },
};

/** One layer, with the widths and row length of the run. A step has only as many rows as a fair timing needs. */
export function trialSpec(runSpec: PolicySpec, software: boolean): PolicySpec {
  const { model, critic, length } = runSpec;
  const oneLayer: ModelConfig = { ...model, num_hidden_layers: 1 };
  const flops = 6 * parameterCount(oneLayer) * length; // of a row, forward and backward
  const fairRows = Math.round(STEP_FLOPS[software ? 'software' : 'hardware'] / flops);
  const minibatchRows = Math.max(MIN_ROWS, Math.min(runSpec.minibatchRows, fairRows));
  return {
    model: oneLayer,
    critic: critic === 'separate' ? 'none' : critic,
    rows: minibatchRows,
    length,
    minibatchRows,
  };
}

/** The numbers that a set is compared with: log-probabilities of the checked rows, and gradients by name. */
export interface ReferenceNumbers {
  readonly logprobs: Float32Array;
  readonly gradients: Weights;
}

/** Computes the reference numbers with the CPU policy, in float32, in WebAssembly SIMD if the browser has it. */
export async function referenceNumbers(spec: PolicySpec, math: LearningMath): Promise<ReferenceNumbers> {
  const smallSpec = { ...spec, rows: CHECKED_ROWS, minibatchRows: CHECKED_ROWS };
  const cpu = createCpuPolicy(smallSpec, math, { seed: SEED, reason: '' });
  const { record, given } = randomBatch(smallSpec);
  cpu.writeWeights(noisyWeights(spec.model));
  cpu.load(record, given);
  cpu.accumulate(firstRows(CHECKED_ROWS), OBJECTIVE, 1);
  const gradients = new Map([...cpu.gradients()].map(([name, values]) => [name, Float32Array.from(values)]));
  cpu.score(1, { reference: false, values: false });
  const { logprobs } = await cpu.report();
  cpu.destroy();
  return { logprobs, gradients };
}

/** Opens each on a GPU device of its own, so that a lost device ends only this trial. Errors are measured against `reference`. */
export function trialsOn(
  gpu: GPU,
  spec: PolicySpec,
  storage: ScalarType,
  reference: () => Promise<ReferenceNumbers>,
): OpenTrial {
  return async (kernels): Promise<Trial> => {
    let lost = '';
    const onLost = (message: string) => (lost = message || 'The device was lost.');
    const policy = await openGpuPolicy(gpu, spec, { seed: SEED, kernels, storage, ownDevice: true, onLost });
    const { record, given } = randomBatch(spec);
    const rows = firstRows(spec.minibatchRows);
    const weights = noisyWeights(spec.model);
    const checkDevice = () => {
      if (lost) throw new Error(lost);
    };
    return {
      error: async () => {
        policy.writeWeights(weights);
        const decoding = await decodingError(policy, spec);
        const numbers = await numbersOf(policy, spec, { record, given });
        policy.load(record, given); // scoring wrote other numbers in place of the given ones
        const error = Math.max(decoding, distance(numbers, await reference()));
        checkDevice();
        return error;
      },
      train: async (steps) => {
        for (let step = 0; step < steps; step++) policy.learn(rows, OBJECTIVE, OPTIMIZER, 1);
        await policy.whenIdle();
        checkDevice();
      },
      close: () => policy.destroy(),
    };
  };
}

async function numbersOf(
  policy: GpuPolicy,
  spec: PolicySpec,
  { record, given }: TrialBatch,
): Promise<ReferenceNumbers> {
  policy.load(record, given);
  const { gradients } = await policy.gradients(firstRows(CHECKED_ROWS), OBJECTIVE, OPTIMIZER, 1);
  policy.score(1, { reference: false, values: false });
  const { logprobs } = await policy.report();
  return { logprobs: logprobs.subarray(0, CHECKED_ROWS * spec.length), gradients };
}

/** Draws a chunk of tokens for every row, after one given token. */
async function drawChunk(policy: GpuPolicy, { rows, length }: PolicySpec) {
  const steps = Math.min(CHUNK_TOKENS, length);
  const key = streamKey(SEED, Purpose.kernelTuning);
  policy.begin({ key, update: 0, temperature: 1, greedy: false, topK: 0, topP: 1 });
  const { logprobs } = await policy.decode({
    ...{ maxTokens: steps, forced: new Int32Array(rows * steps), forcedCounts: new Int32Array(rows).fill(1) },
    ...{ forcedRoles: new Int32Array(rows).fill(Role.prompt), states: new Int32Array(rows) },
    budgets: new Int32Array(rows).fill(steps - 1),
  });
  return { steps, logprobs };
}

/** Relative error of the log-probabilities that decoding gave, against those of a forward pass over the same rows. */
async function decodingError(policy: GpuPolicy, spec: PolicySpec): Promise<number> {
  const { steps, logprobs: got } = await drawChunk(policy, spec);
  policy.score(1, { reference: false, values: false });
  const { logprobs } = await policy.report();
  const logprobAt = (b: number, i: number) => logprobs[b * spec.length + 1 + i] ?? NaN;
  const want = got.map((_, i) => (i % steps < steps - 1 ? logprobAt(Math.floor(i / steps), i % steps) : 0));
  return relativeDistance(got, want, 0);
}

interface TrialBatch {
  readonly record: TokenRecord;
  readonly given: SuppliedCredit;
}

/** A batch of random rows and credit. Row b doesn't depend on the number of rows. */
function randomBatch({ model, critic, rows, length }: PolicySpec): TrialBatch {
  const draw = Array.from({ length: rows }, (_, b) => random(SEED, Purpose.kernelTuning, b));
  const table = (valueAt: (b: number, t: number) => number) =>
    Float32Array.from({ length: rows * length }, (_, i) => valueAt(Math.floor(i / length), i % length));
  const tokens = Int32Array.from(table((b) => draw[b]?.int(model.vocab_size) ?? 0));
  const advantages = table((b) => draw[b]?.normal() ?? 0);
  const returns = table((b) => draw[b]?.normal() ?? 0);
  const zero = table(() => 0);
  const mask = table((_, t) => (t === 0 ? 0 : 1)); // the first token has nothing before it
  return {
    record: { tokens, roles: new Uint8Array(rows * length).fill(Role.action), states: new Uint8Array(rows * length) },
    given: {
      ...{ oldLogprobs: zero, refLogprobs: zero, oldValues: zero, advantages, returns, lossMask: mask },
      valueMask: critic === 'none' ? zero : mask,
    },
  };
}

/** With exact ones and zeros, a kernel that leaves out a norm or a bias would give the same numbers. */
function noisyWeights(model: ModelConfig): Weights {
  return new Map(
    [...initialWeights(model, SEED)].map(([name, values], index) => {
      const draw = random(SEED, Purpose.kernelTuning, index, 1);
      return [name, values.map((w) => w + 0.1 * (draw.next() - 0.5))];
    }),
  );
}

function firstRows(rows: number): Int32Array {
  return Int32Array.from({ length: rows }, (_, b) => b);
}

/**
 * Largest error of a tensor against the reference, relative to the norm of the reference tensor. For gradients the
 * divisor is at least a thousandth of the largest gradient's norm, because a gradient that is zero except for rounding
 * has no direction. NaN if a number is NaN.
 */
export function distance(got: ReferenceNumbers, want: ReferenceNumbers): number {
  const largest = Math.max(...[...want.gradients.values()].map(norm));
  return Math.max(
    relativeDistance(got.logprobs, want.logprobs, 0),
    ...[...want.gradients].map(([name, values]) => relativeDistance(got.gradients.get(name), values, 1e-3 * largest)),
  );
}

function norm(values: Float32Array): number {
  return Math.sqrt(values.reduce((sum, x) => sum + x * x, 0));
}

/** Distance of `a` from `b`, divided by the norm of `b` or by `minDivisor`, whichever is larger. */
function relativeDistance(a: Float32Array | undefined, b: Float32Array, minDivisor: number): number {
  return a?.length === b.length ? norm(b.map((x, i) => x - a[i]!)) / Math.max(norm(b), minDivisor) : NaN;
}
