import { create } from 'zustand';
import { RolloutTable } from '../../rollouts/columns.ts';
import { visible } from '../../base/visible.ts';
import type { FileReport, OpenProgress, Withdrawn } from '../../rollouts/library.ts';
import { inReadingOrder } from '../../rollouts/readingOrder.ts';
import type { LineProblem } from '../../rollouts/fileRefusal.ts';
import { DEFAULT_PATTERN, type SplitPattern } from '../../rollouts/splitPattern.ts';
import { type Filter, NO_FILTER, type SortColumn } from '../../rollouts/select.ts';
import type { PickedFile, ReadRollout } from '../../wire/readerMessages.ts';
import { READING_STOPPED, ReaderClient, type ReaderListener } from './readerClient.ts';

export type RolloutsView = 'rollout' | 'pair' | 'group' | 'steps';

interface RolloutsState {
  readonly files: readonly FileReport[];
  readonly problems: readonly LineProblem[];
  readonly groups: readonly string[]; // names of the groups, by their index in the table
  readonly openingId: number; // number of the current opening; typed filters belong to one opening only
  readonly version: number; // version of the table
  readonly reading: { readonly bytes: number; readonly of: number } | null; // null: nothing is being read
  readonly stopped: boolean; // whether the person stopped reading before the end
  readonly failed: string; // why opening, searching or the reader itself ended early; '' if nothing failed
  readonly pattern: SplitPattern;
  readonly order: { readonly by: SortColumn; readonly descending: boolean };
  readonly filter: Filter;
  readonly searchText: string;
  readonly hits: ReadonlySet<number> | null; // rows that the search found; null: no search
  readonly searched: number; // share of the files that the search has read
  readonly look: RolloutsView;
  readonly row: number | null; // the chosen rollout
  readonly beside: number | null; // the rollout that it is compared with; null: the next one of its group
  readonly sample: boolean; // whether the shipped sample is open
  readonly watched: boolean; // whether the open files are those of a watched folder
  // the two steps chosen for comparison; null: the first and the last step
  readonly comparedSteps: readonly [number | null, number | null];
}

export const useRollouts = create<RolloutsState>()(() => ({
  ...nothingOpen(),
  ...{ openingId: 0, failed: '', pattern: DEFAULT_PATTERN, order: { by: 'step', descending: false }, look: 'rollout' },
}));

function nothingOpen() {
  return {
    ...{ files: [], problems: [], groups: [], version: 0, reading: null, stopped: false, filter: NO_FILTER },
    ...{
      searchText: '',
      hits: null,
      searched: 1,
      row: null,
      beside: null,
      sample: false,
      watched: false,
      comparedSteps: [null, null] as const,
    },
  };
}

export let table = new RolloutTable();
let pickedFiles: readonly PickedFile[] = [];
let client: ReaderClient | null = null;
let rowsBefore = 0; // when the open files were extended last
const whenIdle: (() => void)[] = []; // called when the reader has read the files, or has ended
let stopping = false; // whether the person pressed Stop
let opens = 0; // id of the newest `open` command; events about older commands are ignored
let searches = 0; // id of the newest search
let cache = new Map<number, ReadRollout>(); // the rollouts viewed last
const MAX_CACHED_ROLLOUTS = 64;
const STOP_WITHIN_MS = 3000; // after Stop; then the worker is ended
const UPDATE_MS = 500; // shortest time between two updates of the page
const UPDATE_MS_PER_ROW = 0.01; // a longer list is updated less often

function reader(): ReaderClient {
  return (client ??= new ReaderClient({
    onEvent: (event) => {
      // the reader may still send events about replaced files and old searches
      const newest =
        event.type === 'found' || (event.type === 'failed' && event.command === 'search') ? searches : opens;
      if (event.id === newest) handleEvent(event);
    },
    onLoss: (failed, hung) => {
      client = null;
      const { reading, watched } = useRollouts.getState();
      // the files of a watched folder are not opened again: the one that hung grows, and would hang again
      if (hung && reading !== null && !watched) refuseHungFile();
      else useRollouts.setState({ failed, reading: null, searched: 1 });
      becomeIdle();
    },
  }));
}

