import { openDevice, within } from './gpuAdapter.ts';

/** Work done since the device was opened; software adapters hide its cost, so tests count it. */
export interface GpuCounters {
  dispatches: number;
  submits: number;
  readbacks: number; // awaited
  uploadBytes: number;
  creations: number; // buffers, bind groups, pipelines
}

/** An open device, with the facts that the engine needs about it. */
export interface Gpu {
  readonly device: GPUDevice;
  readonly adapter: string; // in words for a person
  readonly identity: string; // everything by which the browser distinguishes adapters
  readonly lanes: number; // threads of the smallest subgroup; 0 without subgroups
  readonly software: boolean; // a CPU behind a GPU's interface: barriers cost 14–36 times more
  readonly counters: GpuCounters;
  /** Messages of errors that no error scope caught; empty on a healthy device. */
  readonly uncaughtErrors: string[];
  /** Opens another device of the same kind of adapter. Throws NoGpuError. */
  readonly openAnother: () => Promise<Gpu>;
  /** Resolves with the reason when the device is lost. */
  readonly lost: Promise<string>;
  /** Buffers made by `createBuffer` and not destroyed yet. */
  readonly buffers: Set<GPUBuffer>;
  /** Closes the device, or this share of it, and destroys its buffers. Later uploads and submits throw. */
  readonly close: () => void;
  closed: boolean;
}

/** Thrown if the device was lost during work. The message is the browser's reason. */
export class DeviceLostError extends Error {
  override readonly name = 'DeviceLostError';
}

/** Work on a lost device fails before the browser reports the loss. It reports the loss within this many ms. */
const LOSS_REPORT_MS = 2000;

/** The cause of failed work: DeviceLostError if the device is lost now or within two seconds, otherwise `error` itself. */
export async function causeOf(error: unknown, lost: Promise<string> | undefined): Promise<unknown> {
  const loss = lost && (await within(LOSS_REPORT_MS, lost));
  return loss ? new DeviceLostError(loss.result) : error;
}

export async function isLost(lost: Promise<string>): Promise<boolean> {
  return (await Promise.race([lost, Promise.resolve(null)])) !== null;
}

/** Opens a device with the adapter's own limits. Throws NoGpuError. */
export async function openGpu(gpu: GPU | undefined): Promise<Gpu> {
  const { device, description } = await openDevice(gpu);
  const { name, identity, lanes, software } = description;
  const uncaughtErrors: string[] = [];
  device.addEventListener('uncapturederror', (event) => {
    uncaughtErrors.push(event.error.message);
  });
  const opened: Gpu = {
    device,
    adapter: name,
    identity,
    lanes: device.features.has('subgroups') ? lanes : 0,
    software,
    counters: { dispatches: 0, submits: 0, readbacks: 0, uploadBytes: 0, creations: 0 },
    uncaughtErrors,
    openAnother: () => openGpu(gpu),
    lost: device.lost.then((info) => info.message || info.reason),
    buffers: new Set(),
    closed: false,
    close: () => {
      opened.closed = true;
      device.destroy();
    },
  };
  return opened;
}

export function createBuffer(gpu: Gpu, label: string, size: number, usage: number): GPUBuffer {
  checkOpen(gpu, label);
  gpu.counters.creations++;
  const buffer = gpu.device.createBuffer({ label, size, usage });
  gpu.buffers.add(buffer);
  return buffer;
}

export function destroyBuffer(gpu: Gpu, buffer: GPUBuffer): void {
  gpu.buffers.delete(buffer);
  buffer.destroy();
}

function checkOpen(gpu: Gpu, what: string): void {
  if (gpu.closed) throw new Error(`${what}: the device was given back.`);
}

/** Uploads words into a buffer and counts them. */
export function upload(
  gpu: Gpu,
  buffer: GPUBuffer,
  offset: number,
  data: Uint32Array | Int32Array | Float32Array,
): void {
  checkOpen(gpu, 'upload');
  gpu.counters.uploadBytes += data.byteLength;
  gpu.device.queue.writeBuffer(buffer, offset, data.buffer, data.byteOffset, data.byteLength);
}

/** Submits what `record` encodes as one command buffer. */
export function submit(gpu: Gpu, record: (encoder: GPUCommandEncoder) => void): void {
  checkOpen(gpu, 'submit');
  const encoder = gpu.device.createCommandEncoder();
  record(encoder);
  gpu.device.queue.submit([encoder.finish()]);
  gpu.counters.submits++;
}

/** Runs `work` and returns its result. Throws what `work` throws, or an Error if WebGPU refuses a part of it. */
export async function validated<T>(gpu: Gpu, what: string, work: () => Promise<T>): Promise<T> {
  gpu.device.pushErrorScope('validation');
  const [outcome] = await Promise.allSettled([work()]);
  const refusal = await gpu.device.popErrorScope(); // popped in any case, because the device may be shared
  if (outcome.status === 'rejected') throw outcome.reason;
  if (refusal) throw new Error(`WebGPU refused ${what}: ${refusal.message}`);
  return outcome.value;
}
