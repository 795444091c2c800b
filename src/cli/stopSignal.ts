import { constants } from 'node:os';

/** A request by a person or a scheduler to end the program. */
export interface Stopping {
  readonly signal: AbortSignal;
  /** The exit code by which shells and schedulers recognise the signal: 128 plus its number, 130 for Ctrl-C; 0 without a signal. */
  readonly exitCode: () => number;
}

/** Ctrl-C in a terminal may arrive twice at once: directly and through the parent process. A second signal within this time, ms, is ignored. */
const SAME_MS = 1000;

/** Handles SIGINT and SIGTERM. The first asks the program to end by itself; another one, more than a second later, ends it at once. */
export function stopping(now: () => number): Stopping {
  const abort = new AbortController();
  let code = 0;
  let first = 0;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (code !== 0 && now() - first > SAME_MS) process.exit(code);
      if (code !== 0) return;
      [code, first] = [128 + constants.signals[name], now()];
      abort.abort();
    });
  }
  return { signal: abort.signal, exitCode: () => code };
}
