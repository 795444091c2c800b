import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { RunEvent } from '../../src/wire/commands.ts';
import { fakeReady } from './fake-run.ts';
import { stubWorkers } from './stubWorkers.ts';

/** For what takes milliseconds on an idle machine. */
const PATIENT = { timeout: 240_000 };

const KEY = 'rollout-playground-experiments';
/** As a page that came before this queue wrote it, closed while the first run was under way. */
const STORED =
  '{"version":1,"waiting":[{"experiment":"ablation","arm":"ppo-both","seed":2,"updates":5,"backend":"cpu"},{"experiment":"ablation","arm":"ppo-both","seed":3,"updates":5,"backend":"cpu"}],"failed":[],"results":[{"version":1,"experiment":"ablation","arm":"ppo-both","seed":1,"config":{"backend":"cpu"},"backend":"cpu: one core","metrics":{},"curve":[0.5,0.5],"heldOut":[],"health":[],"skipped":0,"seconds":3}],"running":true}';

let workers: ReturnType<typeof stubWorkers>;
let items: Map<string, string>;
beforeEach(() => {
  items = new Map();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, text: string) => void items.set(key, text),
  });
  vi.stubGlobal('location', { hash: '', href: 'http://lab.example/' });
  workers = stubWorkers();
});
afterEach(() => vi.unstubAllGlobals());

/** The page as it is after a reload. */
async function page() {
  vi.resetModules();
  const { useExperiments } = await import('../../src/page/experiments/experimentStore.ts');
  const runner = await import('../../src/page/experiments/experimentRunner.ts');
  const stored = () =>
    JSON.parse(items.get(KEY) ?? '') as Record<'waiting' | 'failed' | 'results', { seed: number }[]> & {
      running: boolean;
    };
  const seeds = () => {
    const { waiting, failed, results, running } = stored();
    return [...[waiting, failed, results].map((all) => all.map(({ seed }) => seed)), running];
  };
  return { ...runner, state: useExperiments.getState, seeds };
}

/** The newest worker says so; resolves once the page has done what it does then. */
async function say(...events: readonly RunEvent[]): Promise<void> {
  for (const event of events) workers.say(event);
  await new Promise(setImmediate);
}

const starts = () => workers.asked.flatMap((command) => (command.type === 'start' ? [command.config] : []));
const begun = () => workers.asked.filter(({ type }) => type === 'start').length;

/** The newest worker begins the run it was asked for last. */
async function begin(): Promise<void> {
  const config = starts().at(-1) ?? parseConfig();
  const id = workers.asked.reduce((last, command) => (command.type === 'ask' ? command.id : last), 0);
  await say(fakeReady(config), { type: 'answer', id, answer: { kind: 'checksum', checksum: 'a' } });
}

const ended = (update: number): RunEvent[] => [
  { type: 'metrics', update, values: { 'rollout/success': 0.5 } },
  { type: 'running', running: false, update, finished: true },
];

test('an experiment that a page of an older version stored goes on: finished runs stay, the one under way starts over, order stays', async () => {
  items.set(KEY, STORED);
  const { resumeStored, state, seeds, pause, resume } = await page();
  expect(state().mode).toBe('running');
  resumeStored();
  await vi.waitFor(() => expect(begun()).toBe(1), PATIENT);
  expect(state().note).toContain('ppo-both, seed 2');
  expect(starts()).toMatchObject([{ seed: 2, updates: 5, backend: 'cpu', estimator: 'gae' }]);
  await begin();
  pause();
  resume(); // nothing is queued twice
  await vi.waitFor(() => expect(workers.asked.slice(-2).map(({ type }) => type)).toEqual(['pause', 'run']), PATIENT);
  await say({ type: 'metrics', update: 1, values: { 'rollout/success': 0.25 } });
  await vi.waitFor(() => expect(state().current).toMatchObject({ update: 1, updates: 5, success: [0.25] }), PATIENT);
  await say(...ended(5));
  expect(seeds()).toEqual([[3], [], [1, 2], true]);
  expect(starts().map(({ seed }) => seed)).toEqual([2, 3]);
  await begin();
  await say(...ended(5));
  expect(seeds()).toEqual([[], [], [1, 2, 3], false]);
  expect([state().mode, state().current, workers.made.map(({ terminated }) => terminated)]).toEqual(['idle', null, [true]]); // prettier-ignore
});

