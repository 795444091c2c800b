import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { nodeHost } from '../../src/cli/nodeHost.ts';
import { trainHere, type RunMessage } from '../../src/cli/oneRun.ts';
import { plannedRuns, planOf } from '../../src/experiments/experimentPlan.ts';
import { readRunFile } from '../../src/experiments/runFile.ts';
import { resultFromRun, type RunResult } from '../../src/experiments/runResult.ts';
import type { Run } from '../../src/runs/run.ts';
import { openSession } from '../../src/session/session.ts';
import { workerHere } from './workerHere.ts';

/** For what takes milliseconds on an idle machine. */
const PATIENT = { timeout: 240_000 };

const UPDATES = 3;
const PLAN = { experiment: 'learning', seeds: 1, updates: UPDATES, backend: 'cpu', arms: ['bandit'] } as const;
const [planned] = plannedRuns(planOf(PLAN));
if (!planned) throw new Error('want an arm');
const { config } = planned;

let ended: { readonly result: RunResult; readonly weights: string }; // of the command line, as the page reads its file
let weights: () => Promise<string>; // of the run in the page's worker
beforeAll(async () => {
  const told: RunMessage[] = [];
  await trainHere(planned, (message) => told.push(message));
  const done = told.find((message) => message.type === 'done');
  if (!done) throw new Error(`want a log, got ${JSON.stringify(told)}`);
  const session = await openSession(config, await nodeHost(false), () => undefined);
  for await (const event of session.events) if (event.type === 'running' && event.finished) break;
  const file = { path: 'runs/bandit.jsonl', file: new Blob([done.log]), written: '', manifest: null };
  ended = {
    result: resultFromRun(await readRunFile(file), planned.experiment),
    weights: await session.parametersHash(),
  };
  session.dispose();

  const items = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, text: string) => void items.set(key, text),
  });
  vi.stubGlobal('location', { hash: '', href: 'http://lab.example/' });
  vi.stubGlobal('document', { hidden: false });
  weights = await workerHere();
});
afterAll(() => vi.unstubAllGlobals());

/** What a run on the page came to, as if it were the arm of the plan. */
const resultIn = (run: Run) => resultFromRun({ ...run, arm: planned.arm, seconds: 1 }, planned.experiment);

/** A run's numbers as an experiment's table has them, all but its time, and the weights at its end. */
const numbersOf = async ({ seconds, ...result }: RunResult) => ({
  ...result,
  timed: seconds > 0,
  sum: await weights(),
});
const wanted = () => {
  const { seconds, ...result } = ended.result;
  return { ...result, timed: seconds > 0, sum: ended.weights };
};

test('an arm of an experiment ends with the very weights and numbers that the command line gives it', async () => {
  const { useExperiments } = await import('../../src/page/experiments/experimentStore.ts');
  const { start } = await import('../../src/page/experiments/experimentRunner.ts');
  useExperiments.setState({ plan: PLAN });
  start();
  await vi.waitFor(() => expect(useExperiments.getState().mode).toBe('idle'), PATIENT);
  const { results, failed } = useExperiments.getState();
  expect(failed).toEqual([]);
  expect(await Promise.all(results.map(numbersOf))).toEqual([wanted()]);
});

test('the arms of a comparison begin with the same weights, and end with those that the command line gives them', async () => {
  const { runComparison, useComparison } = await import('../../src/page/experiments/comparisonStore.ts');
  await runComparison({ title: '', arms: ['A', 'B'].map((label) => ({ label, config })), fork: undefined });
  const { results, state, problem } = useComparison.getState();
  expect([state, problem]).toEqual(['done', '']);
  expect(new Set(results.map(({ checksum }) => checksum)).size).toBe(1);
  const numbers = results.map(({ run }) => numbersOf(resultIn(run)));
  expect(await Promise.all(numbers)).toEqual([wanted(), wanted()]);
});

test('the arm of a lesson ends with the weights that the command line gives it, though the lab trains it an update at a time', async () => {
  const { trainArms } = await import('../../src/page/learn/exerciseRun.ts');
  const { currentRun } = await import('../../src/page/runs/liveRun.ts');
  const told: number[] = [];
  const [seen] = await trainArms(
    [{ preset: 'bandit', set: config, updates: UPDATES }],
    ({ update }) => told.push(update),
    new AbortController().signal,
  );
  expect(told).toEqual([0, 1, 2, 3]);
  expect(seen?.batch?.update).toBe(UPDATES);
  const run = currentRun();
  if (!run) throw new Error('want a run');
  expect(seen?.curves.get('rollout/success')).toEqual(Array.from(run.series.get('rollout/success')?.points.y ?? []));
  expect(await numbersOf(resultIn(run))).toEqual(wanted());
});

test('the arms of a fork begin with the weights of the run in the lab, and end with those that it would have', async () => {
  const { startPreset: begin } = await import('../../src/page/learn/chapterActions.ts');
  const { useLive } = await import('../../src/page/view/liveStore.ts');
  const { step } = await import('../../src/page/training/transport.ts');
  const { forkRun } = await import('../../src/page/experiments/readyComparisons.ts');
  const { useComparison } = await import('../../src/page/experiments/comparisonStore.ts');
  const { run } = useLive.getState();
  begin('bandit', config, false);
  await vi.waitFor(() => expect(useLive.getState().run).toBeGreaterThan(run), PATIENT);
  step();
  await vi.waitFor(() => expect(useLive.getState()).toMatchObject({ update: 1, stepping: false }), PATIENT);
  const before = await weights();
  await forkRun('filterTopP', 0.7, UPDATES - 1); // without a filter this knob changes nothing
  const { results, problem } = useComparison.getState();
  expect(problem).toBe('');
  expect(results.map(({ checksum, startUpdate: began, run: { update } }) => [checksum, began, update])).toEqual(
    [1, 2].map(() => [before, 1, UPDATES]),
  );
  expect(await weights()).toBe(ended.weights);
  const [a, b] = results.map(({ run: { series } }) => series.get('actor/grad_norm')?.points.y);
  expect(a).toEqual(b);
});
