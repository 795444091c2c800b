import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { readFileSync } from 'node:fs';
import { columnsOf } from '../../src/rollouts/columns.ts';
import type { OpenProgress } from '../../src/rollouts/library.ts';
import { DEFAULT_PATTERN } from '../../src/rollouts/splitPattern.ts';
import { NO_FILTER } from '../../src/rollouts/select.ts';
import { recordWithDefaults } from '../../src/rollouts/rolloutRecord.ts';
import {
  areReadable,
  closeFiles,
  openFiles,
  readRows,
  search,
  setPattern,
  stopReading,
  table,
  useRollouts,
} from '../../src/page/files/rolloutFileStore.ts';
import { openRun } from '../../src/page/files/openRollouts.ts';
import type { ReaderCommand, ReaderEvent } from '../../src/wire/readerMessages.ts';

/** A worker that only listens: what the page sends it is noted, and what it says is said by hand. */
class Stub {
  static made: Stub[] = [];
  onmessage: ((message: { readonly data: ReaderEvent }) => void) | null = null;
  onerror: ((event: { readonly message: string; preventDefault: () => void }) => void) | null = null;
  terminated = false;
  readonly asked: ReaderCommand[] = [];
  constructor() {
    Stub.made.push(this);
  }
  postMessage(command: ReaderCommand): void {
    this.asked.push(command);
  }
  terminate(): void {
    this.terminated = true;
  }
}
vi.stubGlobal('Worker', Stub);
afterAll(() => {
  vi.unstubAllGlobals();
});

const worker = () => Stub.made.at(-1)!;
const say = (event: ReaderEvent) => worker().onmessage?.({ data: event });
const newest = <K extends ReaderCommand['type']>(type: K) =>
  worker().asked.findLast((command) => command.type === type) as Extract<ReaderCommand, { type: K }>;
const FILE = { path: '1.jsonl', file: new Blob(['{}']) };
const record = recordWithDefaults({ id: 'a', reward: 1 });

/** What the reader tells of `rows` rollouts. */
const opened = (rows: number): OpenProgress => ({
  block: columnsOf(
    Array.from({ length: rows }, () => ({ record, file: 0 })),
    () => -1,
  ),
  ...{ groups: new Map<number, string>(), problems: [], withdrawn: [], files: [], bytes: 1, totalBytes: 2 },
});

/** Opens a file and has the reader tell of `rows` rollouts in it. */
function open(rows: number): number {
  openFiles([FILE]);
  const { id } = newest('open');
  say({ type: 'opened', id, opened: opened(rows) });
  return id;
}

beforeEach(() => {
  closeFiles();
});

test('what the reader still says of files that were replaced does not come into the table of those that are open', () => {
  const before = open(3);
  const now = open(2);
  expect(now).not.toBe(before);
  say({ type: 'opened', id: before, opened: opened(5) });
  say({ type: 'idle', id: before, stopped: true });
  expect(table.rows).toBe(2);
  expect(useRollouts.getState()).toMatchObject({ stopped: false, reading: { bytes: 1, of: 2 } });
  say({ type: 'idle', id: now, stopped: false });
  expect(useRollouts.getState().reading).toBeNull();
});

test('a search that fails ends, and says why; so does opening; one that is given up stays silent', () => {
  const id = open(3);
  search('first');
  const given = newest('search').id;
  search('second');
  const wanted = newest('search').id;
  say({ type: 'failed', command: 'search', id: given, message: 'too late' });
  expect(useRollouts.getState()).toMatchObject({ searched: 0, failed: '' });
  say({ type: 'failed', command: 'search', id: wanted, message: 'the file is gone' });
  expect(useRollouts.getState()).toMatchObject({ searched: 1, failed: 'Searching stopped: the file is gone' });
  say({ type: 'failed', command: 'open', id, message: 'no memory' });
  expect(useRollouts.getState()).toMatchObject({ reading: null, failed: 'Reading stopped: no memory' });
});

test('when the reader is lost, who waits is told, nothing is asked of it any more, and another file gets another reader', async () => {
  open(3);
  const lost = worker();
  search('word');
  const waiting = readRows([1]);
  lost.onerror?.({ message: 'out of memory', preventDefault: () => undefined });
  expect(await waiting).toEqual([{ row: 1, problem: 'reading has stopped: open the files again' }]);
  expect(useRollouts.getState()).toMatchObject({
    failed: 'The worker that reads files stopped: out of memory',
    reading: null,
    searched: 1,
  });
  expect(lost.terminated).toBe(true);
  expect(await readRows([2])).toMatchObject([{ row: 2, problem: 'reading has stopped: open the files again' }]);
  search('another');
  expect(useRollouts.getState()).toMatchObject({ hits: null, searched: 1 });
  expect(Stub.made.at(-1)).toBe(lost);
  open(1);
  expect(worker()).not.toBe(lost);
  expect(useRollouts.getState().failed).toBe('');
});

test('a rollout is asked for once it is there, or once no more will come; what could not be read is asked for anew', async () => {
  openFiles([FILE]);
  expect(areReadable(useRollouts.getState(), [0])).toBe(false); // not begun
  const { id } = newest('open');
  say({ type: 'opened', id, opened: opened(2) });
  expect([0, 1, 2].map((row) => areReadable(useRollouts.getState(), [row]))).toEqual([true, true, false]);
  const early = readRows([1]);
  say({ type: 'read', id: newest('read').id, rollouts: [{ row: 1, problem: 'not yet' }] });
  expect(await early).toEqual([{ row: 1, problem: 'not yet' }]);
  const later = readRows([1]);
  say({ type: 'read', id: newest('read').id, rollouts: [{ row: 1, record }] });
  expect(await later).toEqual([{ row: 1, record }]);
  const asked = worker().asked.length;
  expect(await readRows([1])).toEqual([{ row: 1, record }]);
  expect(worker().asked).toHaveLength(asked); // it is at hand
  say({ type: 'idle', id, stopped: false });
  expect(areReadable(useRollouts.getState(), [9])).toBe(true); // to be told that there is none
});

