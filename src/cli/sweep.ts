import { runsOf, shardOf, type SweptRun } from '../sweeps/runs.ts';
import { parseSweep, type Sweep } from '../sweeps/sweepFile.ts';
import { sweepJson } from '../sweeps/sweepExports.ts';
import { resultOf, sweepTable } from '../sweeps/sweepTable.ts';
import { bars } from './bars.ts';
import { callerPath, readWhole } from './files.ts';
import { ONE_RUN, serveOneRun } from './oneRun.ts';
import { program } from './program.ts';
import { runInProcesses } from './runInProcesses.ts';
import { type RunLogs, runLogs } from './runLogs.ts';
import { stopping } from './stopSignal.ts';
import { parseSweepArguments, type SweepArguments, USAGE } from './sweepArguments.ts';
import { runsIn, writeSweepTable } from './sweepFiles.ts';

const MOST_BYTES = 1e6; // of a sweep's file
const MOST_NAMED = 20; // failed runs

/** `npm run sweep`: every run of a file that has no result yet, then the table. 1: some failed or are missing. */
async function main(args: readonly string[]): Promise<number> {
  const asked = parseSweepArguments(args);
  const say = (line: string) => console.error(line);
  const sweep = parseSweep(new TextDecoder().decode(await readWhole(callerPath(asked.file), MOST_BYTES)));
  const all = runsOf(sweep);
  const out = callerPath(asked.out);
  const logs = await runLogs(runsIn(out), 'sweep', say);
  for (const folder of asked.merge) await logs.takeOver(runsIn(callerPath(folder)));
  const stop = stopping(() => performance.now());
  const failed = asked.only === 'table' ? [] : await runAll(sweep, shardOf(all, asked.shard), logs, asked, stop.signal);
  const table = sweepTable(sweep, await logs.read());
  const markdown = await writeSweepTable(out, table);
  console.log(asked.json ? sweepJson(table).trimEnd() : markdown);
  if (stop.signal.aborted) say('Stopped. Run the same command again to train the missing runs.');
  for (const name of failed.slice(0, MOST_NAMED)) say(`failed: ${name}`);
  if (failed.length > 0) say(`${failed.length} of the runs failed. The same command tries them again.`);
  const missing = asked.only === 'table' ? table.planned - table.done : 0;
  if (missing > 0) say(`${missing} of the runs are missing. The same command without --table runs them.`);
  return stop.exitCode() || (failed.length + missing > 0 ? 1 : 0);
}

/** Trains the runs without a result, each in its own process. Returns the names of the failed runs. */
async function runAll(
  { metric, take }: Sweep,
  runs: readonly SweptRun[],
  logs: RunLogs,
  { jobs, json }: Pick<SweepArguments, 'jobs' | 'json'>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const there = await logs.read();
  const waiting = runs.filter((run) => !resultOf(run, there));
  const before = runs.length - waiting.length;
  if (!json) console.error(`${runs.length} runs, ${before} of them done.`);
  const show = bars(process.stderr, json, { done: before, of: runs.length });
  const failed: string[] = [];
  const began = performance.now();
  const nameOf = ({ arm, seed }: SweptRun) => `${arm} seed ${seed}`;
  let ended = 0;
  const tell = (run: SweptRun, words: string) => {
    ended++;
    const seconds = ((performance.now() - began) / 1000 / ended) * (waiting.length - ended);
    show.ended(nameOf(run), words, { done: before + ended, of: runs.length, seconds });
  };
  await runInProcesses(waiting, {
    ...{ jobs, signal },
    onUpdate: (run, { update }) => show.update(nameOf(run), update, run.config.updates),
    keep: logs.add,
    onDone: (run, { metrics, seconds }) => {
      const value = metrics[metric]?.[take];
      tell(run, `${metric} ${value?.toFixed(3) ?? '–'} in ${seconds.toFixed(1)} s`);
    },
    onFailure: (run, why) => {
      failed.push(`${nameOf(run)}: ${why}`);
      tell(run, why);
    },
  });
  show.end();
  return failed;
}

if (process.argv[2] === ONE_RUN) serveOneRun();
else await program('sweep', USAGE, main);
