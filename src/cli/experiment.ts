import { EVALUATION_WORDS, evaluationSetOf } from '../domain/evaluationSet.ts';
import { EXPERIMENTS } from '../experiments/experimentList.ts';
import { differencesOf, isSameRun, plannedRuns, usableResult, type PlannedRun } from '../experiments/experimentPlan.ts';
import type { RunResult } from '../experiments/runResult.ts';
import { resultTable } from '../experiments/resultTable.ts';
import { parseExperimentArguments, USAGE } from './experimentArguments.ts';
import { experimentFiles } from './experimentFiles.ts';
import { callerPath } from './files.ts';
import { program } from './program.ts';
import { ONE_RUN, serveOneRun } from './oneRun.ts';
import { runInProcesses } from './runInProcesses.ts';

const say = (line: string) => console.error(line);

/** `npm run experiment`: trains every run of an experiment that has no result yet, then writes the table. */
async function main(args: readonly string[]): Promise<number> {
  const { plan, out, jobs } = parseExperimentArguments(args);
  const files = await experimentFiles(callerPath(out), plan.experiment, say);
  const results = [...(await files.read()).values()];
  const planned = plannedRuns(plan);
  const waiting = planned.filter((run) => !usableResult(run, results));
  say(
    `${EXPERIMENTS[plan.experiment].label}: ${planned.length} runs, ${planned.length - waiting.length} of them done.`,
  );
  for (const run of waiting) sayWhyNotReused(run, results);

  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  const waitingCount = waiting.length;
  const began = performance.now();
  const sayOfRun = (run: PlannedRun, words: string) =>
    say(
      `[${planned.length - waitingCount + waiting.indexOf(run) + 1}/${planned.length}] ${run.arm} seed ${run.seed}: ${words}`,
    );
  let ended = 0;
  let failed = 0;
  const sayRunEnded = (run: PlannedRun, words: string) => {
    sayOfRun(run, words);
    ended++;
    const minutes = (((performance.now() - began) / ended) * (waitingCount - ended)) / 60_000;
    if (ended < waitingCount) say(`  ${waitingCount - ended} of them left, about ${minutes.toFixed(1)} minutes`);
  };
  await runInProcesses(waiting, {
    ...{ jobs, signal: stop.signal },
    onUpdate: (run, { update, success }) =>
      sayOfRun(run, `${update}/${run.config.updates}${successText(run, success)}`),
    storeLog: files.add,
    onDone: (run, result) => {
      results.push(result);
      sayRunEnded(run, `done in ${result.seconds.toFixed(0)} s${successText(run, result.heldOut.at(-1)?.[1])}`);
    },
    onFailure: (run, why) => {
      failed++;
      sayRunEnded(run, `failed: ${why}`);
    },
  });
  console.log(await files.write(resultTable(plan, results), results));
  if (stop.signal.aborted) say('Stopped. Run the same command again to train the missing runs.');
  else if (failed > 0) say(`${failed} of ${waitingCount} runs failed. The same command tries them again.`);
  return failed > 0 || stop.signal.aborted ? 1 : 0;
}

function sayWhyNotReused(run: PlannedRun, results: readonly RunResult[]): void {
  const oldResult = results.findLast((result) => isSameRun(result, run));
  if (oldResult)
    say(`${run.arm} seed ${run.seed}: has a result with other settings (${differencesOf(oldResult, run).join(', ')}).`);
}

/** The success of an evaluation, in words that continue a line. */
function successText({ config }: PlannedRun, success: number | undefined): string {
  return success === undefined
    ? ''
    : `, ${EVALUATION_WORDS[evaluationSetOf(config)].success.toLowerCase()} ${success.toFixed(3)}`;
}

if (process.argv[2] === ONE_RUN) serveOneRun();
else await program('experiment', USAGE, main);
