import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { columnsOf } from '../../src/rollouts/columns.ts';
import type { Opened } from '../../src/rollouts/library.ts';
import { bareRecord } from '../../src/rollouts/rollout.ts';
import { closeFiles, openFiles, readRows, search, table, useRollouts } from '../../src/ui/rollouts/store.ts';
import type { ReaderCommand, ReaderEvent } from '../../src/wire/reading.ts';

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
const record = bareRecord({ id: 'a', reward: 1 });

/** What the reader tells of `rows` rollouts. */
const opened = (rows: number): Opened => ({
  block: columnsOf(
    Array.from({ length: rows }, () => ({ record, file: 0 })),
    () => -1,
  ),
  ...{ groups: [], problems: [], files: [], bytes: 1, of: 2 },
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
  say({ type: 'failed', of: 'search', id: given, message: 'too late' });
  expect(useRollouts.getState()).toMatchObject({ searched: 0, failed: '' });
  say({ type: 'failed', of: 'search', id: wanted, message: 'the file is gone' });
  expect(useRollouts.getState()).toMatchObject({ searched: 1, failed: 'Searching stopped: the file is gone' });
  say({ type: 'failed', of: 'open', id, message: 'no memory' });
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
    failed: 'Reading stopped: out of memory',
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
