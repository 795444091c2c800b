import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { HealthState } from '../../src/domain/health.ts';
import { ArmQueue } from '../../src/runs/armQueue.ts';
import { type Arm, type ArmProgress, ArmWorker, type TrainedArm } from '../../src/page/training/armWorker.ts';
import type { RunEvent } from '../../src/wire/commands.ts';
import { fakeReady } from './fake-run.ts';
import { stubWorkers } from './stubWorkers.ts';

let workers: ReturnType<typeof stubWorkers>;
beforeEach(() => {
  vi.useFakeTimers();
  workers = stubWorkers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const config = parseConfig({ seed: 3, updates: 2 });
const metrics = (update: number, success: number): RunEvent => {
  return { type: 'metrics', update, values: { 'rollout/success': success } };
};
const health = (update: number, state: HealthState): RunEvent => {
  return { type: 'health', update, health: { state, since: update, kind: null, evidence: [], remedies: [] } };
};
const running = (finished: boolean): RunEvent => ({ type: 'running', running: !finished, update: 2, finished });
const error = (fatal: boolean): RunEvent => ({ type: 'error', message: 'No room.', hint: 'Less.', fatal, fields: [] });
const types = () => workers.asked.map(({ type }) => type);

/** The newest worker says so, one after the other, and the page has heard it. */
async function say(...events: readonly RunEvent[]): Promise<void> {
  for (const event of events) workers.say(event);
  await vi.advanceTimersByTimeAsync(0);
}

/** The worker answers with the checksum of its weights. */
const sum = (checksum: string) => {
  const id = workers.asked.reduce((last, command) => (command.type === 'ask' ? command.id : last), 0);
  return say({ type: 'answer', id, answer: { kind: 'checksum', checksum } });
};

function queued(...arms: readonly Partial<Arm>[]) {
  const done: TrainedArm[] = [];
  const failed: string[] = [];
  const news: ArmProgress[] = [];
  const queue = new ArmQueue<Arm, ArmProgress, TrainedArm>(() => new ArmWorker(), {
    onProgress: (_, told) => news.push(told),
    onDone: (_, trained) => done.push(trained),
    onFailure: (_, why) => failed.push(String(why)),
    onEnd: () => undefined,
  });
  queue.add(arms.map((arm) => ({ label: 'A', config, ...arm })));
  return { queue, done, failed, news };
}

test('an arm is asked for the checksum of its weights, then told to run, and is trained to its end', async () => {
  const { done, news } = queued({ label: 'one' });
  expect(workers.asked).toMatchObject([{ type: 'start', config, run: false }, { type: 'ask' }]);
  await say(running(true), metrics(9, 1), fakeReady(config)); // the first two are of the run before
  await sum('1234abcd');
  expect(types()).toEqual(['start', 'ask', 'run']);
  await say(metrics(1, 0.25), error(false), metrics(2, 0.5));
  expect(news.at(-1)?.run.update).toBe(2);
  expect(done).toEqual([]);
  await say(running(true));
  expect(done).toMatchObject([{ label: 'one', checksum: '1234abcd', startUpdate: 0 }]);
  expect(done[0]?.run).toMatchObject({ update: 2, skipped: 1, config, backend: { kind: 'cpu' } });
  expect([...(done[0]?.run.series.get('rollout/success')?.points.y ?? [])]).toEqual([0.25, 0.5]);
  expect(workers.made.map(({ terminated }) => terminated)).toEqual([true]);
});

test('one that is to show the trap ends with the numbers of the update that did; the next arm has the same worker', async () => {
  const { done } = queued({ stopAtTrap: true }, { label: 'B' });
  await say(fakeReady(config));
  await sum('a');
  await say(health(1, 'trap'), metrics(1, 0.25));
  expect([done[0]?.run.update, done[0]?.run.health.at(-1)?.health.state]).toEqual([1, 'trap']);
  expect(types()).toEqual(['start', 'ask', 'run', 'pause', 'start', 'ask']);
  expect(workers.made).toHaveLength(1);
});

test('a queue that is paused while its arm begins does not have it run until it goes on', async () => {
  const { queue } = queued({});
  queue.pause();
  await say(fakeReady(config));
  await sum('a');
  expect(types()).toEqual(['start', 'ask']);
  queue.resume();
  queue.pause();
  queue.resume();
  expect(types()).toEqual(['start', 'ask', 'run', 'pause', 'run']);
});

test('a start that is refused, a run that fails and a worker that dies are told in their own words; each next arm has a fresh worker', async () => {
  const { done, failed } = queued({}, {}, {}, { label: 'last' });
  await say(error(false));
  expect(failed).toEqual(['Error: No room. Less.']);
  await say(fakeReady(config), error(true));
  expect(failed).toHaveLength(2);
  await say(fakeReady(config));
  workers.made.at(-1)?.onmessageerror?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(failed[2]).toBe('Error: The training worker sent something the page could not read.');
  expect(workers.made.map(({ terminated }) => terminated)).toEqual([true, true, true, false]);
  await say(fakeReady(config));
  await sum('a');
  await say(metrics(1, 1), metrics(2, 1), running(true));
  expect(done.map(({ label }) => label)).toEqual(['last']);
});

test('a worker that hangs is told of after ten seconds, and when it answers again; cancelling ends it', async () => {
  const { queue, news, done } = queued({}, {});
  const silences = () => news.map(({ silent }) => silent);
  await vi.advanceTimersByTimeAsync(9_000);
  expect(silences()).toEqual([]);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(silences()).toEqual([true]);
  await say({ type: 'alive', holds: false });
  expect(silences()).toEqual([true, false]);
  queue.cancel('enough');
  await say(fakeReady(config), metrics(1, 1));
  expect([workers.made.map(({ terminated }) => terminated), queue.unfinishedArms, done]).toEqual([[true], [], []]);
});
