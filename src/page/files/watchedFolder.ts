import { create } from 'zustand';
import { FolderWatch, type FolderChange } from './folderWatch.ts';
import { useRuns } from '../runs/runStore.ts';
import { openFiles } from './openFiles.ts';
import { extendFiles, useRollouts } from './rolloutFileStore.ts';
import { Refusal, ServedFiles } from './servedFiles.ts';

interface WatchState {
  readonly folder: string | null; // its name; null: none is watched
  readonly paused: boolean;
  readonly problem: string; // '' if there is none
  readonly refused: readonly string[]; // files that are not read, each with the reason
  readonly age: number | null; // seconds since the newest file was written; null: there are no files
  readonly logs: number; // logs of metrics, listed among the runs
}

export const useWatch = create<WatchState>()(() => ({
  ...{ folder: null, paused: false, problem: '', refused: [], age: null, logs: 0 },
}));

const INTERVAL_MS = 1000;
const HIDDEN_INTERVAL_MS = 5000; // while the page is in the background
const SHARE_OF_TIME = 0.1; // at most, that goes into listing a folder of many files
const LOG_INTERVAL_MS = 3000; // a log is read from its beginning each time
const NO_ANSWER = 'The command doesn’t answer. Start it again for the same folder, and this page goes on.';
const RUN_IDS_KEY = 'rollout-playground-watched-runs'; // for a reload of this tab
let runIds = new Map<string, number>(); // the runs of logs, by path
let served = new ServedFiles('');
let watch = newWatch();
let hasOpened = false; // whether the open files are the folder's, as far as this watch knows
let openingId = 0;
let waitingLogs = new Map<string, FolderChange['logs'][number]>();
let logsReadAt = -Infinity;
let logsReadMs = 0; // the last time
let listingMs = 0; // the last time
let wake = (): void => undefined;

function newWatch(): FolderWatch {
  return new FolderWatch((path, from) => served.read(path, from));
}

/** Follows the folder of the command `rollout-playground watch` from now on. The token stays in the address, for a reload. */
export async function watchFolder(): Promise<void> {
  const token = new URL(location.href).searchParams.get('watch') ?? '';
  served = new ServedFiles(token);
  runIds = keptRunIds(token);
  useWatch.setState({ folder: '' });
  openingId = useRollouts.getState().openingId;
  const [opening] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  if (opening?.type !== 'reload') location.assign('#/rollouts'); // a reload stays where it was
  document.addEventListener('visibilitychange', () => wake());
  for (;;) {
    if (!useWatch.getState().paused) await look();
    await new Promise<void>((resolve) => {
      const pause = document.hidden ? HIDDEN_INTERVAL_MS : INTERVAL_MS;
      const timer = setTimeout(resolve, Math.max(pause, listingMs / SHARE_OF_TIME));
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Pauses, or goes on. If other files were opened meanwhile, the folder is opened again in their place. */
export function togglePause(): void {
  const paused = !useWatch.getState().paused;
  if (!paused && isReplaced()) {
    watch = newWatch();
    hasOpened = false;
    useRollouts.setState({ watched: false }); // the next files replace what is open
    openingId = useRollouts.getState().openingId;
  }
  useWatch.setState({ paused });
  wake();
}

/** Whether the person has opened other files, or closed or stopped reading those of the folder. */
function isReplaced(): boolean {
  const { watched, stopped, failed, openingId: opening } = useRollouts.getState();
  return watched ? stopped || failed !== '' : hasOpened || opening !== openingId;
}

async function look(): Promise<void> {
  if (isReplaced()) {
    useWatch.setState({ paused: true });
    return;
  }
  try {
    const before = performance.now();
    const list = await served.list();
    listingMs = performance.now() - before;
    const newest = Math.max(...list.files.map(({ changed }) => changed));
    useWatch.setState({
      folder: list.folder,
      problem: list.missing
        ? 'The folder isn’t there. The page waits for it.'
        : list.leftOut
          ? `Only ${list.files.length} of its files are followed: that is the limit.`
          : '',
      refused: list.files.flatMap(({ path, refused }) => (refused === undefined ? [] : [`${path}: ${refused}`])),
      age: list.files.length > 0 ? Math.max(0, list.now - newest) / 1000 : null,
    });
    for await (const { files, logs, gone } of watch.changes(list)) {
      for (const log of logs) waitingLogs.set(log.path, log);
      if (isReplaced()) return;
      if (files.length > 0 || gone.length > 0) {
        await extendFiles(files, gone);
        hasOpened = true;
      }
      if (useWatch.getState().paused) return;
    }
    await openLogs();
  } catch (error) {
    useWatch.setState({ problem: error instanceof Refusal ? error.message : NO_ANSWER });
  }
}

/** Shows logs of metrics among the runs; those that grew replace their earlier state. */
async function openLogs(): Promise<void> {
  const pause = Math.max(LOG_INTERVAL_MS, logsReadMs / SHARE_OF_TIME);
  if (waitingLogs.size === 0 || performance.now() - logsReadAt < pause) return;
  logsReadAt = performance.now();
  const logs = Array.from(waitingLogs.values(), ({ path, file }) => ({ path, file: new File([file], path) }));
  waitingLogs = new Map();
  await openFiles(logs, runIds);
  logsReadMs = performance.now() - logsReadAt;
  useWatch.setState({ logs: runIds.size });
  try {
    sessionStorage.setItem(RUN_IDS_KEY, JSON.stringify([served.token, [...runIds]]));
  } catch {
    // without storage, a reload lists the runs again
  }
}

/** The runs of a folder's logs that this tab listed before it was reloaded, if they are still listed. */
function keptRunIds(token: string): Map<string, number> {
  try {
    const [kept, ids] = JSON.parse(sessionStorage.getItem(RUN_IDS_KEY) ?? '[]') as [string?, [string, number][]?];
    const listed = new Set(useRuns.getState().runs.map(({ id }) => id));
    return new Map(kept === token ? ids?.filter(([, id]) => listed.has(id)) : []);
  } catch {
    return new Map();
  }
}