function handleEvent(event: Parameters<ReaderListener['onEvent']>[0]): void {
  if (event.type === 'opened') addOpened(event.opened);
  else if (event.type === 'found') addFound(event.rows, event.share);
  else if (event.type === 'idle') {
    updatePage();
    useRollouts.setState({ reading: null, stopped: event.stopped || stopping });
    // rows that arrived during a search weren't part of it
    const { searchText, hits, searched } = useRollouts.getState();
    // a search that goes on comes to the rows of extended files by itself
    if (hits && (rowsBefore === 0 || (searched === 1 && table.rows > rowsBefore)))
      startSearch(searchText, hits, rowsBefore);
    becomeIdle();
  } else if (event.command === 'open') {
    useRollouts.setState({ failed: `Reading stopped: ${event.message}`, reading: null });
    becomeIdle();
  } else useRollouts.setState({ failed: `Searching stopped: ${event.message}`, searched: 1 });
}

function becomeIdle(): void {
  for (const resolve of whenIdle.splice(0)) resolve();
}

/** Opens the other files again in a new worker. If the person pressed Stop, only those that were read before it. */
function refuseHungFile(): void {
  const sorted = inReadingOrder(pickedFiles);
  const { files, problems: before, pattern: _, ...state } = useRollouts.getState();
  const hung = files.length - 1;
  const problem: LineProblem = {
    file: visible(sorted[hung]?.path ?? ''),
    line: null,
    got: 'a file whose reading does not end',
    want: 'a file that is not damaged: write it again',
  };
  const problems = [...before.filter(({ got }) => got === problem.got), problem];
  pickedFiles = sorted.filter((_, at) => (stopping ? at < hung : at !== hung));
  const { row, beside, sample, filter, searchText, hits, comparedSteps } = state;
  if (pickedFiles.length > 0) reopen({ row, beside, sample, filter, searchText, hits, comparedSteps, problems });
  else useRollouts.setState({ reading: null, searched: 1, stopped: stopping, problems });
}

let newHits: number[] = []; // hits of the running search; shown from time to time
let lastFoundUpdate = -Infinity;

function addFound(rows: readonly number[], share: number): void {
  for (const row of rows) newHits.push(row);
  if (share < 1 && !isDue(lastFoundUpdate)) return;
  lastFoundUpdate = performance.now();
  useRollouts.setState({ hits: new Set(newHits), searched: share });
}

/** Whether the list may be updated again. Each update goes through the whole list, so long lists are updated less often. */
function isDue(last: number): boolean {
  return performance.now() - last > Math.max(UPDATE_MS, UPDATE_MS_PER_ROW * table.rows);
}

let lastPageUpdate = -Infinity; // time of the last update of the page
const nothingWaiting = () => ({ groups: new Map<number, string>(), problems: [] as LineProblem[] });
let waitingLines = nothingWaiting();

const MIN_SHOWN_BYTES = 8 * 2 ** 20; // to read, below which a watched folder shows no progress

function addOpened({ block, groups, problems, withdrawn, files, bytes, totalBytes: of }: OpenProgress): void {
  if (withdrawn.length > 0) withdraw(withdrawn);
  table.append(block);
  // one by one, because a call can't take a hundred thousand arguments
  for (const [index, label] of groups) waitingLines.groups.set(index, label);
  for (const problem of problems) waitingLines.problems.push(problem);
  const first = useRollouts.getState().version === 0 && table.rows > 0;
  if (first || isDue(lastPageUpdate)) updatePage();
  const isShown = of >= MIN_SHOWN_BYTES || !useRollouts.getState().watched;
  useRollouts.setState({ files, reading: isShown ? { bytes, of } : null });
}

/** Takes out the rollouts and the problems of files that were written anew. */
function withdraw(withdrawn: readonly Withdrawn[]): void {
  table.withdraw(new Set(withdrawn.map(({ index }) => index)));
  const paths = new Set(withdrawn.map(({ path }) => path));
  const isOfOthers = ({ file }: LineProblem) => !paths.has(file);
  waitingLines.problems = waitingLines.problems.filter(isOfOthers);
  useRollouts.setState(({ problems }) => ({ problems: problems.filter(isOfOthers) }));
}

function updatePage(): void {
  const { groups, problems } = waitingLines;
  waitingLines = nothingWaiting();
  lastPageUpdate = performance.now();
  useRollouts.setState((s) => ({
    groups: groups.size > 0 ? withLabels(s.groups, groups) : s.groups,
    problems: problems.length > 0 ? [...s.problems, ...problems] : s.problems,
    version: s.version + 1,
    row: s.row ?? (table.rows > 0 ? 0 : null),
  }));
}

