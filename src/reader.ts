import { readRunFile } from './experiments/runFile.ts';
import { Library } from './rollouts/library.ts';
import { DEFAULT_PATTERN, type SplitPattern } from './rollouts/splitPattern.ts';
import { type RunFile, sentRun } from './runs/sentRun.ts';
import type { ReaderCommand, ReaderEvent, ReadRollout } from './wire/readerMessages.ts';

/** The worker that reads files of rollouts, by slices, and large files of runs: training has its own, and hears nothing of it. */
let library = new Library();
let pattern: SplitPattern = DEFAULT_PATTERN;
let opening = 0; // the id that may go on: an older one ends where it is
let searching = 0;

const post = (event: ReaderEvent, moved: readonly ArrayBuffer[] = []) =>
  globalThis.postMessage(event, { transfer: [...moved] });

async function open({ id, files, pattern: by }: Extract<ReaderCommand, { type: 'open' }>): Promise<void> {
  [opening, searching] = [id, 0];
  [library, pattern] = [new Library(), by];
  for await (const opened of library.open(files, by)) {
    // what the library knows is told even when it is to stop: rows are counted on both sides
    post({ type: 'opened', id, opened });
    if (opening !== id) break;
  }
  post({ type: 'idle', id, stopped: opening !== id });
}

async function search({ id, words }: Extract<ReaderCommand, { type: 'search' }>): Promise<void> {
  searching = id;
  if (words === '') return;
  for await (const { rows, share } of library.search(words, pattern)) {
    if (searching !== id) return;
    post({ type: 'found', id, rows, share });
  }
}

async function read(row: number): Promise<ReadRollout> {
  try {
    return { row, record: await library.read(row, pattern) };
  } catch (error) {
    return { row, problem: messageOf(error) };
  }
}

async function readRun(id: number, file: RunFile): Promise<void> {
  try {
    const { run, moved } = sentRun(await readRunFile(file));
    post({ type: 'run', id, read: { run } }, moved);
  } catch (error) {
    post({ type: 'run', id, read: { problem: messageOf(error) } });
  }
}

/** Waits for a task, and tells of it where it fails: nobody waits in vain. */
function attend(of: 'open' | 'search', id: number, task: Promise<void>): void {
  task.catch((error: unknown) => post({ type: 'failed', of, id, message: messageOf(error) }));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// all that is done here is waited for above; what is left are promises of the Parquet parser's, which leaves those of other columns
// behind when one is damaged: the file is told of by the first
globalThis.addEventListener('unhandledrejection', (event) => event.preventDefault());

globalThis.addEventListener('message', ({ data }: MessageEvent<ReaderCommand>) => {
  switch (data.type) {
    case 'open': {
      attend('open', data.id, open(data));
      return;
    }
    case 'search': {
      attend('search', data.id, search(data));
      return;
    }
    case 'read':
      return void Promise.all(data.rows.map(read)).then((rollouts) => post({ type: 'read', id: data.id, rollouts }));
    case 'run':
      return void readRun(data.id, data.file);
    case 'stop':
      opening = 0;
  }
});
