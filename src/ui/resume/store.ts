import { create } from 'zustand';
import type { Facts } from '../../facts/facts.ts';
import type { RunEvent } from '../../protocol.ts';
import { newestBatch, type KeptBatch } from '../history.ts';
import { live, useLive } from '../live-store.ts';
import { pageState } from './pageState.ts';
import { dropSaved, readSaved, writeSaved, type SavedRun } from './storage.ts';

/** A run that another took the place of, and the batch that was newest. */
interface Replaced {
  readonly run: SavedRun;
  readonly batch: KeptBatch | undefined;
}

interface ResumeState {
  readonly offered: SavedRun | null; // of an earlier visit
  readonly savedAt: number | null; // ms since 1970, of the run under way
  readonly refused: string; // why it is not saved; ''
  readonly replaced: Replaced | null; // can be brought back
}

/** Runs that can be gone on with. */
export const useResume = create<ResumeState>()(() => ({ offered: null, savedAt: null, refused: '', replaced: null }));

let latest: SavedRun | null = null; // of the run under way
let waiting: SavedRun | null = null; // to be written once the last one is
let writing = false;

/** Notes a checkpoint of the run under way and saves it. A save that fails is told; training hears nothing of it. */
export function takeCheckpoint(event: Extract<RunEvent, { type: 'checkpoint' }>, facts: Facts | null): void {
  const { checkpoint, refused } = event;
  if (!checkpoint) {
    latest = null;
    useResume.setState({ refused });
    return;
  }
  const page = pageState();
  const { update } = checkpoint.progress;
  latest = { update, name: page.record?.name ?? '', savedAt: Date.now(), checkpoint, facts, page };
  waiting = latest;
  void write();
}

async function write(): Promise<void> {
  if (writing) return;
  writing = true;
  for (let run = waiting; run; run = waiting) {
    waiting = null;
    try {
      await writeSaved(run);
      useResume.setState({ savedAt: run.savedAt, refused: '' });
    } catch (error) {
      useResume.setState({ refused: `not saved: ${error instanceof Error ? error.message : String(error)}` });
    }
  }
  writing = false;
}

/** The newest checkpoint of the run under way, or of the one that just failed. */
export function latestCheckpoint(): SavedRun | null {
  return latest;
}

/** Another run takes over: the one before it can be brought back, if it is known as it was. Call it before its curves are cleared. */
export function noteReplaced(): void {
  const { update } = useLive.getState();
  const known = latest && latest.update === live.series.get('rollout/success')?.points.x.at(-1);
  useResume.setState({
    replaced: latest && known && update > 0 ? { run: latest, batch: newestBatch() } : null,
    ...{ offered: null, savedAt: null, refused: '' },
  });
  latest = null;
}

/** A run goes on from its checkpoint: that is now the newest of it. */
export function noteResumed(run: SavedRun): void {
  latest = run;
  useResume.setState({ ...{ offered: null, replaced: null, refused: '' }, savedAt: run.savedAt });
}

/** Looks for a run of an earlier visit. */
export async function lookForSaved(): Promise<void> {
  const offered = await readSaved();
  if (useLive.getState().session === 'none') useResume.setState({ offered });
}

/** Drops the run of an earlier visit. */
export function forgetSaved(): void {
  useResume.setState({ offered: null });
  void dropSaved();
}

/** Ends the offer to bring a replaced run back. */
export function letGo(): void {
  useResume.setState({ replaced: null });
}
