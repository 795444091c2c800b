import { chooseBackend } from '../session/chooseBackend.ts';
import { openGpuPolicy } from '../model/gpu/gpuPolicy.ts';
import type { Host } from '../session/host.ts';
import { shippedFile } from './shippedFile.ts';
import { pageThreads } from './pageThreads.ts';

/** Makes the session host of a worker. `fenced`: see Host. */
export function openHost(fenced: () => boolean): Host {
  const channel = new MessageChannel();
  const resolvers: (() => void)[] = [];
  channel.port1.onmessage = () => resolvers.shift()?.();
  return {
    gpu: (navigator as Partial<Navigator>).gpu,
    openGpuPolicy,
    chooseBackend,
    threads: pageThreads(),
    shippedFile,
    now: () => performance.now(),
    fenced,
    // a message arrives at once; a timer would take 4 ms
    yieldToEvents: () =>
      new Promise((resolve) => {
        resolvers.push(resolve);
        channel.port2.postMessage(null);
      }),
  };
}
