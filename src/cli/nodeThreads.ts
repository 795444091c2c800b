import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type Threads, threadsFor } from '../model/cpu/team/threads.ts';

/** The program of a helper thread, as JavaScript in a text, because the bundle has no separate file for it. */
const HELPER_CODE = `
const { parentPort, workerData: { module, memory, block, thread } } = require('node:worker_threads');
const { help, breakOff } = new WebAssembly.Instance(module, { host: { memory } }).exports;
parentPort.postMessage('begun');
try {
  help(block, thread);
} catch (error) {
  breakOff(block);
  throw error;
}
`;

/** Threads of Node; by default as many as speed up computing on this machine. None of them keeps the process alive. */
export function nodeThreads(count = threadsFor(availableParallelism())): Threads {
  return {
    count,
    reason: count > 1 ? '' : 'one core',
    start: (task) => {
      const worker = new Worker(HELPER_CODE, { eval: true, workerData: task });
      const started = new Promise<boolean>((resolve) => {
        worker.once('message', () => {
          worker.unref(); // not earlier: a process that waits only for this message would end
          resolve(true);
        });
        worker.once('error', () => resolve(false));
        worker.once('exit', () => resolve(false));
      });
      return { started, end: () => void worker.terminate() };
    },
  };
}
