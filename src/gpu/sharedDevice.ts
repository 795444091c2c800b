import { openGpu, type Gpu } from './device.ts';

/** The shared device, and what to call for each of its shares when it is lost. */
interface SharedDevice {
  readonly gpu: Gpu;
  readonly lossListeners: Set<(reason: string) => void>;
}

const devices = new WeakMap<GPU, Promise<SharedDevice>>();

/**
 * A share of the one device that all runs of a page use. The device is opened at the first call, and again after a
 * loss. Its pipelines stay compiled from run to run (`Pipelines.forDevice`). Counters and uncaught errors are those of
 * the device. Each share has its own buffers: closing the share destroys them and leaves the device open for others.
 * Throws NoGpuError.
 */
export async function shareGpu(navigatorGpu: GPU | undefined): Promise<Gpu> {
  if (!navigatorGpu) return openGpu(navigatorGpu);
  let opening = devices.get(navigatorGpu);
  if (!opening) {
    opening = open(navigatorGpu);
    devices.set(navigatorGpu, opening);
    const removeDevice = () => devices.delete(navigatorGpu);
    opening.then(({ gpu }) => gpu.lost.then(removeDevice), removeDevice);
  }
  return shareOf(await opening);
}

/** Destroys the shared device, as a browser may do. Does nothing if none was opened. For tests and teachers. */
export async function loseSharedDevice(navigatorGpu: GPU | undefined): Promise<void> {
  const shared = await (navigatorGpu && devices.get(navigatorGpu));
  shared?.gpu.device.destroy();
}

async function open(navigatorGpu: GPU): Promise<SharedDevice> {
  const gpu = await openGpu(navigatorGpu);
  const lossListeners: SharedDevice['lossListeners'] = new Set();
  void gpu.lost.then((reason) => lossListeners.forEach((reportLoss) => reportLoss(reason)));
  return { gpu, lossListeners };
}

/** Creates a share. It has its own promise of the loss, because the device outlives it and must not keep it in memory. */
function shareOf({ gpu, lossListeners }: SharedDevice): Gpu {
  if (lossListeners.size === 0) gpu.uncaughtErrors.length = 0; // errors of closed shares
  let reportLoss: (reason: string) => void = () => undefined;
  const share: Gpu = {
    ...gpu,
    lost: new Promise((resolve) => (reportLoss = resolve)),
    buffers: new Set(),
    closed: false,
    close: () => {
      share.closed = true;
      lossListeners.delete(reportLoss);
      for (const buffer of share.buffers) buffer.destroy();
      share.buffers.clear();
    },
  };
  lossListeners.add(reportLoss);
  return share;
}