test('an experiment that is paused stays so over a reload; a run that fails is kept as failed, and Cancel keeps what is finished', async () => {
  items.set(KEY, STORED);
  const before = await page();
  before.resumeStored();
  await vi.waitFor(() => expect(begun()).toBe(1), PATIENT);
  await begin();
  before.pause();
  expect([before.seeds(), workers.asked.at(-1)?.type]).toEqual([[[2, 3], [], [1], false], 'pause']);
  const { state, resume, resumeStored, seeds, cancel } = await page();
  resumeStored();
  await new Promise(setImmediate);
  expect([state().mode, begun()]).toEqual(['paused', 1]);
  resume();
  await vi.waitFor(() => expect(begun()).toBe(2), PATIENT);
  expect(seeds()).toEqual([[2, 3], [], [1], true]);
  await begin();
  await say({ type: 'error', message: 'No room.', hint: 'Less.', fatal: true, fields: [] });
  expect(seeds()).toEqual([[3], [2], [1], true]);
  expect(state().failed).toMatchObject([{ seed: 2, message: 'No room. Less.' }]);
  expect([workers.made.length, begun()]).toEqual([3, 3]); // a fresh worker has the next run
  cancel();
  expect(seeds()).toEqual([[], [2], [1], false]);
  expect([state().mode, workers.made.map(({ terminated }) => terminated)]).toEqual(['idle', [false, true, true]]);
});

/** A browser in which another tab has the queue; returns what has it give it up. */
function otherTab(): () => void {
  let free: () => void = () => undefined;
  const request = (lock: string, then: () => Promise<void>) => {
    if (lock === KEY) free = () => void then(); // those of workers are never granted: they live
    return new Promise<void>(() => undefined);
  };
  vi.stubGlobal('navigator', { locks: { request } });
  return () => free();
}

test('an experiment waits while another tab has the queue, then goes on with what that one has left', async () => {
  items.set(KEY, STORED);
  const free = otherTab();
  const { resumeStored, state } = await page();
  resumeStored();
  await vi.waitFor(() => expect(state().mode).toBe('elsewhere'), PATIENT);
  expect(begun()).toBe(0);
  const left = JSON.parse(STORED) as { waiting: unknown[] };
  items.set(KEY, JSON.stringify({ ...left, waiting: left.waiting.slice(1) }));
  free();
  await vi.waitFor(() => expect(begun()).toBe(1), PATIENT);
  expect([state().mode, starts().map(({ seed }) => seed)]).toEqual(['running', [3]]);
});

test('an experiment that is paused while it waits for its turn does not begin when its turn comes, but when it is resumed', async () => {
  items.set(KEY, STORED);
  const free = otherTab();
  const { resumeStored, state, pause, resume } = await page();
  resumeStored();
  pause();
  free();
  await new Promise(setImmediate);
  expect([state().mode, begun()]).toEqual(['paused', 0]);
  resume();
  await vi.waitFor(() => expect(begun()).toBe(1), PATIENT);
});

/** The comparison of two arms on each of two seeds, under way. */
async function comparison() {
  vi.resetModules();
  const { cancelComparison, runComparison, useComparison } =
    await import('../../src/page/experiments/comparisonStore.ts');
  const arms = [3, 4].flatMap((seed) =>
    ['A', 'B'].map((label) => ({ label, config: parseConfig({ seed, updates: 2 }) })),
  );
  const over = runComparison({ title: 'Two', arms, fork: undefined });
  await vi.waitFor(() => expect(begun()).toBe(1), PATIENT);
  const train = async () => {
    await begin();
    await say(...ended(2));
  };
  return { train, over, cancelComparison, state: useComparison.getState };
}

test('a comparison that is cancelled keeps whole pairs and their verdict, and forgets an arm without a partner', async () => {
  const { train, over, cancelComparison, state } = await comparison();
  for (let arm = 0; arm < 3; arm++) await train();
  expect([state().state, state().results.length, begun()]).toEqual(['running', 3, 4]);
  await begin();
  await say({ type: 'metrics', update: 1, values: { 'rollout/success': 0.5 } });
  expect(state().update).toBe(1);
  cancelComparison();
  await over;
  expect(state()).toMatchObject({ state: 'done', results: [{ label: 'A' }, { label: 'B' }] });
  expect(state().verdict).toContain('A solves 50 %');
  expect(workers.made.map(({ terminated }) => terminated)).toEqual([true]);
});

test('a comparison whose worker dies says why and trains no further arm; one that is cancelled before its first pair is gone', async () => {
  const failing = await comparison();
  await failing.train();
  workers.made.at(-1)?.onerror?.({ message: 'out of memory', preventDefault: () => undefined });
  await failing.over;
  expect(failing.state()).toMatchObject({ state: 'failed', results: [{ label: 'A' }] });
  expect(failing.state().problem).toContain('out of memory');
  expect(begun()).toBe(2);
  workers.asked.length = 0;
  const { train, over, cancelComparison, state } = await comparison();
  await train();
  cancelComparison();
  await over;
  expect(state()).toMatchObject({ state: 'idle', comparison: null, results: [] });
});
