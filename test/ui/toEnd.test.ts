import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import type { HealthState } from '../../src/domain/health.ts';
import { bareRun } from '../../src/runs/run.ts';
import { RunLog } from '../../src/runs/runLog.ts';
import { NO_LISTENER, RunClient } from '../../src/ui/run/runClient.ts';
import { trainToEnd } from '../../src/ui/run/trainToEnd.ts';
import type { RunEvent } from '../../src/wire/events.ts';
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

function ordered(stopAtTrap = false) {
  const client = new RunClient(NO_LISTENER);
  const log = new RunLog(bareRun({ id: 0, name: 'n', started: '', begun: config }));
  const told: string[] = [];
  const done = trainToEnd(
    client,
    log,
    { config, run: true, stopAtTrap },
    { onEvent: ({ type }) => told.push(type), onSilence: () => undefined },
  );
  return { done, told };
}

test('a run is trained to its end; what the worker says of the run before is not of this one', async () => {
  const { done, told } = ordered();
  expect(workers.asked).toEqual([{ type: 'start', config, run: true }]);
  workers.say(running(true));
  workers.say(metrics(9, 1));
  for (const event of [fakeReady(config), metrics(1, 0.25), error(false), metrics(2, 0.5), running(true)]) {
    workers.say(event);
  }
  const run = await done;
  expect(run).toMatchObject({ update: 2, skipped: 1, config, backend: { kind: 'cpu' } });
  expect([...(run.series.get('rollout/success')?.points.y ?? [])]).toEqual([0.25, 0.5]);
  expect(told.slice(2)).toEqual(['ready', 'metrics', 'error', 'metrics', 'running']);
});

test('one that is to show the trap ends with the numbers of the update that did', async () => {
  const { done } = ordered(true);
  for (const event of [fakeReady(config), health(1, 'trap'), metrics(1, 0.25)]) workers.say(event);
  const run = await done;
  expect([run.update, run.health.at(-1)?.health.state]).toEqual([1, 'trap']);
  expect(workers.asked.at(-1)).toEqual({ type: 'pause' });
});

test('a start that is refused, a run that fails and a worker that is gone are told in their own words', async () => {
  const refused = ordered().done;
  workers.say(error(false));
  await expect(refused).rejects.toThrow('No room. Less.');
  const failed = ordered().done;
  workers.say(fakeReady(config));
  workers.say(error(true));
  await expect(failed).rejects.toThrow('No room. Less.');
  const lost = ordered().done;
  workers.made.at(-1)?.onmessageerror?.();
  await expect(lost).rejects.toThrow('The training worker sent something the page could not read.');
});
