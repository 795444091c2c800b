import { readMetricFile } from './metricLogs/readMetricFile.ts';
import { Library } from './rollouts/library.ts';
import { DEFAULT_PATTERN, type SplitPattern } from './rollouts/splitPattern.ts';
import { type RunFile, sentRun } from './runs/sentRun.ts';
import { postSignsOfLife } from './wire/startWorker.ts';
import type { ReaderCommand, ReaderEvent, ReadRollout } from './wire/readerMessages.ts';

/**
 * The worker that reads rollout files in slices, and large run files. It is separate from the training worker, so
 * reading never slows training.
 */
let library = new Library();
let pattern: SplitPattern = DEFAULT_PATTERN;
let openingId = 0; // id of the current `open` command; an older one stops at the next slice
let searchingId = 0;

const post = (event: ReaderEvent, transfer: readonly ArrayBuffer[] = []) =>
  globalThis.postMessage(event, { transfer: [...transfer] });

async function open(command: Extract<ReaderCommand, { type: 'open' | 'extend' }>): Promise<void> {
  const { id, files, pattern: newPattern } = command;
  if (command.type === 'open') [library, searchingId] = [new Library(), 0];
  [openingId, pattern] = [id, newPattern];
  for await (const opened of library.open(files, newPattern, command.type === 'open' ? [] : command.gone)) {
    // post what was opened even if opening was stopped, because both sides count the rows
    post({ type: 'opened', id, opened });
    if (openingId !== id) break;
  }
  post({ type: 'idle', id, stopped: openingId !== id });
}

async function search({ id, words, from }: Extract<ReaderCommand, { type: 'search' }>): Promise<void> {
  searchingId = id;
  if (words === '') return;
  for await (const { rows, share } of library.search(words, pattern, from)) {
    if (searchingId !== id) return;
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
    const { run: read, diagnosis } = await readMetricFile(file);
    const { run, transferred } = sentRun(read);
    post({ type: 'run', id, read: { run, diagnosis } }, transferred);
  } catch (error) {
    post({ type: 'run', id, read: { problem: messageOf(error) } });
  }
}

/** Posts an error if a task fails, so that the page doesn't wait forever. */
function reportFailure(command: 'open' | 'search', id: number, task: Promise<void>): void {
  task.catch((error: unknown) => post({ type: 'failed', command, id, message: messageOf(error) }));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

// Errors of the tasks here are handled above. What is left are rejected promises of the Parquet parser: if one column
// is damaged, it abandons the promises of the others. The first error has already been reported for the file.
globalThis.addEventListener('unhandledrejection', (event) => event.preventDefault());

postSignsOfLife(() => post({ type: 'alive' }));

globalThis.addEventListener('message', ({ data }: MessageEvent<ReaderCommand>) => {
  switch (data.type) {
    case 'open':
    case 'extend': {
      reportFailure('open', data.id, open(data));
      return;
    }
    case 'search': {
      reportFailure('search', data.id, search(data));
      return;
    }
    case 'read':
      return void Promise.all(data.rows.map(read)).then((rollouts) => post({ type: 'read', id: data.id, rollouts }));
    case 'run':
      return void readRun(data.id, data.file);
    case 'stop':
      openingId = 0;
  }
});