test('splitting by another pattern keeps filter, order, words and the rollout in view; another file begins without them', () => {
  const id = open(3);
  say({ type: 'idle', id, stopped: false });
  const filter = { ...NO_FILTER, minReward: 0.5 };
  const order = { by: 'reward', descending: true } as const;
  useRollouts.setState({ filter, order, row: 2 });
  search('word');
  say({ type: 'found', id: newest('search').id, rows: [2], share: 1 });
  const before = useRollouts.getState().openingId;
  setPattern({ ...DEFAULT_PATTERN, call: ['do'] });
  expect(newest('open').pattern.call).toEqual(['do']);
  expect(useRollouts.getState()).toMatchObject({ filter, order, row: 2, searchText: 'word' });
  expect(useRollouts.getState().hits).toEqual(new Set([2]));
  const again = newest('open').id;
  say({ type: 'opened', id: again, opened: opened(3) });
  say({ type: 'idle', id: again, stopped: false });
  expect(newest('search').words).toBe('word'); // what was searched for while rows were missing is searched for again
  openFiles([FILE]);
  expect(useRollouts.getState()).toMatchObject({ filter: NO_FILTER, order, row: null, searchText: '', hits: null });
  expect(useRollouts.getState().openingId).toBeGreaterThan(before); // what was typed is keyed by it
});

test('what a search finds is told at once and at its end, and between seldom: the list is gone through each time', () => {
  const id = open(3);
  say({ type: 'idle', id, stopped: false });
  search('word');
  const told: number[] = [];
  const stop = useRollouts.subscribe(({ hits }, before) => {
    if (hits !== before.hits) told.push(hits?.size ?? 0);
  });
  const ofSearch = newest('search').id;
  for (let n = 0; n < 100; n++) say({ type: 'found', id: ofSearch, rows: [n], share: n / 100 });
  say({ type: 'found', id: ofSearch, rows: [100], share: 1 });
  stop();
  expect(told[0]).toBe(1);
  expect(told.at(-1)).toBe(101);
  expect(told.length).toBeLessThan(10); // two in the half second between tellings, however slow this machine is
});

test('where there is no run the recording is opened, and called so', async () => {
  const bytes = readFileSync('public/recordings/number-hunt.recording');
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(bytes)));
  await openRun();
  expect(newest('open').files.map(({ path }) => path)).toEqual(['recording-rollouts.jsonl']);
  expect((await newest('open').files[0]!.file.text()).split('\n')).toHaveLength(41); // 40 lines and their end
});

const report = (path: string) => ({
  path,
  bytes: 2,
  format: null,
  rollouts: 0,
  badLines: 0,
  nonFinite: 0,
  guessed: [],
});
/** Opens three files; the reader reads the first, begins the second, and is never heard again. */
function openHanging(): void {
  openFiles(['c.jsonl', 'b.parquet', 'a.jsonl'].map((path) => ({ ...FILE, path })));
  const { id } = newest('open');
  say({ type: 'opened', id, opened: { ...opened(2), files: ['a.jsonl', 'b.parquet'].map(report) } });
  say({ type: 'alive' });
}
const pathsAsked = () => newest('open').files.map(({ path }) => path);

test('a file whose reading never ends is refused by name after a while, and the others are opened again', () => {
  vi.useFakeTimers();
  try {
    openHanging();
    const hung = worker();
    vi.advanceTimersByTime(15_000);
    say({ type: 'alive' }); // it was only busy
    vi.advanceTimersByTime(15_000);
    expect(hung.terminated).toBe(false);
    vi.advanceTimersByTime(10_000);
    expect(hung.terminated).toBe(true);
    expect(worker()).not.toBe(hung);
    expect(pathsAsked()).toEqual(['a.jsonl', 'c.jsonl']);
    say({ type: 'opened', id: newest('open').id, opened: opened(4) });
    say({ type: 'idle', id: newest('open').id, stopped: false });
    const { problems, reading, stopped } = useRollouts.getState();
    expect([problems.map(({ file, line }) => [file, line]), reading, stopped]).toEqual([[['b.parquet', null]], null, false]); // prettier-ignore
    vi.advanceTimersByTime(19_000);
    expect(worker().terminated).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

test('Stop ends a reader that does not hear it: what was read before the file stays, and no later file is read', () => {
  vi.useFakeTimers();
  try {
    openHanging();
    const hung = worker();
    stopReading();
    vi.advanceTimersByTime(4000);
    expect(hung.terminated).toBe(true);
    expect(pathsAsked()).toEqual(['a.jsonl']);
    say({ type: 'opened', id: newest('open').id, opened: opened(2) });
    say({ type: 'idle', id: newest('open').id, stopped: false });
    expect(useRollouts.getState()).toMatchObject({ stopped: true, reading: null, problems: [{ file: 'b.parquet' }] });
    openFiles([FILE]);
    say({ type: 'idle', id: newest('open').id, stopped: false });
    expect(useRollouts.getState().stopped).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});
