import { existsSync } from 'node:fs';
import { differencesOf, isSameRun, plannedRuns, resultsByArm, usableResult } from '../experiments/experimentPlan.ts';
import { tableJson } from '../experiments/experimentExports.ts';
import { headlineColumn } from '../experiments/experimentDefinition.ts';
import { measuredIn, resultTable } from '../experiments/resultTable.ts';
import type { RunIdentity } from '../experiments/runResult.ts';
import { type ExperimentArguments, parseExperimentArguments, USAGE } from './experimentArguments.ts';
import { type ExperimentFiles, experimentFiles } from './experimentFiles.ts';
import { callerPath, readWhole } from './files.ts';
import { ONE_RUN, serveOneRun } from './oneRun.ts';
import { program } from './program.ts';
import { bar, terminalText } from './progressBar.ts';
import { runInProcesses } from './runInProcesses.ts';
import { listenForStop } from './stopSignal.ts';

const MAX_BYTES = 1e6; // of a sweep's file
const MAX_NAMED = 20; // runs in a list of messages

const say = (line: string) => console.error(line);
const nameOf = ({ arm, seed }: RunIdentity) => `${arm} seed ${seed}`;

/**
 * `npm run experiment` and `npm run sweep`: trains every run without a result, then writes the table. Returns exit code
 * 1 if runs failed or are missing.
 */
async function main(args: readonly string[]): Promise<number> {
  const options = await parseExperimentArguments(args, async (name) => {
    const file = callerPath(name);
    return existsSync(file) ? new TextDecoder().decode(await readWhole(file, MAX_BYTES)) : null;
  });
  const { plan, json, only } = options;
  const files = await experimentFiles(callerPath(options.out), plan, say);
  for (const folder of options.merge) await files.merge(callerPath(folder));
  const stop = listenForStop(() => performance.now());
  const failed = only === 'table' ? [] : await runAll(options, files, stop.signal);
  const results = [...(await files.read()).values()];
  const table = resultTable(plan, results);
  const markdown = await files.write(table, results);
  console.log(json ? tableJson(table).trimEnd() : markdown);
  if (stop.signal.aborted) say('Stopped. Run the same command again to train the missing runs.');
  for (const name of failed.slice(0, MAX_NAMED)) say(`failed: ${name}`);
  if (failed.length > 0) say(`${failed.length} of the runs failed. The same command tries them again.`);
  const missing = only === 'table' ? table.planned - table.done : 0;
  if (missing > 0) say(`${missing} of the runs are missing. The same command without --table runs them.`);
  return stop.exitCode() || (failed.length + missing > 0 ? 1 : 0);
}

/** Trains the runs of a shard without a result, each in its own process. Returns the names of the failed runs. */
async function runAll(
  { plan, shard, jobs, json }: ExperimentArguments,
  files: ExperimentFiles,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const runs = plannedRuns(plan).filter((_, index) => index % shard.n === shard.i - 1);
  const resultsOf = resultsByArm((await files.read()).values());
  const waiting = runs.filter((run) => !usableResult(run, resultsOf(run.arm)));
  const doneBefore = runs.length - waiting.length;
  if (!json) {
    say(`${plan.experiment.label}: ${runs.length} runs, ${doneBefore} of them done.`);
    for (const line of waiting.flatMap((run) => otherSettings(run, resultsOf(run.arm))).slice(0, MAX_NAMED)) say(line);
  }
  const show = bars(process.stderr, json, { done: doneBefore, total: runs.length });
  const failed: string[] = [];
  const began = performance.now();
  let ended = 0;
  const showEnded = (run: RunIdentity, words: string) => {
    ended++;
    const seconds = ((performance.now() - began) / 1000 / ended) * (waiting.length - ended);
    show.runEnded(nameOf(run), words, { done: doneBefore + ended, total: runs.length, seconds });
  };
  const headline = headlineColumn(plan.experiment);
  await runInProcesses(waiting, {
    ...{ jobs, signal },
    onUpdate: (run, { update }) => show.update(nameOf(run), update, run.config.updates),
    storeLog: files.add,
    onDone: (run, result) => {
      const value = headline && measuredIn(result, headline.measure);
      showEnded(run, `${headline?.label ?? ''} ${value?.toFixed(3) ?? '–'} in ${result.seconds.toFixed(1)} s`);
    },
    onFailure: (run, why) => {
      failed.push(`${nameOf(run)}: ${why}`);
      showEnded(run, why);
    },
  });
  show.end();
  return failed;
}

/** Says why a run's result isn't used again. Empty if it has none. */
function otherSettings(run: RunIdentity, results: Parameters<typeof usableResult>[1]): readonly string[] {
  const old = results.findLast((result) => isSameRun(result, run));
  return old ? [`${nameOf(run)}: has a result with other settings (${differencesOf(old, run).join(', ')}).`] : [];
}

if (process.argv[2] === ONE_RUN) serveOneRun();
else await program('experiment', USAGE, main);

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
