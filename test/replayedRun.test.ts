import { expect, test } from 'vitest';
import { parseConfig, type RunConfig } from '../src/config/config.ts';
import type { KnobChange } from '../src/config/knobChange.ts';
import { MAX_CHANGES, replayableChanges } from '../src/runs/change.ts';
import { readCheckpoint, type Checkpoint } from '../src/runs/checkpoint.ts';
import { runWithDefaults, type Run } from '../src/runs/run.ts';
import { RunLog } from '../src/runs/runLog.ts';
import { openSession, type Session } from '../src/session/session.ts';
import type { RunEvent } from '../src/wire/commands.ts';
import { hashOf, readHash } from '../src/page/address/hash.ts';
import { bareHost } from './bareHost.ts';

const begun = parseConfig({
  ...{ prompts: 4, groupSize: 2, minibatches: 2, updates: 6, evalEvery: 3, evalTasks: 8, warmStart: 'none' },
  ...{ seed: 11, width: 8, heads: 2, kvHeads: 2, ffn: 8, backend: 'cpu' },
});
/** Opens a run and what is kept of it. */
async function open(config: RunConfig, from: Checkpoint | null = null, saved?: Run) {
  const log = new RunLog(saved ?? runWithDefaults({ id: 1, name: 'a run', started: '2026-11-26', begun: config }));
  const hear = (event: RunEvent) => {
    if (event.type !== 'answer' && event.type !== 'alive' && event.type !== 'checkpoint') log.add(event);
  };
  const session = await openSession(config, bareHost, hear, { resumedFrom: from });
  return { session, log, hear };
}
type Opened = Awaited<ReturnType<typeof open>>;

/** Pulls events until one is `wanted`. */
async function until({ session, hear }: Opened, wanted: (event: RunEvent) => boolean) {
  for (;;) {
    const { value } = (await session.events.next()) as { value: RunEvent };
    hear(value);
    if (wanted(value)) return;
  }
}
const done = (update: number) => (event: RunEvent) => event.type === 'metrics' && event.update === update;
const atStep = (update: number, step: number) => (event: RunEvent) =>
  event.type === 'phase' && event.phase === 'updating' && event.update === update && event.done === step;

/** Weights and curves, all but what a clock tells. */
async function numbers({ session, log }: Pick<Opened, 'session' | 'log'>) {
  const curves = Array.from(log.run.series, ([name, { points }]) => [name, Array.from(points.y)] as const);
  return { weights: await session.parametersHash(), curves: Object.fromEntries(curves) };
}

/** Trains the run of a link to the end. */
async function trained(hash: string) {
  const { config, changes = [], corrections } = readHash(hash);
  expect(corrections).toEqual([]);
  const opened = await open(config);
  opened.session.plan(changes);
  await until(opened, ({ type }) => type === 'running');
  return numbers(opened);
}

const linkOf = (run: Run, changes: readonly KnobChange[]) => hashOf(run.begun, { route: 'lab', changes });

/** A run whose knobs are changed before its first update, between two, and twice in the middle of one. */
async function changedRun(): Promise<Opened> {
  const opened = await open(begun);
  const { session } = opened;
  session.configure({ entropyCoef: 0.02 });
  await until(opened, done(1));
  session.configure({ lossMask: 'off', advantageMask: 'off' });
  await until(opened, atStep(3, 1));
  session.configure({ learningRate: 0.01, temperature: 0.8 });
  await until(opened, atStep(3, 3));
  session.configure({ learningRate: 0.004 });
  await until(opened, done(4));
  session.configure({ updates: 8 });
  return opened;
}

test('a link replays a run whose knobs were changed: before it began, between updates and between optimizer steps', async () => {
  const original = await changedRun();
  await until(original, ({ type }) => type === 'running');
  const { run } = original.log;
  expect(run.update).toBe(8);
  const changes = replayableChanges(run) ?? [];
  expect(changes.map(({ update, step, set }) => [update, step, ...Object.keys(set)])).toEqual([
    [1, 0, 'entropyCoef'],
    [2, 0, 'lossMask', 'advantageMask'],
    [3, 2, 'learningRate'],
    [3, 4, 'learningRate'],
    [4, 0, 'temperature'],
  ]); // the number of updates changes nothing that was trained: the link begins with the last one
  expect(run.begun.updates).toBe(8);
  const link = linkOf(run, changes);
  expect(link.length).toBeLessThan(1000);
  const same = await numbers(original);
  expect(await trained(link)).toEqual(same);
  // the changes are what makes the numbers
  expect((await trained(linkOf(run, []))).weights).not.toBe(same.weights);
  expect(
    (
      await trained(
        linkOf(
          run,
          changes.filter(({ step }) => step === 0),
        ),
      )
    ).weights,
  ).not.toBe(same.weights);
});

test('a run that was saved in the middle of changes goes on, and its link replays the whole of it', async () => {
  const first = await open(begun);
  await until(first, atStep(2, 0));
  first.session.configure({ temperature: 0.7 }); // the next batch takes it up
  await until(first, done(2));
  const saved = readCheckpoint(structuredClone(await first.session.checkpoint()));
  const second = await open(begun, saved, { ...first.log.run });
  second.session.configure({ clipHigh: 0.4 });
  await until(second, ({ type }) => type === 'running');
  const changes = replayableChanges(second.log.run);
  expect(changes).toEqual([
    { update: 3, step: 0, set: { temperature: 0.7 } },
    { update: 3, step: 0, set: { clipHigh: 0.4 } },
  ]);
  expect((await trained(linkOf(second.log.run, changes ?? []))).weights).toBe(await second.session.parametersHash());
});

test('an update that was undone begins again with the knobs as they are, and so does its replay', async () => {
  const original = await open(begun);
  await until(original, done(2));
  const last = await original.session.checkpoint();
  await until(original, atStep(3, 1));
  original.session.configure({ learningRate: 0.01 });
  await until(original, atStep(3, 3));
  original.session.restore(last);
  original.hear({ type: 'error', message: 'NaN.', hint: '', fatal: false, fields: [], cause: 'non-finite' });
  await until(original, ({ type }) => type === 'running');
  const changes = replayableChanges(original.log.run) ?? [];
  expect(changes).toEqual([{ update: 3, step: 0, set: { learningRate: 0.01 } }]);
  expect((await trained(linkOf(original.log.run, changes))).weights).toBe(await original.session.parametersHash());
});

test('a knob that the reader of a link changes leaves the plan; the others keep to it', async () => {
  const opened = await open(begun);
  const session: Session = opened.session;
  session.plan([
    { update: 2, step: 0, set: { temperature: 0.5, topP: 0.9 } },
    { update: 3, step: 1, set: { temperature: 0.6 } },
  ]);
  await until(opened, done(1));
  session.configure({ temperature: 0.9 });
  await until(opened, done(3));
  expect(session.config()).toMatchObject({ temperature: 0.9, topP: 0.9 });
});

test('no link is made of a run whose changes are not all known', async () => {
  const { log } = await changedRun();
  const { run } = log;
  expect(replayableChanges(run)).not.toBeNull();
  expect(replayableChanges({ ...run, fork: { run: 1, update: 2 } })).toBeNull();
  expect(replayableChanges({ ...run, changes: run.changes.slice(1) })).toBeNull();
  expect(replayableChanges({ ...run, changes: [...run.changes, { update: 5, text: 'of an older page' }] })).toBeNull();
  const many = Array.from({ length: MAX_CHANGES }, () => run.changes.at(-1) ?? { update: 1, text: '' });
  expect(replayableChanges({ ...run, changes: many })).toBeNull();
});