function withLabels(groups: readonly string[], labels: ReadonlyMap<number, string>): readonly string[] {
  const labelled = groups.slice();
  for (const [index, label] of labels) labelled[index] = label;
  return labelled;
}

/** Opens files in place of the open ones, without filter and search. */
export function openFiles(files: readonly PickedFile[]): void {
  if (files.length === 0) return;
  pickedFiles = files;
  stopping = false;
  reopen({});
}

/**
 * Opens files of a watched folder beside those of it that are open, or reads what was added to these. `gone`: the keys
 * of files whose rollouts no longer count. Replaces other open files. Resolves when all is read.
 */
export async function extendFiles(files: readonly PickedFile[], gone: readonly string[]): Promise<void> {
  stopping = false;
  const idle = new Promise<void>((resolve) => whenIdle.push(resolve));
  const { watched, pattern } = useRollouts.getState();
  const changedKeys = new Set([...gone, ...files.map(({ key }) => key)]);
  pickedFiles = [...(watched ? pickedFiles.filter(({ key }) => !changedKeys.has(key)) : []), ...files];
  if (watched && client) {
    rowsBefore = table.rows;
    cache = new Map(); // annotations may have been added to rollouts
    client.send({ type: 'extend', id: opens, files, gone, pattern });
  } else reopen({ watched: true });
  await idle;
}

/** Reads the files again. `keptState` has the parts of the state that stay. */
function reopen(keptState: Partial<RolloutsState>): void {
  table = new RolloutTable();
  cache = new Map();
  rowsBefore = 0;
  waitingLines = nothingWaiting();
  searches++;
  opens++;
  useRollouts.setState({ ...nothingOpen(), openingId: opens, failed: '', reading: { bytes: 0, of: 1 }, ...keptState });
  reader().send({ type: 'open', id: opens, files: pickedFiles, pattern: useRollouts.getState().pattern });
}

/** Splits texts by another pattern. All files are read again; the chosen rollouts, the filter and the search stay. */
export function setPattern(pattern: SplitPattern): void {
  stopping = false;
  useRollouts.setState({ pattern });
  if (pickedFiles.length === 0) return;
  const { row, beside, sample, watched, filter, searchText, hits, comparedSteps } = useRollouts.getState();
  reopen({ row, beside, sample, watched, filter, searchText, hits, comparedSteps });
}

export function closeFiles(): void {
  client?.terminate();
  client = null;
  pickedFiles = [];
  table = new RolloutTable();
  cache = new Map();
  useRollouts.setState({ ...nothingOpen(), failed: '' });
  becomeIdle();
}

/** Stops reading. The rollouts read so far stay. */
export function stopReading(): void {
  client?.send({ type: 'stop' });
  stopping = true;
  client?.endUnlessHeardWithin(STOP_WITHIN_MS);
}

/** Searches all texts. An empty search shows all rollouts. */
export function search(searchText: string): void {
  startSearch(searchText, new Set());
}

/** Starts a search from a row on. The rows `hitsBefore` stay listed until there are results; those before `from` stay hits. */
function startSearch(searchText: string, hitsBefore: ReadonlySet<number>, from = 0): void {
  const id = ++searches;
  const words = searchText.trim();
  const searching = words !== '' && client !== null;
  newHits = from > 0 ? [...hitsBefore] : [];
  lastFoundUpdate = -Infinity;
  useRollouts.setState({ searchText, hits: searching ? hitsBefore : null, searched: searching ? 0 : 1 });
  client?.send({ type: 'search', id, words, ...(from > 0 && { from }) });
}

/** Reads from the cache or from the file. Rows that can't be read now are tried again at the next call. */
export async function readRows(rows: readonly number[]): Promise<readonly ReadRollout[]> {
  const cached = cache;
  const missing = rows.filter((row) => !cached.has(row));
  const newlyRead = missing.length > 0 ? ((await client?.read(missing)) ?? []) : [];
  for (const one of newlyRead) if ('record' in one) cached.set(one.row, one);
  const answers = rows.map(
    (row) => cached.get(row) ?? newlyRead.find((one) => one.row === row) ?? { row, problem: READING_STOPPED },
  );
  for (const row of cached.keys()) if (cached.size > MAX_CACHED_ROLLOUTS && !rows.includes(row)) cached.delete(row);
  return answers;
}

/** Whether these rows can be read: they have arrived, or reading is over. */
export function areReadable({ reading }: Pick<RolloutsState, 'reading'>, rows: readonly number[]): boolean {
  return reading === null || rows.every((row) => row < table.rows);
}
