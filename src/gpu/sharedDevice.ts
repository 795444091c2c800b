import { openGpu, type Gpu } from './device.ts';

/** The shared device, and what to call for each of its shares when it is lost. */
interface Shared {
  readonly gpu: Gpu;
  readonly whenLost: Set<(reason: string) => void>;
}

const devices = new WeakMap<GPU, Promise<Shared>>();

/**
 * A share of the one device that all runs of a page use. The device is opened at the first call, and again after a
 * loss. Its pipelines stay compiled from run to run (`Pipelines.of`). Counters and problems are those of the device.
 * Each share has its own buffers: closing the share destroys them and leaves the device open for others. Throws
 * NoGpuError.
 */
export async function shareGpu(offered: GPU | undefined): Promise<Gpu> {
  if (!offered) return openGpu(offered);
  let opening = devices.get(offered);
  if (!opening) {
    opening = open(offered);
    devices.set(offered, opening);
    const forget = () => devices.delete(offered);
    opening.then(({ gpu }) => gpu.lost.then(forget), forget);
  }
  return shareOf(await opening);
}

/** Destroys the shared device, as a browser may do. Does nothing if none was opened. For tests and teachers. */
export async function loseSharedDevice(offered: GPU | undefined): Promise<void> {
  const shared = await (offered && devices.get(offered));
  shared?.gpu.device.destroy();
}

async function open(offered: GPU): Promise<Shared> {
  const gpu = await openGpu(offered);
  const whenLost: Shared['whenLost'] = new Set();
  void gpu.lost.then((reason) => whenLost.forEach((reportLoss) => reportLoss(reason)));
  return { gpu, whenLost };
}

/**
 * Creates a share. It has its own promise of the loss, because the device outlives it and must not keep it in memory.
 */
function shareOf({ gpu, whenLost }: Shared): Gpu {
  if (whenLost.size === 0) gpu.problems.length = 0; // problems of closed shares
  let reportLoss: (reason: string) => void = () => undefined;
  const share: Gpu = {
    ...gpu,
    lost: new Promise((resolve) => (reportLoss = resolve)),
    buffers: new Set(),
    closed: false,
    close: () => {
      share.closed = true;
      whenLost.delete(reportLoss);
      for (const buffer of share.buffers) buffer.destroy();
      share.buffers.clear();
    },
  };
  whenLost.add(reportLoss);
  return share;
}
