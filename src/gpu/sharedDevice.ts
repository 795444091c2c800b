import { openGpu, type Gpu } from './device.ts';

/** A device and who has a part in it. */
interface Shared {
  readonly gpu: Gpu;
  readonly whenLost: Set<(reason: string) => void>;
}

const devices = new WeakMap<GPU, Promise<Shared>>();

/**
 * A part in the one device that all runs of a page share, opened at the first call, and again once it was lost. Its pipelines stay
 * compiled from run to run (`Pipelines.of`); counters and problems are those of the device; buffers are the part's own, and closing
 * gives them back and leaves the device to others. Throws NoGpuError.
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
  return partOf(await opening);
}

/** Takes the shared device away, as a browser may; nothing where none was opened. For tests and teachers. */
export async function loseSharedDevice(offered: GPU | undefined): Promise<void> {
  const shared = await (offered && devices.get(offered));
  shared?.gpu.device.destroy();
}

async function open(offered: GPU): Promise<Shared> {
  const gpu = await openGpu(offered);
  const whenLost: Shared['whenLost'] = new Set();
  void gpu.lost.then((reason) => whenLost.forEach((tell) => tell(reason)));
  return { gpu, whenLost };
}

/** What outlives a part must not hold it: its promise is its own. */
function partOf({ gpu, whenLost }: Shared): Gpu {
  if (whenLost.size === 0) gpu.problems.length = 0; // of those that are gone
  let tell: (reason: string) => void = () => undefined;
  const part: Gpu = {
    ...gpu,
    lost: new Promise((resolve) => (tell = resolve)),
    buffers: new Set(),
    closed: false,
    close: () => {
      part.closed = true;
      whenLost.delete(tell);
      for (const buffer of part.buffers) buffer.destroy();
      part.buffers.clear();
    },
  };
  whenLost.add(tell);
  return part;
}
