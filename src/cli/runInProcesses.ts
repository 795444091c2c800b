import type { RunResult, RunIdentity } from '../experiments/runResult.ts';
import { ArmQueue } from '../runs/armQueue.ts';
import { nodeThreads } from './nodeThreads.ts';
import { runInProcess, type UpdateMessage } from './oneRun.ts';

interface ProcessOptions<R extends RunIdentity> {
  readonly jobs: number; // runs at a time
  readonly signal: AbortSignal; // stops the runs in progress and starts no more
  readonly onUpdate: (run: R, message: UpdateMessage) => void;
  readonly storeLog: (run: R, log: string) => Promise<RunResult>; // stores its log before the next run begins
  readonly onDone: (run: R, result: RunResult) => void;
  readonly onFailure: (run: R, why: string) => void;
}

/** Trains each in its own process. Resolves when all are done or the signal aborts; stops and rejects if a result can't be stored. */
export function runInProcesses<R extends RunIdentity>(runs: readonly R[], options: ProcessOptions<R>): Promise<void> {
  const { jobs, signal, onUpdate, storeLog, onDone, onFailure } = options;
  const threads = Math.max(1, Math.floor(nodeThreads().count / Math.max(1, Math.min(jobs, runs.length))));
  return new Promise((resolve, reject) => {
    const makeTrainer = () => {
      const ending = new AbortController();
      const train = async (run: R, reportUpdate: (message: UpdateMessage) => void) => {
        const log = await runInProcess(run, threads, reportUpdate, ending.signal);
        return storeLog(run, log).catch((reason: unknown) => {
          stopAll(reason);
          throw reason;
        });
      };
      return { train, end: () => ending.abort() };
    };
    const queue = new ArmQueue<R, UpdateMessage, RunResult>(
      makeTrainer,
      {
        onProgress: onUpdate,
        onDone,
        onFailure: (run, reason) => onFailure(run, reason instanceof Error ? reason.message : String(reason)),
        onEnd: resolve,
      },
      { maxActive: jobs },
    );
    const stopAll = (reason: unknown) => {
      reject(reason instanceof Error ? reason : new Error(String(reason)));
      queue.cancel('A result could not be kept.');
    };
    signal.addEventListener('abort', () => queue.cancel('Stopped.'));
    queue.add(signal.aborted ? [] : runs);
  });
}
