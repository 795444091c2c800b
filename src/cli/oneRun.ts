import { fork } from 'node:child_process';
import type { RunIdentity } from '../experiments/runResult.ts';
import { logText } from '../runs/log.ts';
import { runWithDefaults } from '../runs/run.ts';
import { RunLog } from '../runs/runLog.ts';
import type { RunEvent } from '../wire/commands.ts';
import { openSession } from '../session/session.ts';
import { nodeHost } from './nodeHost.ts';
import { nodeThreads } from './nodeThreads.ts';

/** The progress of a run: its updates so far, and the success of its last evaluation. */
export interface UpdateMessage {
  readonly type: 'update';
  readonly update: number;
  readonly success: number | undefined;
}
/** A message from the process that trains a run to the process that queues runs. */
export type RunMessage =
  | UpdateMessage
  | { readonly type: 'done'; readonly log: string }
  | { readonly type: 'failed'; readonly message: string };

/** A message to the process that trains a run. */
interface RunTask {
  readonly run: RunIdentity;
  readonly threads: number;
}

/** The argument that makes the program take one run from its parent instead of queueing. */
export const ONE_RUN = '--one-run';
const MESSAGE_EVERY = 10; // updates between messages

/** Trains a run in this process, from its `ready` event to its last update, and sends its progress and its log. */
export async function trainHere(
  run: RunIdentity,
  send: (message: RunMessage) => void,
  threads = nodeThreads(),
): Promise<void> {
  const began = performance.now();
  const started = new Date().toISOString();
  const { arm, seed, config: begun } = run;
  const log = new RunLog(runWithDefaults({ id: 0, name: `${arm}, seed ${seed}`, arm, started, begun }));
  const host = { ...(await nodeHost(begun.backend !== 'cpu')), threads };
  const session = await openSession(begun, host, (event) => addToLog(log, event));
  try {
    for await (const event of session.events) {
      addToLog(log, event);
      if (log.failure !== null) {
        send({ type: 'failed', message: log.failure });
        return;
      }
      if (log.finished) {
        const seconds = Number(((performance.now() - began) / 1000).toFixed(3));
        send({ type: 'done', log: logText({ ...log.run, seconds }) });
        return;
      }
      const { update } = log.run;
      const success = log.series.get('eval/success')?.lastValue;
      if (event.type === 'metrics' && update % MESSAGE_EVERY === 0) send({ type: 'update', update, success });
    }
  } finally {
    session.dispose();
  }
}

/** Adds a session's event to the log. Answers, signs of life and checkpoints are ignored. */
function addToLog(log: RunLog, event: RunEvent): void {
  if (event.type !== 'answer' && event.type !== 'alive' && event.type !== 'checkpoint') log.add(event);
}

/** Trains the run that the parent process sends, then ends the process. Ends at once if the parent is gone. */
export function serveOneRun(): void {
  let sent = Promise.resolve(); // resolves when the last message has left: the end of the process would cut it off
  const send = (message: RunMessage) => {
    sent = new Promise((resolve) => {
      process.send?.(message, () => resolve());
    });
  };
  process.on('disconnect', () => process.exit(1));
  process.once('message', ({ run, threads }: RunTask) => {
    void trainHere(run, send, nodeThreads(threads))
      .catch((error: unknown) =>
        send({ type: 'failed', message: error instanceof Error ? error.message : String(error) }),
      )
      .then(() => sent)
      .finally(() => process.disconnect());
  });
}

/**
 * Trains a run in a separate process, so that its memory is freed afterwards and two runs can use two cores. Resolves
 * with its log. Rejects with the reason if it fails, or when the signal ends it.
 */
export function runInProcess(
  run: RunIdentity,
  threads: number, // of its process, if it trains on the CPU
  onUpdate: (message: UpdateMessage) => void,
  signal: AbortSignal,
): Promise<string> {
  const program = process.argv[1];
  if (program === undefined) throw new Error('Started without a program to start again.');
  return new Promise((resolve, reject) => {
    const child = fork(program, [ONE_RUN], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      signal,
      killSignal: 'SIGKILL',
    });
    let log: string | null = null;
    let failure: string | null = null; // the first failure that was reported
    child.on('message', (message: RunMessage) => {
      if (message.type === 'update') onUpdate(message);
      else if (message.type === 'done') log ??= message.log;
      else failure ??= message.message;
    });
    child.on('error', (error) => {
      failure ??= error.message;
      if (child.pid === undefined) reject(error); // it could not be started, and never exits
    });
    // not `exit`: messages may still come after it
    child.on('close', (code, killSignal) => {
      if (log !== null) resolve(log);
      else reject(new Error(failure ?? `its process ended with ${killSignal ?? `code ${code ?? 'none'}`}`));
    });
    child.send({ run, threads } satisfies RunTask);
  });
}
