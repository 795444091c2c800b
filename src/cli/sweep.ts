import { sweepRuns, shardOf, type SweepRun } from '../sweeps/runs.ts';
import { parseSweep, type Sweep } from '../sweeps/sweepFile.ts';
import { sweepJson, sweepCsv, sweepMarkdown } from '../sweeps/sweepExports.ts';
import { matchingResult, sweepTable, type SweepTable } from '../sweeps/sweepTable.ts';
import { callerPath, readWhole, writeWhole } from './files.ts';
import { ONE_RUN, serveOneRun } from './oneRun.ts';
import { program } from './program.ts';
import { runInProcesses } from './runInProcesses.ts';
import { type RunLogs, runLogs } from './runLogs.ts';
import { listenForStop } from './stopSignal.ts';
import { parseSweepArguments, type SweepArguments, USAGE } from './sweepArguments.ts';
import path from 'node:path';
import { bar } from './progressBar.ts';
import { terminalText } from './terminalText.ts';

/** The subfolder of a sweep's folder that holds the logs of its runs. */
const runsFolder = (folder: string) => path.join(folder, 'runs');

/** Writes table.md, table.csv and table.json into the folder of a sweep. Returns the Markdown. Throws ProblemError. */
async function writeSweepTable(folder: string, table: SweepTable): Promise<string> {
  const markdown = sweepMarkdown(table);
  await writeWhole(path.join(folder, 'table.md'), markdown);
  await writeWhole(path.join(folder, 'table.csv'), sweepCsv(table));
  await writeWhole(path.join(folder, 'table.json'), sweepJson(table));
  return markdown;
}

const MAX_BYTES = 1e6; // of a sweep's file
const MAX_NAMED = 20; // failed runs

/** `npm run sweep`: trains every run without a result, then writes the table. Returns exit code 1 if runs failed or are missing. */
async function main(args: readonly string[]): Promise<number> {
  const options = parseSweepArguments(args);
  const say = (line: string) => console.error(line);
  const sweep = parseSweep(new TextDecoder().decode(await readWhole(callerPath(options.file), MAX_BYTES)));
  const all = sweepRuns(sweep);
  const out = callerPath(options.out);
  const logs = await runLogs(runsFolder(out), 'sweep', say);
  for (const folder of options.merge) await logs.copyMissing(runsFolder(callerPath(folder)));
  const stop = listenForStop(() => performance.now());
  const failed =
    options.only === 'table' ? [] : await runAll(sweep, shardOf(all, options.shard), logs, options, stop.signal);
  const table = sweepTable(sweep, await logs.read());
  const markdown = await writeSweepTable(out, table);
  console.log(options.json ? sweepJson(table).trimEnd() : markdown);
  if (stop.signal.aborted) say('Stopped. Run the same command again to train the missing runs.');
  for (const name of failed.slice(0, MAX_NAMED)) say(`failed: ${name}`);
  if (failed.length > 0) say(`${failed.length} of the runs failed. The same command tries them again.`);
  const missing = options.only === 'table' ? table.planned - table.done : 0;
  if (missing > 0) say(`${missing} of the runs are missing. The same command without --table runs them.`);
  return stop.exitCode() || (failed.length + missing > 0 ? 1 : 0);
}

/** Trains the runs without a result, each in its own process. Returns the names of the failed runs. */
async function runAll(
  { metric, take }: Sweep,
  runs: readonly SweepRun[],
  logs: RunLogs,
  { jobs, json }: Pick<SweepArguments, 'jobs' | 'json'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const results = await logs.read();
  const waiting = runs.filter((run) => !matchingResult(run, results));
  const doneBefore = runs.length - waiting.length;
  if (!json) console.error(`${runs.length} runs, ${doneBefore} of them done.`);
  const show = bars(process.stderr, json, { done: doneBefore, total: runs.length });
  const failed: string[] = [];
  const began = performance.now();
  const nameOf = ({ arm, seed }: SweepRun) => `${arm} seed ${seed}`;
  let ended = 0;
  const showEnded = (run: SweepRun, words: string) => {
    ended++;
    const seconds = ((performance.now() - began) / 1000 / ended) * (waiting.length - ended);
    show.runEnded(nameOf(run), words, { done: doneBefore + ended, total: runs.length, seconds });
  };
  await runInProcesses(waiting, {
    ...{ jobs, signal },
    onUpdate: (run, { update }) => show.update(nameOf(run), update, run.config.updates),
    storeLog: logs.add,
    onDone: (run, { metrics, seconds }) => {
      const value = metrics[metric]?.[take];
      showEnded(run, `${metric} ${value?.toFixed(3) ?? '–'} in ${seconds.toFixed(1)} s`);
    },
    onFailure: (run, why) => {
      failed.push(`${nameOf(run)}: ${why}`);
      showEnded(run, why);
    },
  });
  show.end();
  return failed;
}

if (process.argv[2] === ONE_RUN) serveOneRun();
else await program('sweep', USAGE, main);

interface RunCounts {
  readonly done: number;
  readonly total: number;
}

interface Bars {
  /** Shows how many updates of a run are done. Does nothing if `quiet`, or unless the output is a terminal. */
  readonly update: (run: string, done: number, total: number) => void;
  /** Reports, with `words`, that a run has ended. `seconds` is the estimated time until all have ended. */
  readonly runEnded: (run: string, words: string, all: RunCounts & { readonly seconds: number }) => void;
  readonly end: () => void;
}

/** Writes a line for each run that ends; on a terminal also a bar for all and for each run, as far as it has lines. Quiet: nothing. */
function bars(out: NodeJS.WriteStream, quiet: boolean, initial: RunCounts): Bars {
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
