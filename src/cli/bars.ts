import { bar } from './progressBar.ts';

/** So many of so many runs. */
interface Ended {
  readonly done: number;
  readonly of: number;
}

/** What a terminal shows of several runs at once. */
export interface Bars {
  /** So many updates of a run are done; where there is no terminal, nothing. */
  readonly update: (run: string, done: number, total: number) => void;
  /** A run has ended, said in a line; so many of so many have. `seconds`: until all have, as far as can be told. */
  readonly ended: (run: string, words: string, all: Ended & { readonly seconds: number }) => void;
  readonly end: () => void;
}

/** A bar for all runs and one for each under way on a terminal; a line for each that ends elsewhere; nothing if `quiet`. */
export function bars(out: NodeJS.WriteStream, quiet: boolean, begun: Ended): Bars {
  const live = out.isTTY && !quiet;
  const under = new Map<string, string>(); // what a run's line says
  let all = `${bar(begun.done, begun.of)} ${begun.done} of ${begun.of} runs`;
  let drawn = 0; // lines on the screen
  const clear = () => {
    if (drawn > 0) out.write(`\u001b[${drawn}A\r\u001b[J`);
    drawn = 0;
  };
  const draw = () => {
    if (!live) return;
    clear();
    // more lines than the screen has could not be taken back
    const lines = [all, ...under.values()].slice(0, out.rows - 1);
    out.write(lines.map((text) => `${text.slice(0, out.columns - 1)}\n`).join(''));
    drawn = lines.length;
  };
  return {
    update: (run, done, total) => {
      under.set(run, `${bar(done, total)} ${done}/${total}  ${run}`);
      draw();
    },
    ended: (run, words, { done, of, seconds }) => {
      under.delete(run);
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
