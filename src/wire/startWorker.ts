import { placeProblem } from '../base/pagePlace.ts';

/** A worker that the page watches posts a sign of life this often. A worker that computes without a break can't. */
export const ALIVE_INTERVAL_MS = 1000;

/** Makes a worker post signs of life, the first at once. */
export function postSignsOfLife(post: () => void): void {
  post();
  setInterval(post, ALIVE_INTERVAL_MS);
}

/**
 * Starts a worker. If the browser refuses to, the returned worker does nothing and fires `error` a moment later. So a
 * caller handles a refusal like any other end of its worker; `workerFailure` has the words for all of them.
 */
export function startWorker(make: () => Worker): Worker {
  try {
    return make();
  } catch (error) {
    return new RefusedWorker(error instanceof Error ? error.message : String(error)) as unknown as Worker;
  }
}

/** A sentence on why a worker ended, from its `error` event, and what to do. `name`: the worker, to begin the sentence with. */
export function workerFailure(name: string, event: Pick<ErrorEvent, 'message'>): string {
  if (event instanceof RefusalEvent)
    return `${name} can’t start: the browser refused it (${event.message}). ${placeProblem() ?? TRY_ELSEWHERE}`;
  // the message is empty if the script could not be loaded
  if (event.message) return `${name} stopped: ${event.message}`;
  return `${name} could not be loaded. ${placeProblem() ?? 'Check the connection, and reload the page.'}`;
}

const TRY_ELSEWHERE =
  'An extension or a setting of the browser may forbid workers on this site. Allow them, or try another browser.';

class RefusalEvent extends Event {
  readonly message: string;

  constructor(message: string) {
    super('error', { cancelable: true });
    this.message = message;
  }
}

/** Stands in for a worker that the browser refused to start. */
class RefusedWorker extends EventTarget {
  onerror: ((event: RefusalEvent) => void) | null = null;
  #isEnded = false;

  constructor(reason: string) {
    super();
    setTimeout(() => {
      if (this.#isEnded) return;
      const event = new RefusalEvent(reason);
      this.onerror?.(event);
      this.dispatchEvent(event);
    });
  }

  postMessage(): void {
    // nobody is there to read it
  }

  terminate(): void {
    this.#isEnded = true;
  }
}
