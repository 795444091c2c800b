import { bar } from './progressBar.ts';

/** The number of runs that have ended, and the number of all runs. */
interface Ended {
  readonly done: number;
  readonly of: number;
}

/** Shows the progress of several runs at once. */
export interface Bars {
  /** Shows how many updates of a run are done. Does nothing if `quiet`, or unless the output is a terminal. */
  readonly update: (run: string, done: number, total: number) => void;
  /** Reports, with `words`, that a run has ended. `seconds` is the estimated time until all have ended. */
  readonly ended: (run: string, words: string, all: Ended & { readonly seconds: number }) => void;
  readonly end: () => void;
}

/**
 * Writes a line for each run that ends. On a terminal, also shows a bar for all runs and one for each run in progress,
 * as far as the screen has lines. Shows nothing if `quiet`.
 */
export function bars(out: NodeJS.WriteStream, quiet: boolean, begun: Ended): Bars {
  const live = out.isTTY && !quiet;
  const runLines = new Map<string, string>(); // by run in progress: its line
  let all = `${bar(begun.done, begun.of)} ${begun.done} of ${begun.of} runs`;
  let drawn = 0; // lines on the screen
  const clear = () => {
    if (drawn > 0) out.write(`\u001b[${drawn}A\r\u001b[J`);
    drawn = 0;
  };
  const draw = () => {
    if (!live) return;
    clear();
    // lines that scroll off the screen could not be erased
    const lines = [all, ...runLines.values()].slice(0, out.rows - 1);
    out.write(lines.map((text) => `${text.slice(0, out.columns - 1)}\n`).join(''));
    drawn = lines.length;
  };
  return {
    update: (run, done, total) => {
      runLines.set(run, `${bar(done, total)} ${done}/${total}  ${run}`);
      draw();
    },
    ended: (run, words, { done, of, seconds }) => {
      runLines.delete(run);
      if (quiet) return;
      const left = done < of ? `about ${duration(seconds)} left` : '';
      clear();
      out.write(`[${done}/${of}] ${run}: ${words}${live || left === '' ? '' : `; ${left}`}\n`);
      all = `${bar(done, of)} ${done} of ${of} runs  ${left}`;
      draw();
    },
    end: () => {
      if (live) clear();
    },
  };
}

function duration(seconds: number): string {
  return seconds < 90
    ? `${seconds.toFixed(0)} s`
    : seconds < 5400
      ? `${(seconds / 60).toFixed(0)} min`
      : `${(seconds / 3600).toFixed(1)} h`;
}
