import { create } from 'zustand';
import { RolloutTable } from '../../rollouts/columns.ts';
import type { FileReport, Opened, Problem } from '../../rollouts/library.ts';
import { DEFAULT_PATTERN, type SplitPattern } from '../../rollouts/pattern.ts';
import { type Filter, NO_FILTER, type Order } from '../../rollouts/select.ts';
import type { PickedFile, ReaderEvent, ReadRollout } from '../../wire/reading.ts';
import { NOBODY_READS, ReaderClient } from './client.ts';

/** What is looked at beside the list. */
export type Look = 'rollout' | 'group' | 'steps';

interface RolloutsState {
  readonly files: readonly FileReport[];
  readonly problems: readonly Problem[];
  readonly groups: readonly string[]; // names, by the indices of the column
  readonly version: number; // of the table
  readonly reading: { readonly bytes: number; readonly of: number } | null; // null: nothing is being read
  readonly stopped: boolean; // somebody stopped reading before the end
  readonly failed: string; // why opening, searching or the reader itself ended early; ''
  readonly pattern: SplitPattern;
  readonly order: { readonly by: Order; readonly descending: boolean };
  readonly filter: Filter;
  readonly words: string; // searched for
  readonly hits: ReadonlySet<number> | null; // null: nothing is searched for
  readonly searched: number; // share of the files a search has been through
  readonly look: Look;
  readonly row: number | null; // chosen
  readonly sample: boolean; // the shipped rollouts are what is open
  readonly beside: readonly [number | null, number | null]; // steps side by side
}

/** Files that were opened, and what is looked at of them. */
export const useRollouts = create<RolloutsState>()(() => ({
  ...nothingOpen(),
  ...{ failed: '', pattern: DEFAULT_PATTERN, order: { by: 'step', descending: false }, look: 'rollout' },
}));

function nothingOpen() {
  return {
    ...{ files: [], problems: [], groups: [], version: 0, reading: null, stopped: false, filter: NO_FILTER },
    ...{ words: '', hits: null, searched: 1, row: null, sample: false, beside: [null, null] as const },
  };
}

/** Numbers of the rollouts that are open. */
export let table = new RolloutTable();
let picked: readonly PickedFile[] = [];
let client: ReaderClient | null = null;
let opens = 0; // ids of commands: what is told of older ones is too late
let searches = 0;
let read = new Map<number, ReadRollout>(); // those looked at last
const MOST_READ = 64;
const TELL_MS = 500;
const TELL_MS_PER_ROW = 0.01; // of a long list less often: each time all of it is gone through

function reader(): ReaderClient {
  return (client ??= new ReaderClient({
    onEvent: (event) => {
      // of files that were replaced since, and of words that are not searched for any more, the reader may go on speaking for a while
      const newest = event.type === 'found' || (event.type === 'failed' && event.of === 'search') ? searches : opens;
      if (event.id === newest) hear(event);
    },
    onLoss: (failed) => {
      client = null;
      useRollouts.setState({ failed, reading: null, searched: 1 });
    },
  }));
}

function hear(event: Exclude<ReaderEvent, { type: 'read' }>): void {
  switch (event.type) {
    case 'opened': {
      take(event.opened);
      return;
    }
    case 'idle':
      tell();
      {
        useRollouts.setState({ reading: null, stopped: event.stopped });
        return;
      }
    case 'found': {
      useRollouts.setState(({ hits }) => ({
        hits: new Set([...(hits ?? []), ...event.rows]),
        searched: event.share,
      }));
      return;
    }
    case 'failed':
      if (event.of === 'open') {
        useRollouts.setState({ failed: `Reading stopped: ${event.message}`, reading: null });
        return;
      }
      {
        useRollouts.setState({ failed: `Searching stopped: ${event.message}`, searched: 1 });
        return;
      }
  }
}

let told = -Infinity; // when the page was last told
let waiting: { readonly groups: string[]; readonly problems: Problem[] } = { groups: [], problems: [] };

function take({ block, groups, problems, files, bytes, of }: Opened): void {
  table.append(block);
  waiting.groups.push(...groups);
  waiting.problems.push(...problems);
  const first = useRollouts.getState().version === 0 && table.rows > 0;
  // a list is sorted anew each time: while files are read it is told seldom
  if (first || performance.now() - told > Math.max(TELL_MS, TELL_MS_PER_ROW * table.rows)) tell();
  useRollouts.setState({ files, reading: { bytes, of } });
}

function tell(): void {
  const { groups, problems } = waiting;
  waiting = { groups: [], problems: [] };
  told = performance.now();
  useRollouts.setState((s) => ({
    groups: groups.length > 0 ? [...s.groups, ...groups] : s.groups,
    problems: problems.length > 0 ? [...s.problems, ...problems] : s.problems,
    version: s.version + 1,
    row: s.row ?? (table.rows > 0 ? 0 : null),
  }));
}

/** Opens files in place of those that are open. */
export function openFiles(files: readonly PickedFile[]): void {
  if (files.length === 0) return;
  picked = files;
  reopen();
}

/** Reads the files once more, with the pattern as it is now. */
function reopen(): void {
  table = new RolloutTable();
  read = new Map();
  waiting = { groups: [], problems: [] };
  searches++;
  useRollouts.setState({ ...nothingOpen(), failed: '', reading: { bytes: 0, of: 1 } });
  reader().send({ type: 'open', id: ++opens, files: picked, pattern: useRollouts.getState().pattern });
}

/** Splits by another pattern: everything is read once more, and the same rollout stays in view. */
export function setPattern(pattern: SplitPattern): void {
  const { row, sample } = useRollouts.getState();
  useRollouts.setState({ pattern });
  if (picked.length === 0) return;
  reopen();
  useRollouts.setState({ row, sample });
}

/** Closes all files. */
export function closeFiles(): void {
  client?.terminate();
  client = null;
  picked = [];
  table = new RolloutTable();
  read = new Map();
  useRollouts.setState({ ...nothingOpen(), failed: '' });
}

/** Stops reading where it is: what has been read stays. */
export function stopReading(): void {
  client?.send({ type: 'stop' });
}

/** Searches all texts; of nothing it shows all. */
export function search(words: string): void {
  const id = ++searches;
  const wanted = words.trim();
  const searching = wanted !== '' && client !== null;
  useRollouts.setState({ words, hits: searching ? new Set() : null, searched: searching ? 0 : 1 });
  client?.send({ type: 'search', id, words: wanted });
}

/** The rollouts of these rows, from the file, or from those looked at last. */
export async function readRows(rows: readonly number[]): Promise<readonly ReadRollout[]> {
  const known = read;
  const missing = rows.filter((row) => !known.has(row));
  if (missing.length > 0) for (const one of (await client?.read(missing)) ?? []) known.set(one.row, one);
  const found = rows.map((row) => known.get(row) ?? { row, problem: NOBODY_READS });
  for (const row of known.keys()) if (known.size > MOST_READ && !rows.includes(row)) known.delete(row);
  return found;
}
