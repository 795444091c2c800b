import { constants } from 'node:os';

/** That a person or a scheduler wants a program to end. */
export interface Stopping {
  readonly signal: AbortSignal;
  /** What shells and schedulers know the end by: 128 and the signal's number, 130 for Ctrl-C; 0: nobody wants it. */
  readonly exitCode: () => number;
}

/** A terminal's Ctrl-C may come twice at once: by itself and through whoever started the program. */
const SAME_MS = 1000;

/** Hears SIGINT and SIGTERM. The first asks the program to end by itself; one more, a second later, ends it at once. */
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
