import type { ExaminerCommand, ExaminerEvent } from '../../written/examinerMessages.ts';
import { noteFailure } from '../shell/newVersion.ts';

/** How long a worker that is there may say nothing. What an environment may compute is counted; this stands behind it. */
const SILENT_MS = 10_000;

/** Callbacks for what the examiner reports. */
export interface ExaminerListener {
  readonly onEvent: (event: Exclude<ExaminerEvent, { type: 'here' | 'failed' }>) => void;
  /** It has ended; why, in a sentence. */
  readonly onLoss: (why: string) => void;
}

/** The owner of a worker that examines an environment's file. */
export class ExaminerClient {
  readonly #worker: Worker;
  readonly #onLoss: ExaminerListener['onLoss'];
  #watch: ReturnType<typeof setTimeout> | undefined;

  /** Starts the worker. `watched`: it is ended when it has said nothing for ten seconds. */
  constructor({ onEvent, onLoss }: ExaminerListener, watched: boolean) {
    this.#onLoss = onLoss;
    this.#worker = new Worker(new URL('../../examiner.ts', import.meta.url), { type: 'module', name: 'examining' });
    this.#worker.onmessage = ({ data }: MessageEvent<ExaminerEvent>) => {
      if (watched) this.#heard();
      if (data.type === 'failed') this.#lose(`The sandbox stopped: ${data.message}`);
      else if (data.type !== 'here') onEvent(data);
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      void noteFailure(event.message);
      this.#lose(
        event.message
          ? `The sandbox stopped: ${event.message}`
          : 'The code of the check couldn’t be loaded. Reload the page.',
      );
    };
  }

  /** Sends a command. */
  send(command: ExaminerCommand): void {
    this.#worker.postMessage(command);
  }

  /** Ends the worker, whatever it does. */
  terminate(): void {
    clearTimeout(this.#watch);
    this.#worker.terminate();
  }

  #heard(): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(
      () => this.#lose(`The sandbox didn’t answer for ${SILENT_MS / 1000} seconds, so the page ended it.`),
      SILENT_MS,
    );
  }

  #lose(why: string): void {
    this.terminate();
    this.#onLoss(why);
  }
}
