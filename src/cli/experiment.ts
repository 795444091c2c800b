import { EVALUATION_WORDS, evaluationSetOf } from '../domain/evaluationSet.ts';
import { EXPERIMENTS } from '../experiments/experimentList.ts';
import { differencesOf, isOf, plannedRuns, resultFor, type PlannedRun } from '../experiments/experimentPlan.ts';
import type { RunResult } from '../experiments/runResult.ts';
import { tableOf } from '../experiments/resultTable.ts';
import { parseExperimentArguments, USAGE } from './experimentArguments.ts';
import { resultFiles } from './experimentFiles.ts';
import { callerPath } from './files.ts';
import { program } from './program.ts';
import { ONE_RUN, runApart, serveOneRun, type RunMessage } from './oneRun.ts';

const say = (line: string) => console.error(line);

/** `npm run experiment`: every run of an experiment that has no result yet, then the table. */
async function main(args: readonly string[]): Promise<number> {
  const { plan, out, jobs } = parseExperimentArguments(args);
  const files = await resultFiles(callerPath(out), plan.experiment, say);
  const results = files.read();
  const planned = plannedRuns(plan);
  const waiting = planned.filter((run) => !resultFor(run, results));
  say(
    `${EXPERIMENTS[plan.experiment].label}: ${planned.length} runs, ${planned.length - waiting.length} of them done.`,
  );
  for (const run of waiting) sayWhyNotReused(run, results);

  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  const left = waiting.length;
  const began = performance.now();
  const queue = waiting.entries();
  const stopped = () => stop.signal.aborted;
  let ended = 0;
  let failed = 0;
  const work = async () => {
    for (const [index, run] of queue) {
      if (stopped()) return;
      const name = `[${planned.length - left + index + 1}/${planned.length}] ${run.arm} seed ${run.seed}`;
      const result = await runApart(run, (message) => say(`${name}: ${wording(message, run)}`), stop.signal);
      ended++;
      if (result) {
        results.push(result);
        files.append(result);
      } else failed++;
      const minutes = (((performance.now() - began) / ended) * (left - ended)) / 60_000;
      if (ended < left && !stopped()) say(`  ${left - ended} of them left, about ${minutes.toFixed(1)} minutes`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, left) }, work));
  console.log(await files.write(tableOf(plan, results)));
  if (stopped()) say('Stopped. The same command goes on with the runs that are missing.');
  else if (failed > 0) say(`${failed} of ${left} runs failed. The same command tries them again.`);
  return failed > 0 || stopped() ? 1 : 0;
}

function sayWhyNotReused(run: PlannedRun, results: readonly RunResult[]): void {
  const old = results.findLast((result) => isOf(result, run));
  if (old)
    say(`${run.arm} seed ${run.seed}: has a result with other settings (${differencesOf(old, run).join(', ')}).`);
}

function wording(message: RunMessage, run: PlannedRun): string {
  const held = (success: number | undefined) =>
    success === undefined
      ? ''
      : `, ${EVALUATION_WORDS[evaluationSetOf(run.config)].success.toLowerCase()} ${success.toFixed(3)}`;
  switch (message.type) {
    case 'update':
      return `${message.update}/${run.config.updates}${held(message.success)}`;
    case 'done':
      return `done in ${message.result.seconds.toFixed(0)} s${held(message.result.heldOut.at(-1)?.[1])}`;
    case 'failed':
      return `failed: ${message.message}`;
  }
}

if (process.argv[2] === ONE_RUN) serveOneRun();
else await program('experiment', USAGE, main);
