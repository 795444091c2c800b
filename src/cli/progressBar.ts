import type { Metrics } from '../domain/metrics.ts';
import type { BackendInfo } from '../domain/backendInfo.ts';
import type { Phase } from '../domain/trainingEvent.ts';

const BAR = 24;

/** What a terminal shows of a run: one moving line, or a line now and then where there is no terminal. */
export interface Progress {
  readonly ready: (backend: BackendInfo) => void;
  readonly phase: (event: { readonly phase: Phase; readonly done: number; readonly total: number }) => void;
  readonly imitated: (step: { readonly done: number; readonly total: number; readonly loss: number }) => void;
  readonly update: (update: number, total: number, values: Metrics) => void;
  readonly problem: (message: string, hint: string) => void;
  readonly end: () => void;
}

/** Writes progress to a stream; `quiet` says only what went wrong, unless the stream is a terminal. */
export function progress(out: NodeJS.WriteStream, quiet: boolean): Progress {
  const live = out.isTTY;
  const line = (text: string) => {
    if (live) out.write(`\r\u001b[K${text.slice(0, out.columns - 1)}`);
    else if (!quiet) out.write(`${text}\n`);
  };
  return {
    ready: ({ kind, adapter, reason }) => {
      if (!quiet) out.write(`${live ? '\r\u001b[K' : ''}${kind}: ${adapter}${reason ? ` (${reason})` : ''}\n`);
    },
    phase: ({ phase, done, total }) => {
      if (live && total > 0 && phase === 'warm-start') line(`${bar(done, total)} warm start ${done}/${total}`);
      if (live && phase === 'imitating') line(`${bar(done, total)} imitation ${done}/${total}`);
    },
    imitated: ({ done, total, loss }) =>
      line(`${bar(done, total)} imitation ${done}/${total}  loss ${loss.toFixed(3)}`),
    update: (update, total, values) => {
      if (!live && update % 10 !== 0 && update !== total) return;
      const number = (name: keyof Metrics, label: string) => {
        const value = values[name];
        return value === undefined ? [] : [`${label} ${value.toFixed(3)}`];
      };
      const shown = [
        ...number('critic/score/mean', 'reward'),
        ...number('rollout/success', 'success'),
        ...number('actor/entropy', 'entropy'),
        ...number('eval/success', 'evaluated'),
        ...number('time/update', 's'),
      ];
      line(`${bar(update, total)} ${update}/${total}  ${shown.join('  ')}`);
    },
    problem: (message, hint) => out.write(`${live ? '\r\u001b[K' : ''}${message} ${hint}\n`),
    end: () => {
      if (live) out.write('\n');
    },
  };
}

/** A text bar for the share `done` of `total`. */
export function bar(done: number, total: number): string {
  const filled = Math.min(BAR, Math.round((BAR * done) / Math.max(1, total)));
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR - filled)}]`;
}
