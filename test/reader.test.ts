import { beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { DEFAULT_PATTERN } from '../src/rollouts/splitPattern.ts';
import type { PickedFile, ReaderCommand, ReaderEvent } from '../src/wire/readerMessages.ts';

/** The reader as a worker has it: it hears `message`, and what it posts is kept. */
let hear: (event: { readonly data: ReaderCommand }) => void;
let told: ReaderEvent[] = [];
let atFirst: (() => void) | null = null; // done as soon as anything is told, before the reader goes on
const listeners = new Map<string, typeof hear>();
beforeAll(async () => {
  // never put back: the reader says every second that it is alive, to the end of this process
  vi.stubGlobal('addEventListener', (type: string, listener: typeof hear) => listeners.set(type, listener));
  vi.stubGlobal('postMessage', (event: ReaderEvent) => {
    told.push(event);
    const now = atFirst;
    atFirst = null;
    now?.();
  });
  await import('../src/reader.ts');
  hear = listeners.get('message')!;
});
beforeEach(() => {
  told = [];
});

const send = (data: ReaderCommand) => hear({ data });
const said = async (wanted: (event: ReaderEvent) => boolean) => {
  await expect.poll(() => told.some(wanted)).toBe(true);
  return told.find(wanted)!;
};

/** Lines of verl, a rollout each. */
const file = (name: string, rollouts: number): PickedFile => ({
  path: name,
  file: new Blob(Array.from({ length: rollouts }, (_, i) => `${JSON.stringify({ input: `q${i}`, output: 'word', score: 1 })}\n`)),
}); // prettier-ignore

async function open(id: number, files: readonly PickedFile[]): Promise<void> {
  send({ type: 'open', id, files, pattern: DEFAULT_PATTERN });
  await said((event) => event.type === 'idle' && event.id === id);
}

test('a search of a file that has gone since ends, and says so', async () => {
  const kept = file('1.jsonl', 3);
  let gone = false;
  const slice = (from?: number, to?: number) => {
    if (gone) return { arrayBuffer: () => Promise.reject(new Error('the file could not be read')) } as unknown as Blob;
    return kept.file.slice(from, to);
  };
  await open(1, [{ path: kept.path, file: { size: kept.file.size, stream: () => kept.file.stream(), slice } as Blob }]);
  gone = true;
  for (const [id, words] of [
    [1, 'word'],
    [2, '“…”'],
  ] as const) {
    send({ type: 'search', id, words });
    const failed = await said((event) => event.type === 'failed' && event.id === id);
    expect(failed).toEqual({ type: 'failed', command: 'search', id, message: 'the file could not be read' });
  }
  send({ type: 'read', id: 9, rows: [2] });
  expect(await said((event) => event.type === 'read')).toMatchObject({ id: 9, rollouts: [{ row: 2, problem: 'the file could not be read' }] }); // prettier-ignore
});

test('stopping ends the opening of files, each with its id; a search of what was read goes on to its end', async () => {
  atFirst = () => {
    send({ type: 'search', id: 5, words: 'word' });
    send({ type: 'stop' });
  };
  send({ type: 'open', id: 2, files: [file('1.jsonl', 3), file('2.jsonl', 4)], pattern: DEFAULT_PATTERN });
  expect(await said((event) => event.type === 'idle')).toEqual({ type: 'idle', id: 2, stopped: true });
  const last = await said((event) => event.type === 'found' && event.share === 1);
  expect(told.filter(({ type }) => type === 'opened')).toHaveLength(1); // the first file, and no more
  expect(last).toMatchObject({ id: 5, rows: [0, 1, 2] });
});

test('files opened upon others are told of under their own id, and a search that another replaced falls silent', async () => {
  atFirst = () => send({ type: 'open', id: 4, files: [file('new.jsonl', 1500)], pattern: DEFAULT_PATTERN });
  send({ type: 'open', id: 3, files: [file('1.jsonl', 3), file('2.jsonl', 4)], pattern: DEFAULT_PATTERN });
  await said((event) => event.type === 'idle' && event.id === 4);
  expect(told.filter((event) => event.type === 'opened' && event.id === 3)).toHaveLength(1);
  send({ type: 'search', id: 6, words: 'word' });
  send({ type: 'search', id: 7, words: '' });
  send({ type: 'search', id: 8, words: 'q1499' });
  await said((event) => event.type === 'found' && event.id === 8 && event.share === 1);
  expect(told.some((event) => event.type === 'found' && event.id < 8)).toBe(false);
});
