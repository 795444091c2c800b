import type { RunFile } from '../../runs/sentRun.ts';
import type { ReaderCommand, ReaderEvent, ReadRollout, ReadRun } from '../../wire/readerMessages.ts';
import { MAX_SILENCE_MS, WorkerClient } from '../browser/workerClient.ts';

/**
 * Receives the events of the reader. `onLoss`: the worker has stopped; `hung` is true if it was ended because it did not
 * answer, as with a damaged file whose decoding never ends.
 */
export interface ReaderListener {
  readonly onEvent: (event: Exclude<ReaderEvent, { type: 'read' | 'run' | 'alive' }>) => void;
  readonly onLoss: (message: string, hung: boolean) => void;
}

/** Owns the worker that reads files of rollouts and of runs. */
export class ReaderClient {
  readonly #client: WorkerClient<ReaderCommand, ReaderEvent>;

  /** Starts the worker. */
  constructor({ onEvent, onLoss }: ReaderListener) {
    this.#client = new WorkerClient(
      'The worker that reads files',
      () => new Worker(new URL('../../reader.ts', import.meta.url), { type: 'module', name: 'reading' }),
      {
        onEvent: (event) => {
          this.#client.limitSilence(MAX_SILENCE_MS);
          if (event.type === 'read') this.#client.answer(event.id, event.rollouts);
          else if (event.type === 'run') this.#client.answer(event.id, event.read);
          else if (event.type !== 'alive') onEvent(event);
        },
        onLoss,
      },
    );
  }

  send(command: ReaderCommand): void {
    this.#client.send(command);
  }

  /** Reads the rollouts of these rows, in order. If the worker ends before it answers, each is a problem. */
  read(rows: readonly number[]): Promise<readonly ReadRollout[]> {
    return this.#client.ask<readonly ReadRollout[]>(
      (id) => ({ type: 'read', id, rows }),
      () => rows.map((row) => ({ row, problem: READING_STOPPED })),
    );
  }

  /** Reads the run of a file. If the worker ends before it answers, resolves with a problem. */
  readRun(file: RunFile): Promise<ReadRun> {
    return this.#client.ask<ReadRun>(
      (id) => ({ type: 'run', id, file }),
      () => ({ problem: READING_STOPPED }),
    );
  }

  /** Ends the worker unless it is heard within this time; an idle worker is heard every second. */
  endUnlessHeardWithin(ms: number): void {
    this.#client.limitSilence(ms);
  }

  /** Ends the worker. Open requests resolve with a problem. */
  terminate(): void {
    this.#client.terminate();
  }
}

/** Problem of a rollout or run that cannot be read because the worker has ended. */
export const READING_STOPPED = 'reading has stopped: open the files again';
