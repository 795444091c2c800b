import type { RunFile } from '../../runs/sentRun.ts';
import type { ReaderCommand, ReaderEvent, ReadRollout, ReadRun } from '../../wire/readerMessages.ts';
import { startWorker, workerFailure } from '../../wire/startWorker.ts';
import { noteFailure } from '../shell/newVersion.ts';

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
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  readonly #runs = new Map<number, (read: ReadRun) => void>();
  #lastId = 0;
  readonly #onLoss: ReaderListener['onLoss'];
  readonly #watchdog: ReturnType<typeof setInterval>;
  #heardAt: number | null = null; // null: the worker is still being loaded
  #checkedAt = 0;

  /** Starts the worker. */
  constructor({ onEvent, onLoss }: ReaderListener) {
    this.#worker = startWorker(
      () => new Worker(new URL('../../reader.ts', import.meta.url), { type: 'module', name: 'reading' }),
    );
    this.#onLoss = onLoss;
    this.#watchdog = setInterval(() => this.#check(), CHECK_INTERVAL_MS);
    this.#worker.onmessage = ({ data }: MessageEvent<ReaderEvent>) => {
      this.#heardAt = performance.now();
      if (data.type === 'alive') return;
      if (data.type === 'read') {
        this.#waiting.get(data.id)?.resolve(data.rollouts);
        this.#waiting.delete(data.id);
      } else if (data.type === 'run') {
        this.#runs.get(data.id)?.(data.read);
        this.#runs.delete(data.id);
      } else onEvent(data);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      void noteFailure(event.message);
      this.terminate();
      onLoss(workerFailure('The worker that reads files', event), false);
    };
  }

  /** Sends a command. */
  send(command: ReaderCommand): void {
    this.#worker.postMessage(command);
  }

  /** Reads the rollouts of these rows, in order. If the worker ends before it answers, each is a problem. */
  read(rows: readonly number[]): Promise<readonly ReadRollout[]> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#waiting.set(id, { rows, resolve });
      this.send({ type: 'read', id, rows });
    });
  }

  /** Reads the run of a file. If the worker ends before it answers, resolves with a problem. */
  readRun(file: RunFile): Promise<ReadRun> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#runs.set(id, resolve);
      this.send({ type: 'run', id, file });
    });
  }

  /** Ends the worker if it hasn't been heard for this long; an idle worker is heard every second. */
  endIfSilent(ms: number): void {
    if (this.#heardAt === null || performance.now() - this.#heardAt < ms) return;
    this.terminate();
    this.#onLoss('Reading did not end, so it was stopped.', true);
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
    this.#worker.terminate();
    for (const { rows, resolve } of this.#waiting.values())
      resolve(rows.map((row) => ({ row, problem: READING_STOPPED })));
    this.#waiting.clear();
    for (const resolve of this.#runs.values()) resolve({ problem: READING_STOPPED });
    this.#runs.clear();
  }
}

const CHECK_INTERVAL_MS = 1000;
/** Longest time in which the worker may compute without a break. One step of reading takes seconds at most. */
const MAX_SILENCE_MS = 20_000;

/** Problem of a rollout or run that cannot be read because the worker has ended. */
export const READING_STOPPED = 'reading has stopped: open the files again';

interface Waiting {
  readonly rows: readonly number[];
  readonly resolve: (rollouts: readonly ReadRollout[]) => void;
}
