import { Library } from './rollouts/library.ts';
import { DEFAULT_PATTERN, type SplitPattern } from './rollouts/pattern.ts';
import type { ReaderCommand, ReaderEvent, ReadRollout } from './wire/reading.ts';

/** The worker that reads files of rollouts, by slices: training has its own, and hears nothing of it. */
let library = new Library();
let pattern: SplitPattern = DEFAULT_PATTERN;
let turn = 0; // of what may run on: opening or searching that finds another number ends

const post = (event: ReaderEvent) => globalThis.postMessage(event);

async function open({ files, fresh, ...command }: Extract<ReaderCommand, { type: 'open' }>): Promise<void> {
  const own = ++turn;
  if (fresh) library = new Library();
  ({ pattern } = command);
  for await (const opened of library.open(files, pattern)) {
    if (own !== turn) break;
    post({ type: 'opened', opened });
  }
  post({ type: 'idle', stopped: own !== turn });
}

async function search({ id, words }: Extract<ReaderCommand, { type: 'search' }>): Promise<void> {
  const own = turn;
  searching = id;
  for await (const { rows, share } of library.search(words, pattern)) {
    if (own !== turn || searching !== id) return;
    post({ type: 'found', id, rows, share });
  }
}
let searching = 0;

async function read(row: number): Promise<ReadRollout> {
  try {
    return { row, record: await library.read(row, pattern) };
  } catch (error) {
    return { row, problem: error instanceof Error ? error.message : String(error) };
  }
}

// of several columns of a damaged Parquet file the parser leaves promises behind that nobody waits for; the file is told of anyway
globalThis.addEventListener('unhandledrejection', (event) => event.preventDefault());

globalThis.addEventListener('message', ({ data }: MessageEvent<ReaderCommand>) => {
  switch (data.type) {
    case 'open':
      return void open(data);
    case 'search':
      return void search(data);
    case 'read':
      return void Promise.all(data.rows.map(read)).then((rollouts) => post({ type: 'read', id: data.id, rollouts }));
    case 'stop':
      turn++;
  }
});
