import { startWorker, workerFailure } from '../../wire/startWorker.ts';
import { noteFailure } from '../shell/newVersion.ts';
import type { SpeakerCommand, SpeakerEvent } from '../../wire/speakerMessages.ts';

/** Receives the events of the worker that runs a checkpoint. `onLoss`: the worker has stopped. */
export interface SpeakerListener {
  readonly onEvent: (event: SpeakerEvent) => void;
  readonly onLoss: (message: string) => void;
}

/** Owns the worker that runs a checkpoint. */
export class SpeakerClient {
  readonly #worker: Worker;

  /** Starts the worker. */
  constructor({ onEvent, onLoss }: SpeakerListener) {
    this.#worker = startWorker(
      () => new Worker(new URL('../../speaker.ts', import.meta.url), { type: 'module', name: 'speaking' }),
    );
    this.#worker.onmessage = ({ data }: MessageEvent<SpeakerEvent>) => onEvent(data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      void noteFailure(event.message);
      onLoss(workerFailure('The worker that reads the model', event));
    };
  }

  /** Sends a command. */
  send(command: SpeakerCommand): void {
    this.#worker.postMessage(command);
  }

  /** Ends the worker and frees its memory at once. */
  terminate(): void {
    this.#worker.terminate();
  }
}
