import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { intactBytesUpTo } from '../../src/formats/tfevents.ts';
import { type Ended, type Programs, programsIn } from './programsIn.ts';

let programs: Programs;
beforeAll(async () => {
  programs = await programsIn();
});
afterAll(() => programs.remove());

// as many updates as leave time to end it in between, each of some milliseconds
const UPDATES = 60;
const RUN =
  `--env bandit --warmStart none --width 16 --prompts 2 --groupSize 2 --evalTasks 8 --backend cpu --updates ${UPDATES}`.split(
    ' ',
  );

const start = (...args: readonly string[]) => programs.start('train', args);
const summary = ({ out }: Ended) => JSON.parse(out.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
const at = (...names: readonly string[]) => programs.at(...names);
/** The log's numbers, but for those of the clock and of what was done since the start. */
const log = (name: string) =>
  readFileSync(at(name, 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const values = Object.entries(JSON.parse(line) as Record<string, number>);
      return Object.fromEntries(values.filter(([metric]) => !/^(time|engine)\//.test(metric)));
    });
const savedUpdate = (name: string) => (existsSync(at(name, 'metrics.jsonl')) ? log(name).length - 1 : 0);
const events = (name: string) => {
  // beside it are what tries the folder, and one that is being written: it has a name of its own until it is whole
  const file = existsSync(at(name))
    ? readdirSync(at(name)).find((each) => /^events\..*(?<!\.tmp)$/.test(each))
    : undefined;
  return file === undefined ? new Uint8Array() : readFileSync(at(name, file));
};
const records = (name: string) => {
  const bytes = events(name);
  return Array.from({ length: UPDATES + 1 }, (_, update) => intactBytesUpTo(bytes, update));
};
/** Whether an event file holds an update: two looks through it, for the program does not wait. */
const tells = (name: string, update: number) => {
  const bytes = events(name);
  return intactBytesUpTo(bytes, update) > intactBytesUpTo(bytes, update - 1);
};
/** The last update that an event file holds. */
const toldUpdate = (name: string) => new Set(records(name)).size - 1;

test('a run that is killed and then ended by a scheduler goes on, by the same command, to the weights and the log of one that is not', async () => {
  const whole = await start(...RUN, '--save', 'whole', '--tensorboard', 'whole-board').ended;
  expect(whole.code).toBe(0);
  const args = [...RUN, '--save', 'cut', '--resume', 'cut', '--save-every', '8', '--tensorboard', 'board'];
  const ends: number[] = [];
  for (const [signal, update] of [
    ['SIGKILL', 8],
    ['SIGTERM', 25],
  ] as const) {
    const { child, ended } = start(...args);
    // some updates past a save: they are lost, or saved because it was asked to end
    const early = () => savedUpdate('cut') < update || !tells('board', savedUpdate('cut') + 3);
    // stopped while it is looked at again: it does not save between the look and the end
    while (child.exitCode === null) {
      if (!early()) child.kill('SIGSTOP');
      if (!early()) break;
      child.kill('SIGCONT');
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    child.kill(signal);
    child.kill('SIGCONT');
    const { code, err } = await ended;
    expect(code).toBe(signal === 'SIGKILL' ? null : 143);
    if (signal === 'SIGTERM')
      expect(err).toMatch(/Stopped; update \d+ is saved in cut\. Go on with: npm run train -- --resume cut/);
    if (signal === 'SIGTERM') expect(savedUpdate('cut')).toBe(toldUpdate('board'));
    else expect(savedUpdate('cut')).toBeLessThan(toldUpdate('board'));
    ends.push(savedUpdate('cut'));
  }
  expect(ends[0]).toBeLessThan(ends[1] ?? 0); // it went on
  expect(ends[1]).toBeLessThan(UPDATES);
  const last = await start(...args).ended;
  expect(last.err).toMatch(`Goes on after update ${ends[1]} of cut.`);
  expect(summary(last)['parameters_hash']).toBe(summary(whole)['parameters_hash']);
  expect(summary(last)).toMatchObject({
    before: summary(whole)['before'],
    after: summary(whole)['after'],
    updates: UPDATES,
  });
  expect(log('cut')).toEqual(log('whole'));
  // each update has its record, once
  expect(toldUpdate('board')).toBe(UPDATES);
  const [cut, uncut] = [records('board').at(-1) ?? 0, records('whole-board').at(-1) ?? 0];
  expect(cut - uncut).toBe(2 * 31); // each time it went on: SessionLog.START of a step below 128
});

// that nothing else may be asked of it: cli/arguments
test('more updates may be asked of a saved run; what is no saved run, and what would be written over, is named', async () => {
  expect((await start(...RUN, '--updates', '2', '--save', 'two', '--tensorboard', 'tb').ended).code).toBe(0);
  // killed while the files took their places
  mkdirSync(at('two', '.whole'));
  for (const name of ['metrics.jsonl', 'model.safetensors']) renameSync(at('two', name), at('two', '.whole', name));
  cpSync(at('two'), at('copy'), { recursive: true });
  const [more, none, over, nowhere, board] = await Promise.all([
    start('--resume', 'two', '--updates', '3').ended,
    start('--resume', '.').ended,
    start(...RUN, '--save', 'copy').ended,
    start(...RUN, '--updates', '100000', '--save', 'copy/config.json/x').ended,
    start(...RUN, '--tensorboard', 'tb').ended,
  ]);
  expect(more.code).toBe(0);
  expect(savedUpdate('two')).toBe(3);
  expect(none.code).toBe(1);
  expect(none.err).toMatch(/config\.json|playground\.json/);
  expect(over.err).toMatch(/^train: --save can’t be copy, because it holds a saved run\. Name a folder without one\./);
  expect(nowhere).toMatchObject({ code: 1, out: '' }); // before it trains
  expect(nowhere.err).toMatch(/config\.json\/x cannot be read: a part of its path is a file/);
  expect(board.err).toMatch(/^train: .*tb has events of another run/);
});

test('a job that was killed before its first save begins anew by the same command, and its event file with it', async () => {
  const args = [...RUN, '--save', 'job', '--resume', 'job', '--save-every', '1000', '--tensorboard', 'job-board'];
  const { child, ended } = start(...args);
  while (toldUpdate('job-board') < 2) await new Promise((resolve) => setTimeout(resolve, 2));
  child.kill('SIGKILL');
  expect((await ended).code).toBe(null);
  expect(savedUpdate('job')).toBe(0);
  // other knobs are another job, which must not take its events
  const other = await start(...args, '--seed', '5').ended;
  expect(other.err).toMatch(/^train: .*job-board has events of another run/);
  const again = await start(...args).ended;
  expect(again.code).toBe(0);
  expect(toldUpdate('job-board')).toBe(UPDATES);
  expect(new Set(records('job-board')).size).toBe(UPDATES + 1); // each update once, and none of those that were lost
  const whole = await start(...RUN, '--tensorboard', 'once-board').ended;
  expect(summary(again)['parameters_hash']).toBe(summary(whole)['parameters_hash']);
  expect((records('job-board').at(-1) ?? 0) - (records('once-board').at(-1) ?? 0)).toBe(29); // SessionLog.START of step 0
});
