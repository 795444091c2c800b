import type { Run } from '../../runs/run.ts';
import type { RunEvent } from '../../wire/commands.ts';
import { runProgressText } from '../../runs/progressText.ts';
import { newestBatch } from '../view/batches.ts';
import { runAt } from './liveRun.ts';
import { useLive } from '../view/liveStore.ts';
import { duration } from '../words/numberText.ts';
import { notice } from '../browser/notices.ts';
import { deleteSave, summarizeSaves, writeSave } from './database.ts';
import { droppableRuns, pinnedSlots, nextOrder } from './keepRule.ts';
import { isFree, leaveSaveSlot, ownSaveSlot } from './saveSlot.ts';
import { useRuns } from './runStore.ts';
import type { SavedRun } from './saveRecord.ts';
import { checkpointBytes } from '../../runs/checkpoint.ts';

/** Shortest time between two saves of the run under way. */
const SAVE_MS = 1000;
/** Two saves are at least this many times as far apart as one save takes, so saving uses at most a twentieth of the page's time. */
const MIN_COST_RATIO = 20;
/** Interval at which `saveAndWait` checks whether the save is done. */
const POLL_MS = 20;
/** A saved run is deleted when this many later ones have trained at least as long; never while a tab has it open. */
export const MAX_SAVED_RUNS = 4;
/** A run that trained for this many seconds stays saved when another one takes its place. */
const KEPT_SECONDS = 30;
/** The page says so when it deletes a run that trained for this many seconds. */
const ANNOUNCED_SECONDS = 60;

let latestSave: SavedRun | null = null; // the newest state of the run under way
let waitingSave: SavedRun | null = null; // the state to save next
let writing = false;
let lastSave = { began: -Infinity, cost: 0 }; // ms
let timer: ReturnType<typeof setTimeout> | undefined;
let runSlot: string | null = null; // where the run under way is saved
let prunedSlot: string | null = null; // the run under way when old runs were deleted last

/** If saving fails, `saveError` in the store has the reason; training goes on. */
export function takeCheckpoint(event: Extract<RunEvent, { type: 'checkpoint' }>): void {
  const { checkpoint, refused } = event;
  const run = runAt(checkpoint);
  latestSave = run && { run, order: nextOrder(), savedAt: Date.now() };
  if (refused) useRuns.setState({ saveError: refused });
  else {
    waitingSave = latestSave;
    schedule();
  }
}

/** Saves the waiting checkpoint at once, because the page may be about to close. */
export function saveNow(): void {
  lastSave = { began: -Infinity, cost: 0 };
  schedule();
}

/** Resolves with the reason why the run is not saved; '' if it is, or if there is no run. */
export async function saveAndWait(): Promise<string> {
  saveNow();
  while (writing) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  return useRuns.getState().saveError;
}

function schedule(): void {
  if (writing || !waitingSave) return;
  clearTimeout(timer);
  const delay = lastSave.began + Math.max(SAVE_MS, MIN_COST_RATIO * lastSave.cost) - performance.now();
  if (delay <= 0) void write();
  else timer = setTimeout(() => void write(), delay);
}

async function write(): Promise<void> {
  const saved = waitingSave;
  if (writing || !saved) return;
  [writing, waitingSave] = [true, null];
  const began = performance.now();
  try {
    const slot = (runSlot ??= ownSaveSlot());
    const writes = writeSave(slot, saved);
    lastSave = { began, cost: performance.now() - began };
    await writes;
    useRuns.setState({ savedAt: saved.savedAt, savedUpdate: saved.run.update, saveError: '' });
    if (prunedSlot !== slot) void prune(slot);
  } catch (error) {
    useRuns.setState({ saveError: `not saved: ${await saveRefusal(error, saved.run)}` });
  }
  writing = false;
  schedule();
}

/**
 * Deletes saved runs of which `MAX_SAVED_RUNS` later ones trained at least as long; not those that a person chose to
 * keep, nor the run of an open tab.
 */
