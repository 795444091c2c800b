import { bar } from './progressBar.ts';
import { terminalText } from './terminalText.ts';

/** How many of all runs have ended. */
interface RunCounts {
  readonly done: number;
  readonly total: number;
}

/** Shows the progress of several runs at once. */
export interface Bars {
  /** Shows how many updates of a run are done. Does nothing if `quiet`, or unless the output is a terminal. */
  readonly update: (run: string, done: number, total: number) => void;
  /** Reports, with `words`, that a run has ended. `seconds` is the estimated time until all have ended. */
  readonly runEnded: (run: string, words: string, all: RunCounts & { readonly seconds: number }) => void;
  readonly end: () => void;
}

/**
 * Writes a line for each run that ends. On a terminal, also shows a bar for all runs and one for each run in progress,
 * as far as the screen has lines. Shows nothing if `quiet`.
 */
export function bars(out: NodeJS.WriteStream, quiet: boolean, initial: RunCounts): Bars {
  const live = out.isTTY && !quiet;
  const runLines = new Map<string, string>(); // by run in progress: its line
  let totalLine = `${bar(initial.done, initial.total)} ${initial.done} of ${initial.total} runs`;
  let shownLines = 0; // lines on the screen
  const clearLines = () => {
    if (shownLines > 0) out.write(`\u001b[${shownLines}A\r\u001b[J`);
    shownLines = 0;
  };
  const show = () => {
    if (!live) return;
    clearLines();
    // lines that scroll off the screen could not be erased
    const lines = [totalLine, ...runLines.values()].slice(0, out.rows - 1);
    out.write(lines.map((text) => `${text.slice(0, out.columns - 1)}\n`).join(''));
    shownLines = lines.length;
  };
  return {
    update: (run, done, total) => {
      runLines.set(run, `${bar(done, total)} ${done}/${total}  ${run}`);
      show();
    },
    runEnded: (run, words, { done, total, seconds }) => {
      runLines.delete(run);
      if (quiet) return;
      const timeLeft = done < total ? `about ${duration(seconds)} left` : '';
      clearLines();
      out.write(
        `[${done}/${total}] ${terminalText(`${run}: ${words}`)}${live || timeLeft === '' ? '' : `; ${timeLeft}`}\n`,
      );
      totalLine = `${bar(done, total)} ${done} of ${total} runs  ${timeLeft}`;
      show();
    },
    end: () => {
      if (live) clearLines();
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
