import { ALIVE_INTERVAL_MS, startWorker, workerFailure } from '../../wire/startWorker.ts';
import { noteFailure } from './newVersion.ts';

/** After this time without a sign of life a worker may be stuck, or busy. The page says so and keeps waiting. */
const SILENT_MS = 10_000;
/** Text about a silent worker, for use after its name. */
export const SILENT_WORDS = `has not answered for ${SILENT_MS / 1000} s`;
/**
 * Longest time in which a worker may compute without a break while it reads a file. A step of reading takes seconds at
 * most; the file's own patterns and templates may never end.
 */
export const MAX_SILENCE_MS = 20_000;

export interface WorkerListener<Event> {
  readonly onEvent: (event: Event) => void;
  /**
   * The worker is gone, with the reason as a sentence. `hung`: it was ended because it was silent for too long. Called
   * once, and never after `terminate`.
   */
  readonly onLoss: (reason: string, hung: boolean) => void;
  /** True: there was no sign of life for ten seconds; false: there is one again. */
  readonly onSilence?: (silent: boolean) => void;
}

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly refuse: (reason: string) => void;
}

/**
 * Owns a worker: starts it, sends commands, passes on events, matches answers with questions, and notices when it is
 * silent.
 */
export class WorkerClient<Command, Event> {
  readonly worker: Worker;
  readonly #listener: WorkerListener<Event>;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0; // of the questions asked so far
  #endReason: string | null = null; // why the worker is gone; null: it runs
  readonly #name: string;
  readonly #watch: ReturnType<typeof setInterval>;
  #hasSpoken = false; // false: the worker may still be loading
  // counted, not measured: a page that slept or was busy has not listened in that time
  #silentMs = 0;
  #limitMs: number | null = null;

  /** `name`: what the worker is, to begin a sentence with. */
  constructor(name: string, make: () => Worker, listener: WorkerListener<Event>) {
    this.#name = name;
    this.#listener = listener;
    this.worker = startWorker(make);
    this.worker.onmessage = ({ data }: MessageEvent<Event>) => {
      if (this.#endReason !== null) return;
      if (this.#silentMs >= SILENT_MS) listener.onSilence?.(false);
      [this.#hasSpoken, this.#silentMs] = [true, 0];
      listener.onEvent(data);
    };
    this.worker.onerror = (event) => {
      event.preventDefault();
      void noteFailure(event.message);
      this.fail(workerFailure(name, event));
    };
    this.worker.onmessageerror = () => this.fail(`${name} sent something the page could not read.`);
    this.#watch = setInterval(() => this.#checkSilence(), ALIVE_INTERVAL_MS);
  }

  /**
   * From now on ends the worker if it is silent for this long; null: waits for it, however long. It may have been silent
   * for a part of this time already. A worker that is still loading is not ended.
   */
  limitSilence(ms: number | null): void {
    this.#limitMs = ms;
  }

  #checkSilence(): void {
    this.#silentMs += ALIVE_INTERVAL_MS;
    if (this.#hasSpoken && this.#limitMs !== null && this.#silentMs >= this.#limitMs)
      this.fail(`${this.#name} was ended, because it had not answered for ${this.#silentMs / 1000} s.`, true);
    else if (this.#silentMs === SILENT_MS) this.#listener.onSilence?.(true);
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

  /** Resolves the question with this id. */
  answer(id: number, answer: unknown): void {
    this.#waiting.get(id)?.resolve(answer);
    this.#waiting.delete(id);
  }

  /** Ends the worker, whatever it is doing, and refuses all open questions. The listener is not called any more. */
  terminate(reason = ''): void {
    if (this.#endReason !== null) return;
    this.#endReason = reason;
    clearInterval(this.#watch);
    this.worker.terminate();
    for (const { refuse } of this.#waiting.values()) refuse(reason);
    this.#waiting.clear();
  }

  /** Ends the worker because it has failed, and tells the listener. */
  fail(reason: string, hung = false): void {
    if (this.#endReason !== null) return;
    this.terminate(reason);
    this.#listener.onLoss(reason, hung);
  }
}

/** A sentence about a worker that was ended while it read `files`. */
export function mayNeverEnd(files: string): string {
  return `The tokenizer or the chat template of ${files} may never end: use another one.`;
}
