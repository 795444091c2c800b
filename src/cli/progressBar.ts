import type { Metrics } from '../domain/metrics.ts';
import type { BackendInfo } from '../domain/backendInfo.ts';
import type { ModelCost, Phase, TrainingEvent } from '../domain/trainingEvent.ts';

const BAR_WIDTH = 24;

/** Shows the progress of a run: on a terminal one line that changes, elsewhere a new line now and then. */
export interface Progress {
  readonly ready: (backend: BackendInfo) => void;
  readonly phase: (event: { readonly phase: Phase; readonly done: number; readonly total: number }) => void;
  readonly imitated: (step: Omit<Extract<TrainingEvent, { type: 'imitated' }>, 'type'>) => void;
  readonly larger: (model: ModelCost) => void;
  readonly update: (update: number, total: number, values: Metrics) => void;
  readonly problem: (message: string, hint: string) => void;
  readonly end: () => void;
}

/** Writes progress to a stream. If `quiet` and the stream is not a terminal, writes only problems. */
export function progress(out: NodeJS.WriteStream, quiet: boolean): Progress {
  const live = out.isTTY;
  const line = (text: string) => {
    if (live) out.write(`\r\u001b[K${text.slice(0, out.columns - 1)}`);
    else if (!quiet) out.write(`${text}\n`);
  };
  const writeText = (text: string) => out.write(`${live ? '\r\u001b[K' : ''}${terminalText(text)}\n`);
  return {
    ready: ({ kind, adapter, reason }) => {
      if (!quiet) writeText(`${kind}: ${adapter}${reason ? ` (${reason})` : ''}`);
    },
    phase: ({ phase, done, total }) => {
      if (live && phase === 'imitating') line(`${bar(done, total)} imitation ${done}/${total}`);
    },
    imitated: ({ done, total, loss, tries }) => {
      const ofExpert = tries && tries.expert > 0 ? `, the expert ${tries.expert}` : '';
      const solved = tries ? `  solves ${tries.solved}/${tries.played} by itself${ofExpert}` : '';
      if (live || total < 100 || done % 10 === 0 || done === total)
        line(`${bar(done, total)} imitation ${done}/${total}  loss ${loss.toFixed(3)}${solved}`);
    },
    larger: ({ parameters }) => {
      line(`Imitation taught this model too little. It starts again with ${parameters} parameters.`);
    },
    update: (update, total, values) => {
      if (!live && update % 10 !== 0 && update !== total) return;
      const metricText = (name: keyof Metrics, label: string) => {
        const value = values[name];
        return value === undefined ? [] : [`${label} ${value.toFixed(3)}`];
      };
      const shown = [
        ...metricText('critic/score/mean', 'reward'),
        ...metricText('rollout/success', 'success'),
        ...metricText('actor/entropy', 'entropy'),
        ...metricText('eval/success', 'evaluated'),
        ...metricText('time/update', 's'),
      ];
      line(`${bar(update, total)} ${update}/${total}  ${shown.join('  ')}`);
    },
    problem: (message, hint) => writeText(`${message} ${hint}`),
    end: () => {
      if (live) out.write('\n');
    },
  };
}

export function bar(done: number, total: number): string {
  const filled = Math.min(BAR_WIDTH, Math.round((BAR_WIDTH * done) / Math.max(1, total)));
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}]`;
}

/** Control characters (Unicode's category Cc) other than a tab and the end of a line. */
const CONTROLS = /(?![\t\n])\p{Cc}/gu;

/** Can't move the cursor, change colours or write to the clipboard: control characters become JSON's `\u001b`, so JSON stays intact. */
export function terminalText(text: string): string {
  return text.replace(CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** What `console.log` and `console.error` write goes through `terminalText`: it may quote files and servers that somebody else made. */
export function escapeConsole(): void {
  for (const name of ['log', 'error'] as const) {
    const write = console[name].bind(console);
    console[name] = (...values: readonly unknown[]) =>
      write(...values.map((value) => (typeof value === 'string' ? terminalText(value) : value)));
  }
}
