import type { RunCommand } from '../../wire/commands.ts';
import type { RunEvent } from '../../wire/events.ts';
import type { Answer } from '../../wire/questions.ts';
import { startWorker, workerFailure } from '../../wire/startWorker.ts';
import { noteFailure } from '../shell/newVersion.ts';
import { watchWorker } from './workerWatch.ts';

/** Events that the client passes on: all except answers and signs of life, which it handles itself. */
export type ForwardedEvent = Exclude<RunEvent, { type: 'answer' | 'alive' }>;

/** Receives the events of a run in a worker. */
export interface RunListener {
  readonly onEvent: (event: ForwardedEvent) => void;
  // the worker is gone, with the reason; called once, and never after `terminate`
  readonly onLoss: (message: string) => void;
  // true: the worker has not answered for ten seconds; false: it answers again
  readonly onSilence: (silent: boolean) => void;
}

/** A listener that ignores all events, for a worker that has no command yet. */
export const NO_LISTENER: RunListener = {
  onEvent: () => undefined,
  onLoss: () => undefined,
  onSilence: () => undefined,
};

/** Owns a training worker: the lab's, or one for queued runs. */
export class RunClient {
  readonly #worker: Worker;
  readonly #unwatch: () => void;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #listener: RunListener;
  #lastId = 0; // of the questions asked so far
  #endReason: string | null = null; // why the worker is gone; null: it runs

  /** Starts a worker and watches whether it is alive. */
  constructor(listener: RunListener) {
    this.#listener = listener;
    const worker = startWorker(
      () => new Worker(new URL('../../worker.ts', import.meta.url), { type: 'module', name: 'training' }),
    );
    this.#worker = worker;
    this.#unwatch = watchWorker(worker, {
      onDeath: () =>
        this.#handleLoss(
          'The training worker ended without a message. It ran out of memory, or the browser stopped it.',
        ),
      onSilence: (silent) => this.#listener.onSilence(silent),
    });
    worker.onmessage = ({ data }: MessageEvent<RunEvent>) => this.#handleEvent(data);
    worker.onerror = (event) => {
      event.preventDefault();
      void noteFailure(event.message);
      this.#handleLoss(workerFailure('The training worker', event));
    };
    worker.onmessageerror = () => this.#handleLoss('The training worker sent something the page could not read.');
  }

  /** Replaces the listener, for the next of several runs in one worker. */
  listen(listener: RunListener): void {
    this.#listener = listener;
  }

  /** Sends a command, unless the worker is gone. */
  send(command: RunCommand): void {
    if (this.#endReason === null) this.#worker.postMessage(command);
  }

  /** Sends a question. The promise always resolves, with an answer or with `refused`. */
  ask(command: (id: number) => RunCommand): Promise<Answer> {
    if (this.#endReason !== null) return Promise.resolve({ kind: 'refused', message: this.#endReason });
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.send(command(id));
    });
  }

  /** Ends the worker and refuses all open questions with `reason`. The listener is not called any more. */
  terminate(reason: string): void {
    if (this.#endReason !== null) return;
    this.#endReason = reason;
    this.#unwatch();
    this.#worker.terminate();
    for (const resolve of this.#waiting.values()) resolve({ kind: 'refused', message: reason });
    this.#waiting.clear();
  }

  #handleLoss(message: string): void {
    if (this.#endReason !== null) return;
    this.terminate(message);
    this.#listener.onLoss(message);
  }

  #handleEvent(event: RunEvent): void {
    if (this.#endReason !== null || event.type === 'alive') return;
    if (event.type !== 'answer') {
      this.#listener.onEvent(event);
      return;
    }
    this.#waiting.get(event.id)?.(event.answer);
    this.#waiting.delete(event.id);
  }
}
