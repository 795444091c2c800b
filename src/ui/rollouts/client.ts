import type { ReaderCommand, ReaderEvent, ReadRollout } from '../../wire/reading.ts';

/** Who is told what the reader finds. */
export interface ReaderListener {
  readonly onEvent: (event: Exclude<ReaderEvent, { type: 'read' }>) => void;
  readonly onLoss: (message: string) => void;
}

/** The owner of the worker that reads files of rollouts. */
export class ReaderClient {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, (rollouts: readonly ReadRollout[]) => void>();
  #asked = 0;

  /** Starts the worker. */
  constructor({ onEvent, onLoss }: ReaderListener) {
    this.#worker = new Worker(new URL('../../reader.ts', import.meta.url), { type: 'module', name: 'reading' });
    this.#worker.onmessage = ({ data }: MessageEvent<ReaderEvent>) => {
      if (data.type !== 'read') {
        onEvent(data);
        return;
      }
      this.#waiting.get(data.id)?.(data.rollouts);
      this.#waiting.delete(data.id);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      onLoss(event.message ? `Reading stopped: ${event.message}` : 'The worker that reads files could not be loaded.');
    };
  }

  /** Sends a command. */
  send(command: ReaderCommand): void {
    this.#worker.postMessage(command);
  }

  /** Rollouts by their rows, in order. */
  read(rows: readonly number[]): Promise<readonly ReadRollout[]> {
    const id = ++this.#asked;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.send({ type: 'read', id, rows });
    });
  }

  /** Ends the worker. */
  terminate(): void {
    this.#worker.terminate();
  }
}
