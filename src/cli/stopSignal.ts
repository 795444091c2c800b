import { constants } from 'node:os';

/** A request by a person or a scheduler to end the program. */
export interface StopRequest {
  readonly signal: AbortSignal;
  /** 128 plus the signal's number, by which shells and schedulers recognise it; 130 for Ctrl-C. 0: no signal. */
  readonly exitCode: () => number;
}

/** Ms within which a second signal is ignored: Ctrl-C may arrive twice at once, directly and through the parent process. */
const SAME_MS = 1000;

/** The first SIGINT or SIGTERM aborts `signal`. Another one more than a second later ends the program at once. */
export function listenForStop(now: () => number): StopRequest {
  const abort = new AbortController();
  let code = 0;
  let firstTime = 0;
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (code !== 0 && now() - firstTime > SAME_MS) process.exit(code);
      if (code !== 0) return;
      [code, firstTime] = [128 + constants.signals[name], now()];
      abort.abort();
    });
  }
  return { signal: abort.signal, exitCode: () => code };
}
