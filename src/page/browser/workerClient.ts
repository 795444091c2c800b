import { startWorker, workerFailure } from '../../wire/startWorker.ts';
import { noteFailure } from './newVersion.ts';

export interface WorkerListener<Event> {
  readonly onEvent: (event: Event) => void;
  /** The worker is gone, with the reason as a sentence. Called once, and never after `terminate`. */
  readonly onLoss: (reason: string) => void;
}

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly refuse: (reason: string) => void;
}

/** Owns a worker: starts it, sends commands, passes on events, and matches answers with questions. */
export class WorkerClient<Command, Event> {
  readonly worker: Worker;
  readonly #listener: WorkerListener<Event>;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0; // of the questions asked so far
  #endReason: string | null = null; // why the worker is gone; null: it runs

  /** `name`: what the worker is, to begin a sentence with. */
  constructor(name: string, make: () => Worker, listener: WorkerListener<Event>) {
    this.#listener = listener;
    this.worker = startWorker(make);
    this.worker.onmessage = ({ data }: MessageEvent<Event>) => {
      if (this.#endReason === null) listener.onEvent(data);
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      void noteFailure(event.message);
      this.fail(workerFailure(name, event));
    };
    this.worker.onmessageerror = () => this.fail(`${name} sent something the page could not read.`);
  }

  /** Sends a command, unless the worker is gone. */
  send(command: Command): void {
    if (this.#endReason === null) this.worker.postMessage(command);
  }

  /** Sends a question. The promise always resolves: with what `answer` gets, or with `refusal` if the worker ends. */
  ask<Answer>(question: (id: number) => Command, refusal: (reason: string) => Answer): Promise<Answer> {
    if (this.#endReason !== null) return Promise.resolve(refusal(this.#endReason));
    const id = ++this.#lastId;
    return new Promise<Answer>((resolve) => {
      this.#waiting.set(id, {
        resolve: resolve as (answer: unknown) => void,
        refuse: (reason) => resolve(refusal(reason)),
      });
      this.send(question(id));
    });
  }

  answer(id: number, answer: unknown): void {
    this.#waiting.get(id)?.resolve(answer);
    this.#waiting.delete(id);
  }

  /** Ends the worker, whatever it is doing, and refuses all open questions. The listener is not called any more. */
  terminate(reason = ''): void {
    if (this.#endReason !== null) return;
    this.#endReason = reason;
    this.worker.terminate();
    for (const { refuse } of this.#waiting.values()) refuse(reason);
    this.#waiting.clear();
  }

  /** Ends the worker because it has failed, and tells the listener. */
  fail(reason: string): void {
    if (this.#endReason !== null) return;
    this.terminate(reason);
    this.#listener.onLoss(reason);
  }
}
