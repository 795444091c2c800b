import type { Run } from '../../runs/run.ts';
import type { RunEvent } from '../../wire/events.ts';
import { runProgressText } from '../../runs/progressText.ts';
import { newestBatch } from '../run/batches.ts';
import { runAt } from '../run/liveRun.ts';
import { live, useLive } from '../run/liveStore.ts';
import { dropSaved, usedSaveSlots, writeSaved } from './database.ts';
import { nextOrder } from './saveOrder.ts';
import { isFree, ownSaveSlot } from './saveSlot.ts';
import { useRuns } from './runStore.ts';
import type { Saved } from './saveRecord.ts';
import { checkpointBytes } from '../../runs/checkpoint.ts';

/** A run is saved after its first update and then this often, or as often as that takes a twentieth of the page's time. */
const SAVE_MS = 1000;
const SHARE = 20;
/** How often it is looked whether a save is done. */
const LOOK_MS = 20;
/** Runs that a browser keeps, beside those open tabs are at. */
const MOST_KEPT = 4;

let latest: Saved | null = null; // the newest state of the run under way
let waiting: Saved | null = null; // to be written
let writing = false;
let pace = { began: -Infinity, cost: 0 }; // of the last save, ms
let timer: ReturnType<typeof setTimeout> | undefined;
let pruned = false;

/** Notes a checkpoint of the run under way and saves it. A save that fails is told; training hears nothing of it. */
export function takeCheckpoint(event: Extract<RunEvent, { type: 'checkpoint' }>): void {
  const { checkpoint, refused } = event;
  const run = runAt(checkpoint);
  latest = run && { run, order: nextOrder(), savedAt: Date.now() };
  if (refused) useRuns.setState({ refused });
  else {
    waiting = latest;
    schedule();
  }
}

/** Saves the waiting checkpoint at once, because the page may be about to close. */
export function saveNow(): void {
  pace = { began: -Infinity, cost: 0 };
  schedule();
}

/** Saves like `saveNow` and waits until that is done. Resolves with the reason why the run is not saved, or '' if it is or there is no run. */
export async function savedNow(): Promise<string> {
  saveNow();
  while (writing) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  return useRuns.getState().refused;
}

function schedule(): void {
  if (writing || !waiting) return;
  clearTimeout(timer);
  const due = pace.began + Math.max(SAVE_MS, SHARE * pace.cost) - performance.now();
  if (due <= 0) void write();
  else timer = setTimeout(() => void write(), due);
}

async function write(): Promise<void> {
  const noted = waiting;
  if (writing || !noted) return;
  [writing, waiting] = [true, null];
  const began = performance.now();
  try {
    const writes = writeSaved(ownSaveSlot(), noted);
    pace = { began, cost: performance.now() - began };
    await writes;
    useRuns.setState({ savedAt: noted.savedAt, savedUpdate: noted.run.update, refused: '' });
    if (!pruned) void prune();
  } catch (error) {
    useRuns.setState({ refused: `not saved: ${await saveRefusal(error, noted.run)}` });
  }
  writing = false;
  schedule();
}

/** Forgets the oldest of too many runs; never one that an open tab is at. */
async function prune(): Promise<void> {
  pruned = true;
  try {
    const others = (await usedSaveSlots()).filter((slot) => slot !== ownSaveSlot());
    for (const slot of others.slice(0, Math.max(0, others.length - MOST_KEPT))) {
      if (await isFree(slot)) await dropSaved(slot);
    }
  } catch {
    // what is in the way of this is told when a run is saved
  }
}

/** The newest checkpoint of the run under way, or of the one that just failed. */
export function latestCheckpoint(): Run | null {
  return latest?.run ?? null;
}

/** Forgets the run under way: nothing of it is saved any more, and it cannot be recovered. */
export function forgetLatest(): void {
  [latest, waiting] = [null, null];
  clearTimeout(timer);
}

/** Where that stands, in words; null if there is none. */
export function latestSaveText(): string | null {
  return latest && runProgressText(latest.run);
}

/** Another run takes over: the one before it can be brought back, if it is known as it was. Call it before its curves are cleared. */
export function noteReplaced(): void {
  const { update } = useLive.getState();
  const last = live.series.get('rollout/success')?.points.x.at(-1);
  const known = latest && (update > 0 ? latest.run.update === last : latest.run.update === 0);
  const batch = newestBatch();
  useRuns.setState({
    replaced: latest && known ? { ...latest.run, batches: batch ? [batch] : [] } : null,
    ...{ offers: [], savedAt: null, savedUpdate: null, refused: '' },
  });
  [latest, waiting] = [null, null];
}

/** A run goes on from its checkpoint: that is now the newest of it. */
export function noteResumed(run: Run): void {
  const { offers } = useRuns.getState();
  const { order, savedAt } = offers.find((offer) => offer.run === run) ?? { order: nextOrder(), savedAt: Date.now() };
  latest = { run, order, savedAt };
  waiting = null;
  useRuns.setState({ ...{ offers: [], replaced: null, refused: '' }, savedAt, savedUpdate: run.update });
}

const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

/** Why a browser would not save a run, in words, and what can be done about it. */
async function saveRefusal(error: unknown, { checkpoint }: Run): Promise<string> {
  const why = (error instanceof Error ? error.message : String(error)) || 'the browser gave no reason';
  if (!(error instanceof DOMException && error.name === 'QuotaExceededError')) return why;
  const needs = `this browser’s storage is full. The run needs ${mib(checkpoint ? checkpointBytes(checkpoint) : 0)}`;
  return `${needs}${await room()}. Delete saved runs at the top of the lab or under Runs, or free disk space`;
}

/** How much this page may keep; '' where the browser does not say. */
async function room(): Promise<string> {
  try {
    const { usage, quota } = await navigator.storage.estimate();
    return usage === undefined || quota === undefined ? '' : `; ${mib(usage)} of ${mib(quota)} are used`;
  } catch {
    return ''; // absent on plain http
  }
}
