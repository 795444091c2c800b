import { startWorker } from '../wire/startWorker.ts';
import { oneThread, type Threads, threadsFor } from '../model/cpu/team/threads.ts';

/**
 * Returns the threads for computing in a worker of the page: as many as are worthwhile if the page is cross-origin
 * isolated, which shared memory requires. Otherwise one.
 */
export function pageThreads(): Threads {
  if (typeof SharedArrayBuffer === 'undefined' || !globalThis.crossOriginIsolated) {
    return oneThread('the page is not cross-origin isolated; after a reload it may be');
  }
  const count = threadsFor(navigator.hardwareConcurrency);
  if (count === 1) return oneThread('one core');
  return { count, reason: '', start };
}

const start: Threads['start'] = (task) => {
  const worker = startWorker(
    () => new Worker(new URL('./helper.ts', import.meta.url), { type: 'module', name: 'helping' }),
  );
  const begun = new Promise<boolean>((resolve) => {
    worker.addEventListener('message', () => resolve(true), { once: true });
    worker.addEventListener('error', () => resolve(false), { once: true });
  });
  worker.postMessage(task);
  return { started: begun, end: () => worker.terminate() };
};
