import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setProblem, useLive } from '../../src/page/view/liveStore.ts';
import { RunClient, type ForwardedEvent } from '../../src/page/training/runClient.ts';
import { parseConfig } from '../../src/config/config.ts';
import type { RunEvent } from '../../src/wire/commands.ts';
import { fakeReady } from './fake-run.ts';
import { stubWorkers } from './stubWorkers.ts';
import { workerHere } from './workerHere.ts';

let workers: ReturnType<typeof stubWorkers>;
beforeEach(() => {
  vi.useFakeTimers();
  workers = stubWorkers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A client, and all it tells. */
function listened() {
  const events: ForwardedEvent[] = [];
  const losses: string[] = [];
  const client = new RunClient({
    onEvent: (event) => events.push(event),
    onLoss: (message) => losses.push(message),
    onSilence: () => undefined,
  });
  return { client, events, losses };
}
const checksum = (id: number) => ({ type: 'ask', id, question: { kind: 'checksum' } }) as const;

test('each question gets its own answer, whatever the order; answers and signs of life are no events', async () => {
  const { client, events } = listened();
  const [first, second] = [client.ask(checksum), client.ask(checksum)];
  expect(workers.asked.map((command) => 'id' in command && command.id)).toEqual([1, 2]);
  workers.say({ type: 'alive', holds: false });
  workers.say({ type: 'answer', id: 2, answer: { kind: 'checksum', checksum: 'b' } });
  workers.say({ type: 'answer', id: 1, answer: { kind: 'checksum', checksum: 'a' } });
  expect(await first).toEqual({ kind: 'checksum', checksum: 'a' });
  expect(await second).toEqual({ kind: 'checksum', checksum: 'b' });
  expect(events).toEqual([]);
});

test.each([
  ['a throw', /^The training worker stopped: out of range$/],
  ['a script that does not load', /^The training worker could not be loaded\. .+reload/],
  ['an unreadable message', /^The training worker sent something the page could not read\.$/],
])('%s: the loss is told once, open questions are refused with it, the worker is ended', async (what, words) => {
  const { client, losses, events } = listened();
  const open = client.ask(checksum);
  const worker = workers.made[0];
  const error = (message: string) => worker?.onerror?.({ message, preventDefault: () => undefined });
  if (what === 'a throw') error('out of range');
  else if (what === 'an unreadable message') worker?.onmessageerror?.();
  else error('');
  error('again');
  expect(losses).toEqual([expect.stringMatching(words)]);
  expect(await open).toEqual({ kind: 'refused', message: losses[0] });
  expect(await client.ask(checksum)).toEqual({ kind: 'refused', message: losses[0] });
  expect(worker?.terminated).toBe(true);
  workers.say({ type: 'running', running: true, update: 1, finished: false });
  expect(events).toEqual([]);
});

test('who ends a client hears nothing more of it, not even that it is gone; what was asked is refused with the reason', async () => {
  const { client, losses, events } = listened();
  const open = client.ask(checksum);
  client.terminate('given up');
  workers.made[0]?.onerror?.({ message: 'late', preventDefault: () => undefined });
  workers.say({ type: 'running', running: true, update: 1, finished: false });
  client.send({ type: 'run' });
  await vi.advanceTimersByTimeAsync(30_000);
  expect(await open).toEqual({ kind: 'refused', message: 'given up' });
  expect([losses, events]).toEqual([[], []]);
  expect(workers.asked.map(({ type }) => type)).toEqual(['ask']);
});

const READS = { type: 'alive', holds: false, reads: 'odd-model' } as const;
test('a worker that hangs while it opens a run with files of a model is ended after 20 s, with their name', async () => {
  const { client, losses } = listened();
  const open = client.ask(checksum);
  workers.say(READS);
  await vi.advanceTimersByTimeAsync(15_000);
  workers.say({ type: 'alive', holds: false }); // it was only busy
  await vi.advanceTimersByTimeAsync(19_000);
  expect(losses).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(losses).toEqual([expect.stringMatching(/20 s.*odd-model/)]);
  expect(await open).toMatchObject({ kind: 'refused' });
  expect(workers.made[0]?.terminated).toBe(true);
});

test.each<[string, readonly RunEvent[]]>([
  ['that trains', [READS, fakeReady(parseConfig({}))]],
  ['without such files', [{ type: 'alive', holds: false }]],
])('a worker %s is waited for, however long it is silent', async (_, events) => {
  const { losses } = listened();
  for (const event of events) workers.say(event);
  await vi.advanceTimersByTimeAsync(120_000);
  expect([losses, workers.made[0]?.terminated]).toEqual([[], false]);
});

test('the training worker says whose files it reads before it reads them', async () => {
  vi.useRealTimers();
  await workerHere();
  const worker = new Worker('');
  const events: RunEvent[] = [];
  worker.onmessage = ({ data }: MessageEvent<RunEvent>) => events.push(data);
  worker.postMessage({ type: 'start', config: parseConfig({}), run: false, base: { name: 'odd-model', files: [] } });
  await vi.waitFor(() => expect(events.some(({ type }) => type === 'error')).toBe(true), 20_000); // no files
  const begun = events.findIndex((event) => event.type === 'alive' && event.reads === 'odd-model');
  expect(begun).toBeGreaterThanOrEqual(0);
  expect(begun).toBeLessThan(events.findIndex(({ type }) => type === 'error'));
});

test('the next run in the same worker is told to its own listener alone', () => {
  const { client, events } = listened();
  const next: ForwardedEvent[] = [];
  const running = { type: 'running', running: true, update: 1, finished: false } as const;
  workers.say(running);
  client.listen({ onEvent: (event) => next.push(event), onLoss: () => undefined, onSilence: () => undefined });
  workers.say(running);
  expect([events.length, next.length]).toEqual([1, 1]);
});

test('a browser that starts no worker refuses every question with the reason, instead of leaving it open', async () => {
  vi.stubGlobal('Worker', function Forbidden() {
    throw new DOMException('workers are forbidden', 'SecurityError');
  });
  const { client, losses } = listened();
  const open = client.ask(checksum);
  vi.runAllTimers();
  expect(losses).toEqual([expect.stringContaining('workers are forbidden')]);
  expect(await open).toEqual({ kind: 'refused', message: losses[0] });
});

test('a worker that is silent while it opens a run still opens it; any other problem ends the start', () => {
  const problem = { message: '', hint: '', fatal: false, fields: [] };
  useLive.setState({ session: 'starting', running: true });
  setProblem({ ...problem, cause: 'silent' });
  expect(useLive.getState()).toMatchObject({ session: 'starting', running: true });
  setProblem({ ...problem, cause: 'needs-environment' });
  expect(useLive.getState()).toMatchObject({ session: 'none', running: false });
});
