import type { RunCommand } from '../../wire/commands.ts';
import type { RunEvent } from '../../wire/events.ts';

const PING_MS = 2000;
/** A worker that has not answered for so long may be stuck, or busy with a large model: the page says so and waits on. */
const SILENT_MS = 10_000;
/** What is said of such a worker, after its name. */
export const SILENT_WORDS = `has not answered for ${SILENT_MS / 1000} s`;

/** What is told of a worker that is watched. */
export interface Watcher {
  readonly onDeath: () => void; // it has ended without a word: certain, and told at once
  readonly onSilence: (silent: boolean) => void; // it has not answered for ten seconds; false: it does again
}

/**
 * Watches whether a worker is alive. The worker holds a lock; when it dies, the page gets the lock. The page also asks it every two
 * seconds, because a stuck worker keeps its lock but does not answer. Without locks only silence shows a dead worker. Returns a
 * function that stops watching.
 */
export function watchWorker(worker: Worker, { onDeath, onSilence }: Watcher): () => void {
  const { locks } = navigator as Partial<Navigator>;
  const lock = `rollout-playground-worker-${[...crypto.getRandomValues(new Uint32Array(2))].join('-')}`;
  const watching = new AbortController();
  let asked: number | null = null; // when, if it has said nothing since
  let silent = false;
  const send = (command: RunCommand) => worker.postMessage(command);
  const hear = ({ data }: MessageEvent<RunEvent>) => {
    asked = null;
    if (silent) onSilence((silent = false));
    if (data.type !== 'alive' || !data.holds) return;
    const { signal } = watching;
    locks?.request(lock, { signal }, () => signal.aborted || onDeath()).catch(() => undefined);
  };
  worker.addEventListener('message', hear);
  send({ type: 'live', lock });
  const timer = setInterval(() => {
    const now = performance.now();
    if (asked === null) {
      asked = now;
      send({ type: 'ping' });
    } else if (!silent && now - asked >= SILENT_MS) onSilence((silent = true));
  }, PING_MS);
  return () => {
    clearInterval(timer);
    watching.abort();
    worker.removeEventListener('message', hear);
  };
}
