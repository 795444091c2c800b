import type { RunCommand, RunEvent } from '../../wire/commands.ts';
import type { Answer } from '../../wire/questions.ts';
import { MAX_SILENCE_MS, mayNeverEnd, WorkerClient } from '../browser/workerClient.ts';

/** Events that the client passes on: all except answers and signs of life, which it handles itself. */
export type ForwardedEvent = Exclude<RunEvent, { type: 'answer' | 'alive' }>;

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
  readonly #client: WorkerClient<RunCommand, RunEvent>;
  readonly #deathWatch = new AbortController();
  readonly #lock = `rollout-playground-worker-${[...crypto.getRandomValues(new Uint32Array(2))].join('-')}`;
  #listener: RunListener;
  #openedFiles = ''; // the files whose tokenizer and chat template the run that is being opened uses

  constructor(listener: RunListener) {
    this.#listener = listener;
    this.#client = new WorkerClient(
      'The training worker',
      () => new Worker(new URL('../../worker.ts', import.meta.url), { type: 'module', name: 'training' }),
      {
        onEvent: (event) => {
          if (event.type === 'answer') this.#client.answer(event.id, event.answer);
          else if (event.type === 'alive') {
            if (event.holds) this.#watchLock();
            if (event.reads !== undefined) this.#beginOpening(event.reads);
          } else {
            if (event.type === 'ready' || event.type === 'error') this.#endOpening();
            this.#listener.onEvent(event);
          }
        },
        onLoss: (reason, hung) => {
          this.#deathWatch.abort();
          this.#listener.onLoss(hung ? `${reason} ${mayNeverEnd(this.#openedFiles)}` : reason);
        },
        onSilence: (silent) => this.#listener.onSilence(silent),
      },
    );
    this.#client.send({ type: 'live', lock: this.#lock });
  }

  /** Waits for the lock that the worker holds as long as it lives. So its death is noticed at once, if it is sudden. */
  #watchLock(): void {
    const { locks } = navigator as Partial<Navigator>;
    const { signal } = this.#deathWatch;
    const onDeath = () =>
      this.#client.fail(
        'The training worker ended without a message. It ran out of memory, or the browser stopped it.',
      );
    locks?.request(this.#lock, { signal }, () => signal.aborted || onDeath()).catch(() => undefined);
  }

  /**
   * Has a worker ended that hangs while it opens a run with these files. Afterwards it may be silent for long: it is
   * busy with a large model, or with a person's own environment.
   */
  #beginOpening(files: string): void {
    this.#openedFiles = files;
    this.#client.limitSilence(MAX_SILENCE_MS);
  }

  #endOpening(): void {
    this.#openedFiles = '';
    this.#client.limitSilence(null);
  }

  /** Replaces the listener, for the next of several runs in one worker. */
  listen(listener: RunListener): void {
    this.#listener = listener;
  }

  /** Sends a command, unless the worker is gone. */
  send(command: RunCommand): void {
    this.#client.send(command);
  }

  /** Sends a question. The promise always resolves, with an answer or with `refused`. */
  ask(command: (id: number) => RunCommand): Promise<Answer> {
    return this.#client.ask<Answer>(command, (message) => ({ kind: 'refused', message }));
  }

  /** Ends the worker and refuses all open questions with `reason`. The listener is not called any more. */
  terminate(reason: string): void {
    this.#deathWatch.abort();
    this.#client.terminate(reason);
  }
}
