import type { RunCommand } from '../../wire/commands.ts';
import type { RunEvent } from '../../wire/events.ts';
import type { Answer } from '../../wire/questions.ts';
import { noteFailure } from '../shell/newVersion.ts';
import { watchWorker } from './workerWatch.ts';

/** What a run tells: all its events but answers and signs of life, which the client keeps to itself. */
export type ForwardedEvent = Exclude<RunEvent, { type: 'answer' | 'alive' }>;

/** Who is told of a run in a worker. */
export interface RunListener {
  readonly onEvent: (event: ForwardedEvent) => void;
  readonly onLoss: (message: string) => void; // the worker is gone, and why; told once, and never after `terminate`
  readonly onSilence: (silent: boolean) => void; // it has not answered for ten seconds; false: it does again
}

/** A listener that ignores everything, for a worker that has not been asked anything yet. */
export const NO_LISTENER: RunListener = {
  onEvent: () => undefined,
  onLoss: () => undefined,
  onSilence: () => undefined,
};

/** The one owner of a worker that trains: the lab's own, or one that queued runs have to themselves. */
export class RunClient {
  readonly #worker: Worker;
  readonly #unwatch: () => void;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #listener: RunListener;
  #asked = 0;
  #over: string | null = null; // why the worker is gone

  /** Starts a worker and watches whether it lives. */
  constructor(listener: RunListener) {
    this.#listener = listener;
    const worker = new Worker(new URL('../../worker.ts', import.meta.url), { type: 'module', name: 'training' });
    this.#worker = worker;
    this.#unwatch = watchWorker(worker, {
      onDeath: () =>
        this.#lose('The training worker ended without a message. It ran out of memory, or the browser stopped it.'),
      onSilence: (silent) => this.#listener.onSilence(silent),
    });
    worker.onmessage = ({ data }: MessageEvent<RunEvent>) => this.#hear(data);
    worker.onerror = (event) => {
      event.preventDefault();
      // a script that does not load has no message; one that throws has
      void noteFailure(event.message);
      this.#lose(
        event.message ? `The training worker stopped: ${event.message}` : 'The training worker could not be loaded.',
      );
    };
    worker.onmessageerror = () => this.#lose('The training worker sent something the page could not read.');
  }

  /** From here on this one is told, and nobody else: the next of several runs in one worker. */
  listen(listener: RunListener): void {
    this.#listener = listener;
  }

  /** Sends a command, unless the worker is gone. */
  send(command: RunCommand): void {
    if (this.#over === null) this.#worker.postMessage(command);
  }

  /** Sends what `command` asks; the promise always ends, in an answer or in `refused`. */
  ask(command: (id: number) => RunCommand): Promise<Answer> {
    if (this.#over !== null) return Promise.resolve({ kind: 'refused', message: this.#over });
    const id = ++this.#asked;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.send(command(id));
    });
  }

  /** Ends the worker and refuses, with `reason`, what it was asked and has not answered; nobody is told any more. */
  terminate(reason: string): void {
    if (this.#over !== null) return;
    this.#over = reason;
    this.#unwatch();
    this.#worker.terminate();
    for (const resolve of this.#waiting.values()) resolve({ kind: 'refused', message: reason });
    this.#waiting.clear();
  }

  #lose(message: string): void {
    if (this.#over !== null) return;
    this.terminate(message);
    this.#listener.onLoss(message);
  }

  #hear(event: RunEvent): void {
    if (this.#over !== null || event.type === 'alive') return;
    if (event.type !== 'answer') {
      this.#listener.onEvent(event);
      return;
    }
    this.#waiting.get(event.id)?.(event.answer);
    this.#waiting.delete(event.id);
  }
}
