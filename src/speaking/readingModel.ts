import { NoGpuError, offersSoftwareOnly } from '../gpu/gpuAdapter.ts';
import { shareGpu } from '../gpu/sharedDevice.ts';
import { Arena } from '../gpu/tensor.ts';
import { LENGTHS, type MemoryPlan, type SpeakingEngine } from '../domain/modelCard.ts';
import { textModelMemory, textModelSizes } from '../model/cpu/textMemory.ts';
import type { Threads } from '../model/cpu/team/threads.ts';
import { openCpuTextModel } from '../model/cpu/cpuTextModel.ts';
import { declareText } from '../model/gpu/text/textTensors.ts';
import { openGpuTextModel } from '../model/gpu/text/gpuTextModel.ts';
import { BackendError } from '../model/policy.ts';
import type { TextModel } from '../model/textModel.ts';
import type { WeightSource } from '../model/weightSource.ts';
import type { OpeningOptions } from '../wire/speakerMessages.ts';
import type { TextCheckpoint } from './textCheckpoint.ts';

/** The number of texts that the model holds at once. A conversation needs only one. */
const ROWS = 1;

/** Computed by the code that allocates it. Allocates nothing. Without a usable GPU, the plan is for the CPU. */
export async function memoryPlan(
  { opened }: TextCheckpoint,
  wish: OpeningOptions,
  gpu: GPU | undefined,
): Promise<MemoryPlan> {
  const { length } = wish;
  try {
    const defaultEngine = (await offersSoftwareOnly(gpu)) ? 'cpu' : 'gpu';
    if ((wish.engine ?? defaultEngine) === 'cpu') return cpuPlan(opened, length, ['gpu', 'cpu'], '');
    const parts = await gpuParts(gpu, opened, length);
    return { length, engine: 'gpu', engines: ['gpu', 'cpu'], whyNoGpu: '', ...parts };
  } catch (error) {
    if (!(error instanceof NoGpuError)) throw error;
    return cpuPlan(opened, length, ['cpu'], error.message);
  }
}

const cpuPlan = (
  opened: OpenedCheckpoint,
  length: number,
  engines: readonly SpeakingEngine[],
  whyNoGpu: string,
): MemoryPlan => ({
  ...{ length, engine: 'cpu', engines, whyNoGpu },
  ...cpuParts(opened, length),
});

type OpenedCheckpoint = TextCheckpoint['opened'];
type PlanParts = Pick<MemoryPlan, 'parts' | 'availableText' | 'refusal'>;

function cpuParts({ model, weights }: OpenedCheckpoint, length: number): PlanParts {
  const partsOf = (tokens: number) =>
    textModelMemory(model, weights, textModelSizes(model, { rows: ROWS, length: tokens }));
  const availableText = 'On the CPU a model can use up to 4 GB.';
  try {
    return { parts: partsOf(length), availableText, refusal: null };
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    const fitting = LENGTHS.findLast((tokens) => tokens < length && fits(() => partsOf(tokens)));
    const remedy = fitting === undefined ? error.remedy : `Texts of up to ${fitting.toLocaleString('en')} tokens fit.`;
    return { parts: [], availableText, refusal: { reason: error.what, remedy } };
  }
}

function fits(parts: () => unknown): boolean {
  try {
    parts();
    return true;
  } catch (error) {
    if (error instanceof BackendError) return false;
    throw error;
  }
}

async function gpuParts(
  gpu: GPU | undefined,
  { model, weights }: OpenedCheckpoint,
  length: number,
): Promise<PlanParts> {
  const sharedGpu = await shareGpu(gpu);
  const gigabytes = (sharedGpu.device.limits.maxBufferSize / 2 ** 30).toFixed(1);
  const availableText = `On ${sharedGpu.adapter} a buffer can have up to ${gigabytes} GB. Browsers don’t say how much memory there is.`;
  try {
    const { memory } = declareText(new Arena(sharedGpu), sharedGpu, model, weights, { rows: ROWS, length });
    return { parts: memory, availableText, refusal: null };
  } catch (error) {
    if (!(error instanceof BackendError)) throw error;
    return { parts: [], availableText, refusal: { reason: error.what, remedy: error.remedy } };
  } finally {
    sharedGpu.close();
  }
}

export interface OpeningListener {
  readonly onRead: (bytes: number, totalBytes: number) => void;
  readonly onLost: (reason: string) => void; // the GPU was lost
  readonly onCpuFallback?: (plan: MemoryPlan) => void; // the model opens on the CPU instead
}

/**
 * Reads a checkpoint's weights and opens it for one text. If the planned GPU turns out to be unusable, it opens on the
 * CPU, and `onCpuFallback` gets the new plan. Throws BackendError if the model doesn't fit, ProblemError if its weights
 * can't be read.
 */
export async function openReadingModel(
  { opened }: TextCheckpoint,
  plan: MemoryPlan,
  { gpu, threads }: { readonly gpu: GPU | undefined; readonly threads?: Threads },
  { onRead, onLost, onCpuFallback }: OpeningListener,
): Promise<TextModel> {
  const { model, weights } = opened;
  const source = withProgress(weights, onRead);
  const { length } = plan;
  if (plan.engine === 'gpu') {
    try {
      return await openGpuTextModel(gpu, model, source, { rows: ROWS, length, onLost });
    } catch (error) {
      if (!(error instanceof NoGpuError)) throw error;
      onCpuFallback?.(cpuPlan(opened, length, ['cpu'], error.message));
    }
  }
  return openCpuTextModel(model, source, { rows: ROWS, length, ...(threads && { threads }) });
}

/** Wraps a source of weights: after each tensor, `onRead` gets the number of bytes read so far and the total. */
function withProgress(weights: WeightSource, onRead: (bytes: number, totalBytes: number) => void): WeightSource {
  const totalBytes = [...weights.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  let bytesRead = 0;
  return new Map(
    Array.from(weights, ([name, tensor]) => [
      name,
      {
        ...tensor,
        read: async (out: Uint8Array) => {
          await tensor.read(out);
          bytesRead += tensor.bytes;
          onRead(bytesRead, totalBytes);
        },
      },
    ]),
  );
}
