import type { HelperTask } from '../model/cpu/team/threads.ts';

/** A worker that computes parts of kernels until it is told to end; see `src/model/cpu/team/team.ts`. */
globalThis.addEventListener('message', ({ data }: MessageEvent<HelperTask>) => {
  const { module, memory, block, thread } = data;
  const { exports } = new WebAssembly.Instance(module, { host: { memory } });
  const [help, breakOff] = [exports['help'], exports['breakOff']] as ((...given: number[]) => void)[];
  globalThis.postMessage('begun');
  try {
    help!(block, thread);
  } catch (error) {
    breakOff!(block);
    throw error;
  }
  globalThis.close();
});
