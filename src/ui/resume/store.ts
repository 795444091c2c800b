import { create } from 'zustand';
import { CheckpointError } from '../../runs/checkpoint.ts';
import type { Facts } from '../../facts/facts.ts';
import type { RunEvent } from '../../wire/events.ts';
import type { KeptBatch } from '../../domain/batch.ts';
import { newestBatch } from '../run/batches.ts';
import { live, useLive } from '../run/liveStore.ts';
import { notice } from '../shell/notices.ts';
import { currentRecord } from '../runs/recorder.ts';
import { notePage } from './pageState.ts';
import { refusal } from './refusal.ts';
import { readSavedRun, sealed, type SavedRun } from './savedRun.ts';
import { isFree, ownSlot } from './slot.ts';
import { dropSaved, readAll, slotsKept, writeSaved } from './storage.ts';

/** A run of an earlier visit: to go on with, or why that cannot be. */
export interface Offer {
  readonly slot: string;
  readonly run: SavedRun | null; // null: it cannot be read
  readonly problem: string;
}

/** A run that another took the place of, and the batch that was newest. */
interface Replaced {
  readonly run: SavedRun;
  readonly batch: KeptBatch | undefined;
}

interface ResumeState {
  readonly offers: readonly Offer[]; // newest first; none that another tab goes on with
  readonly savedAt: number | null; // ms since 1970, of the run under way
  readonly refused: string; // why it is not saved; ''
  readonly replaced: Replaced | null; // can be brought back
}

/** Runs that can be gone on with. */
export const useResume = create<ResumeState>()(() => ({ offers: [], savedAt: null, refused: '', replaced: null }));

/** A run is saved after its first update and then this often, or as often as that takes a twentieth of the page's time. */
const SAVE_MS = 1000;
const SHARE = 20;
/** Runs that a browser keeps, beside those open tabs are at. */
const MOST_KEPT = 4;

/** The newest state of the run under way. */
interface Latest extends Pick<SavedRun, 'update' | 'name' | 'savedAt' | 'checkpoint' | 'facts'> {
  readonly page: ReturnType<typeof notePage>;
}
let latest: Latest | null = null;
let waiting: Latest | null = null; // to be written
let writing = false;
let pace = { began: -Infinity, cost: 0 }; // of the last save, ms
let timer: ReturnType<typeof setTimeout> | undefined;
let pruned = false;

/** Notes a checkpoint of the run under way and saves it. A save that fails is told; training hears nothing of it. */
export function takeCheckpoint(event: Extract<RunEvent, { type: 'checkpoint' }>, facts: Facts | null): void {
  const { checkpoint, refused } = event;
  const { update } = checkpoint.progress;
  const name = currentRecord()?.name ?? '';
  latest = { update, name, savedAt: Date.now(), checkpoint, facts, page: notePage(update) };
  if (refused) useResume.setState({ refused });
  else {
    waiting = latest;
    schedule();
  }
}

/** Saves what waits now, as the page may be left. */
export function saveNow(): void {
  pace = { began: -Infinity, cost: 0 };
  schedule();
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
  const run = whole(noted);
  try {
    const writes = writeSaved(ownSlot(), run);
    pace = { began, cost: performance.now() - began };
    await writes;
    useResume.setState({ savedAt: run.savedAt, refused: '' });
    if (!pruned) void prune();
  } catch (error) {
    useResume.setState({ refused: `not saved: ${await refusal(error, run)}` });
  }
  writing = false;
  schedule();
}

function whole({ page, ...rest }: Latest): SavedRun {
  return sealed({ ...rest, page: page() });
}

/** Forgets the oldest of too many runs; never one that an open tab is at. */
async function prune(): Promise<void> {
  pruned = true;
  try {
    const others = (await slotsKept()).filter((slot) => slot !== ownSlot());
    for (const slot of others.slice(0, Math.max(0, others.length - MOST_KEPT))) {
      if (await isFree(slot)) await dropSaved(slot);
    }
  } catch {
    // what is in the way of this is told when a run is saved
  }
}

/** The newest checkpoint of the run under way, or of the one that just failed. */
export function latestCheckpoint(): SavedRun | null {
  return latest && whole(latest);
}

/** The update it is of; null where there is none. */
export function latestUpdate(): number | null {
  return latest?.update ?? null;
}

/** Another run takes over: the one before it can be brought back, if it is known as it was. Call it before its curves are cleared. */
export function noteReplaced(): void {
  const { update } = useLive.getState();
  const known = latest && latest.update === live.series.get('rollout/success')?.points.x.at(-1);
  useResume.setState({
    replaced: latest && known && update > 0 ? { run: whole(latest), batch: newestBatch() } : null,
    ...{ offers: [], savedAt: null, refused: '' },
  });
  [latest, waiting] = [null, null];
}

/** A run goes on from its checkpoint: that is now the newest of it. */
export function noteResumed(run: SavedRun): void {
  latest = { ...run, page: () => run.page };
  waiting = null;
  useResume.setState({ ...{ offers: [], replaced: null, refused: '' }, savedAt: run.savedAt });
}

/** Looks for runs of earlier visits; that they cannot be looked for is told. */
export async function lookForSaved(): Promise<void> {
  const tell = (why: string) =>
    notice(`Runs saved in this browser cannot be looked for: ${why}. Training works; a reload may lose it.`);
  try {
    const kept = await readAll(tell);
    const free = await Promise.all(kept.map(({ slot }) => isFree(slot)));
    const offers = kept.filter((_, i) => free[i]).map(({ slot, value }) => offerOf(slot, value));
    offers.sort((a, b) => (b.run?.savedAt ?? 0) - (a.run?.savedAt ?? 0));
    if (useLive.getState().session === 'none') useResume.setState({ offers });
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error));
  }
}

function offerOf(slot: string, value: unknown): Offer {
  try {
    return { slot, run: readSavedRun(value), problem: '' };
  } catch (error) {
    // whatever a damaged save makes of its reading, the others are to be offered
    const why = error instanceof Error ? error.message : String(error);
    return { slot, run: null, problem: error instanceof CheckpointError ? why : `It does not read: ${why}` };
  }
}

/** The worker cannot go on with the run of this offer. */
export function noteUnfit(slot: string, problem: string): void {
  useResume.setState(({ offers }) => ({
    offers: [...offers.filter((offer) => offer.slot !== slot), { slot, run: null, problem }],
  }));
}

/** Drops a run of an earlier visit. */
export function forgetSaved(slot: string): void {
  useResume.setState(({ offers }) => ({ offers: offers.filter((offer) => offer.slot !== slot) }));
  dropSaved(slot).catch((error: unknown) => {
    notice(`A saved run could not be forgotten: ${error instanceof Error ? error.message : String(error)}.`);
  });
}

/** Ends the offer to bring a replaced run back. */
export function letGo(): void {
  useResume.setState({ replaced: null });
}
