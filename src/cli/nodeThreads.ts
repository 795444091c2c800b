import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type Threads, threadsFor } from '../model/cpu/team/threads.ts';

/** A helper in JavaScript as Node runs it: a bundle has no file of its own for it. */
const HELPER = `
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

/** Threads of Node, as many as pay on this machine unless `count` says how many. None of them keeps the process alive. */
export function nodeThreads(count = threadsFor(availableParallelism())): Threads {
  return {
    count,
    why: count > 1 ? '' : 'one core',
    start: (task) => {
      const worker = new Worker(HELPER, { eval: true, workerData: task });
      const begun = new Promise<boolean>((resolve) => {
        worker.once('message', () => {
          worker.unref(); // not before: a process that waits for this and nothing else would end
          resolve(true);
        });
        worker.once('error', () => resolve(false));
        worker.once('exit', () => resolve(false));
      });
      return { begun, end: () => void worker.terminate() };
    },
  };
}
