import { create } from 'zustand';
import { RolloutTable } from '../../rollouts/columns.ts';
import type { FileReport, Opened, Problem } from '../../rollouts/library.ts';
import { DEFAULT_PATTERN, type SplitPattern } from '../../rollouts/splitPattern.ts';
import { type Filter, NO_FILTER, type Order } from '../../rollouts/select.ts';
import type { PickedFile, ReadRollout } from '../../wire/readerMessages.ts';
import { READING_STOPPED, ReaderClient, type ReaderListener } from './readerClient.ts';

/** What is looked at beside the list. */
export type Look = 'rollout' | 'group' | 'steps';

interface RolloutsState {
  readonly files: readonly FileReport[];
  readonly problems: readonly Problem[];
  readonly groups: readonly string[]; // names, by the indices of the column
  readonly opened: number; // counts what was opened: what is typed about one holds for no other
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
  ...{ opened: 0, failed: '', pattern: DEFAULT_PATTERN, order: { by: 'step', descending: false }, look: 'rollout' },
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
const TELL_MS_PER_ROW = 0.01; // of a long list less often

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

function hear(event: Parameters<ReaderListener['onEvent']>[0]): void {
  if (event.type === 'opened') take(event.opened);
  else if (event.type === 'found') find(event.rows, event.share);
  else if (event.type === 'idle') {
    tell();
    useRollouts.setState({ reading: null, stopped: event.stopped });
    // rows that came while a search was under way were not in it
    const { words, hits } = useRollouts.getState();
    if (hits) seek(words, hits);
  } else if (event.of === 'open') useRollouts.setState({ failed: `Reading stopped: ${event.message}`, reading: null });
  else useRollouts.setState({ failed: `Searching stopped: ${event.message}`, searched: 1 });
}

let found: number[] = []; // by the search under way; told now and then
let toldFound = -Infinity;

function find(rows: readonly number[], share: number): void {
  for (const row of rows) found.push(row);
  if (share < 1 && !isDue(toldFound)) return;
  toldFound = performance.now();
  useRollouts.setState({ hits: new Set(found), searched: share });
}

/** Whether the page can be told again: each time all of a list is gone through. */
function isDue(last: number): boolean {
  return performance.now() - last > Math.max(TELL_MS, TELL_MS_PER_ROW * table.rows);
}

let told = -Infinity; // when the page was last told
let waiting: { readonly groups: string[]; readonly problems: Problem[] } = { groups: [], problems: [] };

function take({ block, groups, problems, files, bytes, of }: Opened): void {
  table.append(block);
  // one by one: a call takes no hundred thousand arguments
  for (const group of groups) waiting.groups.push(group);
  for (const problem of problems) waiting.problems.push(problem);
  const first = useRollouts.getState().version === 0 && table.rows > 0;
  if (first || isDue(told)) tell();
  useRollouts.setState({ files, reading: { bytes, of } });
}

function tell(): void {
  const { groups, problems } = waiting;
  waiting = { groups: [], problems: [] };
  told = performance.now();
  useRollouts.setState((s) => ({
    groups: groups.length > 0 ? s.groups.concat(groups) : s.groups,
    problems: problems.length > 0 ? [...s.problems, ...problems] : s.problems,
    version: s.version + 1,
    row: s.row ?? (table.rows > 0 ? 0 : null),
  }));
}

/** Opens files in place of those that are open; nothing is left out of the list, and nothing searched for. */
export function openFiles(files: readonly PickedFile[]): void {
  if (files.length === 0) return;
  picked = files;
  reopen({});
}

/** Reads the files once more; `kept` is what stays as it was. */
function reopen(kept: Partial<RolloutsState>): void {
  table = new RolloutTable();
  read = new Map();
  waiting = { groups: [], problems: [] };
  searches++;
  opens++;
  useRollouts.setState({ ...nothingOpen(), opened: opens, failed: '', reading: { bytes: 0, of: 1 }, ...kept });
  reader().send({ type: 'open', id: opens, files: picked, pattern: useRollouts.getState().pattern });
}

/** Splits by another pattern: everything is read once more, and the same rollouts stay in view, listed and searched for as before. */
export function setPattern(pattern: SplitPattern): void {
  useRollouts.setState({ pattern });
  if (picked.length === 0) return;
  const { row, sample, filter, words, hits, beside } = useRollouts.getState();
  reopen({ row, sample, filter, words, hits, beside });
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
  seek(words, new Set());
}

/** Searches; until there is something to tell, `before` is what is listed. */
function seek(words: string, before: ReadonlySet<number>): void {
  const id = ++searches;
  const wanted = words.trim();
  const searching = wanted !== '' && client !== null;
  [found, toldFound] = [[], -Infinity];
  useRollouts.setState({ words, hits: searching ? before : null, searched: searching ? 0 : 1 });
  client?.send({ type: 'search', id, words: wanted });
}

/** The rollouts of these rows, from the file, or from those looked at last; what cannot be read now is asked for again next time. */
export async function readRows(rows: readonly number[]): Promise<readonly ReadRollout[]> {
  const known = read;
  const missing = rows.filter((row) => !known.has(row));
  const come = missing.length > 0 ? ((await client?.read(missing)) ?? []) : [];
  for (const one of come) if ('record' in one) known.set(one.row, one);
  const answers = rows.map(
    (row) => known.get(row) ?? come.find((one) => one.row === row) ?? { row, problem: READING_STOPPED },
  );
  for (const row of known.keys()) if (known.size > MOST_READ && !rows.includes(row)) known.delete(row);
  return answers;
}

/** Whether these rows can be asked for: they are there, or all are that will ever be. */
export function areReadable({ reading }: Pick<RolloutsState, 'reading'>, rows: readonly number[]): boolean {
  return reading === null || rows.every((row) => row < table.rows);
}
