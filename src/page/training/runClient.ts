import type { RunCommand } from '../../wire/commands.ts';
import type { RunEvent } from '../../wire/events.ts';
import type { Answer } from '../../wire/questions.ts';
import { WorkerClient } from '../browser/workerClient.ts';
import { watchWorker } from '../browser/workerWatch.ts';

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
  readonly #unwatch: () => void;
  #listener: RunListener;

  constructor(listener: RunListener) {
    this.#listener = listener;
    this.#client = new WorkerClient(
      'The training worker',
      () => new Worker(new URL('../../worker.ts', import.meta.url), { type: 'module', name: 'training' }),
      {
        onEvent: (event) => {
          if (event.type === 'answer') this.#client.answer(event.id, event.answer);
          else if (event.type !== 'alive') this.#listener.onEvent(event);
        },
        onLoss: (reason) => {
          this.#unwatch();
          this.#listener.onLoss(reason);
        },
      },
    );
    this.#unwatch = watchWorker(this.#client.worker, {
      onDeath: () =>
        this.#client.fail(
          'The training worker ended without a message. It ran out of memory, or the browser stopped it.',
        ),
      onSilence: (silent) => this.#listener.onSilence(silent),
    });
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
    this.#unwatch();
    this.#client.terminate(reason);
  }
}
