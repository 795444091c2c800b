import type { RunFile } from '../../runs/sentRun.ts';
import type { ReaderCommand, ReaderEvent, ReadRollout, ReadRun } from '../../wire/readerMessages.ts';
import { WorkerClient } from '../browser/workerClient.ts';

/** `hung`: the worker was ended because it did not answer, as with a damaged file whose decoding never ends. */
export interface ReaderListener {
  readonly onEvent: (event: Exclude<ReaderEvent, { type: 'read' | 'run' | 'alive' }>) => void;
  readonly onLoss: (message: string, hung: boolean) => void;
}

export class ReaderClient {
  readonly #client: WorkerClient<ReaderCommand, ReaderEvent>;
  readonly #watchdog: ReturnType<typeof setInterval>;
  #heardAt: number | null = null; // null: the worker is still being loaded
  #checkedAt = 0;
  #hangs = false;

  constructor({ onEvent, onLoss }: ReaderListener) {
    this.#client = new WorkerClient(
      'The worker that reads files',
      () => new Worker(new URL('../../reader.ts', import.meta.url), { type: 'module', name: 'reading' }),
      {
        onEvent: (event) => {
          this.#heardAt = performance.now();
          if (event.type === 'read') this.#client.answer(event.id, event.rollouts);
          else if (event.type === 'run') this.#client.answer(event.id, event.read);
          else if (event.type !== 'alive') onEvent(event);
        },
        onLoss: (reason) => {
          clearInterval(this.#watchdog);
          onLoss(reason, this.#hangs);
        },
      },
    );
    this.#watchdog = setInterval(() => this.#check(), CHECK_INTERVAL_MS);
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

  /** Ends the worker if it hasn't been heard for this long; an idle worker is heard every second. */
  endIfSilent(ms: number): void {
    if (this.#heardAt === null || performance.now() - this.#heardAt < ms) return;
    this.#hangs = true;
    this.#client.fail('Reading did not end, so it was stopped.');
  }

  #check(): void {
    const now = performance.now();
    // a page that slept, as on a closed laptop, has heard nothing in that time
    if (now - this.#checkedAt > 5 * CHECK_INTERVAL_MS && this.#heardAt !== null) this.#heardAt = now;
    this.#checkedAt = now;
    this.endIfSilent(MAX_SILENCE_MS);
  }

  /** Ends the worker. Open requests resolve with a problem. */
  terminate(): void {
    clearInterval(this.#watchdog);
    this.#client.terminate();
  }
}

const CHECK_INTERVAL_MS = 1000;
/** Longest time in which the worker may compute without a break. One step of reading takes seconds at most. */
const MAX_SILENCE_MS = 20_000;

export const READING_STOPPED = 'reading has stopped: open the files again';
