import type { RunCommand } from '../../wire/commands.ts';
import type { RunEvent } from '../../wire/events.ts';

const PING_MS = 2000;
/** After this time a worker may be stuck, or busy with a large model. The page says so and keeps waiting. */
const SILENT_MS = 10_000;
/** Text about a silent worker, for use after its name. */
export const SILENT_WORDS = `has not answered for ${SILENT_MS / 1000} s`;

export interface Watcher {
  readonly onDeath: () => void; // the worker has ended without a message; this is certain, and called at once
  // true: the worker has not answered for ten seconds; false: it answers again
  readonly onSilence: (silent: boolean) => void;
}

/**
 * Watches whether a worker is alive. The worker holds a lock; when it dies, the page gets the lock. The page also asks
 * it every two seconds, because a stuck worker keeps its lock but does not answer. Without locks only silence shows a
 * dead worker. Returns a function that stops watching.
 */
export function watchWorker(worker: Worker, { onDeath, onSilence }: Watcher): () => void {
  const { locks } = navigator as Partial<Navigator>;
  const lock = `rollout-playground-worker-${[...crypto.getRandomValues(new Uint32Array(2))].join('-')}`;
  const watching = new AbortController();
  let pingTime: number | null = null; // time of the last ping that has not been answered; null: none
  let silent = false;
  const send = (command: RunCommand) => worker.postMessage(command);
  const onMessage = ({ data }: MessageEvent<RunEvent>) => {
    pingTime = null;
    if (silent) onSilence((silent = false));
    if (data.type !== 'alive' || !data.holds) return;
    const { signal } = watching;
    locks?.request(lock, { signal }, () => signal.aborted || onDeath()).catch(() => undefined);
  };
  worker.addEventListener('message', onMessage);
  send({ type: 'live', lock });
  const timer = setInterval(() => {
    const now = performance.now();
    if (pingTime === null) {
      pingTime = now;
      send({ type: 'ping' });
    } else if (!silent && now - pingTime >= SILENT_MS) onSilence((silent = true));
  }, PING_MS);
  return () => {
    clearInterval(timer);
    watching.abort();
    worker.removeEventListener('message', onMessage);
  };
}
