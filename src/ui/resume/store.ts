import { create } from 'zustand';
import { CheckpointError } from '../../runs/checkpoint.ts';
import type { Facts } from '../../facts/facts.ts';
import type { Run } from '../../runs/run.ts';
import type { RunEvent } from '../../wire/events.ts';
import type { KeptBatch } from '../../domain/batch.ts';
import { newestBatch } from '../run/batches.ts';
import { runAt } from '../run/liveRun.ts';
import { live, useLive } from '../run/liveStore.ts';
import { notice } from '../shell/notices.ts';
import { refusal } from './refusal.ts';
import { isFree, ownSlot } from './slot.ts';
import { dropSaved, readAll, slotsKept, writeSaved } from './storage.ts';
import { readStored, type Saved } from './stored.ts';

/** A run of an earlier visit: to go on with, or why that cannot be. */
export interface Offer {
  readonly slot: string;
  readonly run: Run | null; // null: it cannot be read
  readonly savedAt: number; // ms since 1970
  readonly problem: string;
}

/** A run that another took the place of, and the batch that was newest. */
interface Replaced {
  readonly run: Run;
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

let latest: Saved | null = null; // the newest state of the run under way
let waiting: Saved | null = null; // to be written
let writing = false;
let pace = { began: -Infinity, cost: 0 }; // of the last save, ms
let timer: ReturnType<typeof setTimeout> | undefined;
let pruned = false;

/** Notes a checkpoint of the run under way and saves it. A save that fails is told; training hears nothing of it. */
export function takeCheckpoint(event: Extract<RunEvent, { type: 'checkpoint' }>, facts: Facts | null): void {
  const { checkpoint, refused } = event;
  const run = runAt(checkpoint, facts);
  latest = run && { run, savedAt: Date.now() };
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
  try {
    const writes = writeSaved(ownSlot(), noted);
    pace = { began, cost: performance.now() - began };
    await writes;
    useResume.setState({ savedAt: noted.savedAt, refused: '' });
    if (!pruned) void prune();
  } catch (error) {
    useResume.setState({ refused: `not saved: ${await refusal(error, noted.run)}` });
  }
  writing = false;
  schedule();
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
export function latestCheckpoint(): Run | null {
  return latest?.run ?? null;
}

/** The update it is of; null where there is none. */
export function latestUpdate(): number | null {
  return latest?.run.update ?? null;
}

/** Another run takes over: the one before it can be brought back, if it is known as it was. Call it before its curves are cleared. */
export function noteReplaced(): void {
  const { update } = useLive.getState();
  const known = latest && latest.run.update === live.series.get('rollout/success')?.points.x.at(-1);
  useResume.setState({
    replaced: latest && known && update > 0 ? { run: latest.run, batch: newestBatch() } : null,
    ...{ offers: [], savedAt: null, refused: '' },
  });
  [latest, waiting] = [null, null];
}

/** A run goes on from its checkpoint: that is now the newest of it. */
export function noteResumed(run: Run): void {
  const { offers } = useResume.getState();
  const savedAt = offers.find((offer) => offer.run === run)?.savedAt ?? Date.now();
  latest = { run, savedAt };
  waiting = null;
  useResume.setState({ ...{ offers: [], replaced: null, refused: '' }, savedAt });
}

/** Looks for runs of earlier visits; that they cannot be looked for is told. */
export async function lookForSaved(): Promise<void> {
  const tell = (why: string) =>
    notice(`Runs saved in this browser cannot be looked for: ${why}. Training works; a reload may lose it.`);
  try {
    const kept = await readAll(tell);
    const free = await Promise.all(kept.map(({ slot }) => isFree(slot)));
    const offers = kept.filter((_, i) => free[i]).map(({ slot, value }) => offerOf(slot, value));
    offers.sort((a, b) => b.savedAt - a.savedAt);
    if (useLive.getState().session === 'none') useResume.setState({ offers });
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error));
  }
}

function offerOf(slot: string, value: unknown): Offer {
  try {
    return { slot, ...readStored(value), problem: '' };
  } catch (error) {
    // whatever a damaged save makes of its reading, the others are to be offered
    const why = error instanceof Error ? error.message : String(error);
    return {
      slot,
      run: null,
      savedAt: 0,
      problem: error instanceof CheckpointError ? why : `It does not read: ${why}`,
    };
  }
}

/** The worker cannot go on with the run of this offer. */
export function noteUnfit(slot: string, problem: string): void {
  useResume.setState(({ offers }) => ({
    offers: [...offers.filter((offer) => offer.slot !== slot), { slot, run: null, savedAt: 0, problem }],
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