async function prune(slot: string): Promise<void> {
  prunedSlot = slot;
  try {
    const pinned = pinnedSlots();
    for (const save of droppableRuns(await summarizeSaves(), MAX_SAVED_RUNS)) {
      if (save.slot === slot || pinned.has(save.slot) || !(await isFree(save.slot))) continue;
      await deleteSave(save.slot);
      if (save.seconds >= ANNOUNCED_SECONDS && Number.isFinite(save.seconds))
        notice(
          `Deleted the saved run “${save.name}”, which trained ${duration(save.seconds)}: ${MAX_SAVED_RUNS} later runs trained at least as long. Press Keep under Runs to keep others.`,
        );
    }
  } catch {
    // ignored: saving a run fails for the same reason and reports it
  }
}

/** Returns the slot in which the run under way stays saved; null if its place is used again. */
function leaveRun(): string | null {
  const slot = runSlot;
  const run = latestSave?.run;
  const isKept = slot !== null && (run?.seconds ?? 0) >= KEPT_SECONDS;
  if (isKept && waitingSave) void writeSave(slot, waitingSave).catch(() => undefined); // the save before it stays
  if (isKept && slot === ownSaveSlot()) leaveSaveSlot();
  runSlot = ownSaveSlot();
  return isKept ? slot : null;
}

/** The newest checkpoint of the run under way, or of the one that just failed. */
export function latestCheckpoint(): Run | null {
  return latestSave?.run ?? null;
}

/** Drops the newest state of the run under way, which then isn't saved and cannot be recovered. */
export function dropLatestSave(): void {
  [latestSave, waitingSave] = [null, null];
  clearTimeout(timer);
}

/** Text for the progress of the newest checkpoint; null if there is none. */
export function latestSaveText(): string | null {
  return latestSave && runProgressText(latestSave.run);
}

/** Runs of this visit whose weights stay in memory, so that their policies can be asked. */
const MAX_LEFT_RUNS = 6;

/** Offers to bring the current run back if its last state is known. Call it before its curves are cleared. */
export function noteReplaced(): void {
  const { update } = useLive.getState();
  const last = useLive.getState().series.get('rollout/success')?.points.x.at(-1);
  const isCurrent = latestSave && (update > 0 ? latestSave.run.update === last : latestSave.run.update === 0);
  const batch = newestBatch();
  const left = latestSave
    ? [latestSave.run, ...useRuns.getState().left].slice(0, MAX_LEFT_RUNS)
    : useRuns.getState().left;
  useRuns.setState({
    left,
    replaced: latestSave && isCurrent ? { ...latestSave.run, batches: batch ? [batch] : [] } : null,
    replacedSlot: leaveRun(),
    ...{ offers: [], savedAt: null, savedUpdate: null, saveError: '' },
  });
  [latestSave, waitingSave] = [null, null];
}

/** Notes that a run was resumed, so that its checkpoint is now the newest. */
export function noteResumed(run: Run): void {
  const { offers } = useRuns.getState();
  const { order, savedAt } = offers.find((offer) => offer.run === run) ?? { order: nextOrder(), savedAt: Date.now() };
  const before = latestSave?.run;
  if (before && before.id === run.id && before.started === run.started) runSlot = ownSaveSlot();
  else leaveRun();
  latestSave = { run, order, savedAt };
  waitingSave = null;
  useRuns.setState({
    ...{ offers: [], replaced: null, replacedSlot: null, saveError: '' },
    ...{ savedAt, savedUpdate: run.update },
  });
}

const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

async function saveRefusal(error: unknown, { checkpoint }: Run): Promise<string> {
  const why = (error instanceof Error ? error.message : String(error)) || 'the browser gave no reason';
  if (!(error instanceof DOMException && error.name === 'QuotaExceededError')) return why;
  const storageFull = `this browser’s storage is full. The run needs ${mib(checkpoint ? checkpointBytes(checkpoint) : 0)}`;
  return `${storageFull}${await storageUse()}. Delete saved runs at the top of the lab or under Runs, or free disk space`;
}

/** Text for how much of the page's storage is used; '' if the browser doesn't say. */
async function storageUse(): Promise<string> {
  try {
    const { usage, quota } = await navigator.storage.estimate();
    return usage === undefined || quota === undefined ? '' : `; ${mib(usage)} of ${mib(quota)} are used`;
  } catch {
    return ''; // absent on plain http
  }
}
