import { create } from 'zustand';
import type { KernelReport } from '../../config/kernelChoice.ts';
import type { Stage, UpdateTimes, WorkProfile } from '../../domain/profile.ts';

const MOST_UPDATES = 240;
/** Updates a mean is of: enough to level what single ones lose to a garbage collector, few enough to follow a change. */
const RECENT = 24;
const SHOW_MS = 250; // updates come in tens a second

/** A profile and how many updates its counts are of. */
export interface Measured {
  readonly profile: WorkProfile;
  readonly updates: number;
  readonly tuned?: KernelReport; // see Answer
}

interface ProfileState {
  readonly version: number; // of `times`
  readonly measured: Measured | null;
  readonly busy: boolean; // a measurement is under way
  readonly problem: string | null;
}

export const useProfile = create<ProfileState>()(() => ({ version: 0, measured: null, busy: false, problem: null }));

let recent: UpdateTimes[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

/** Where the time of the newest updates went, oldest first. */
export function keptTimes(): readonly UpdateTimes[] {
  return recent;
}

/** Keeps an update's times. */
export function noteTimes(times: UpdateTimes): void {
  recent = [...recent.slice(1 - MOST_UPDATES), times];
  timer ??= setTimeout(() => {
    timer = undefined;
    useProfile.setState((s) => ({ version: s.version + 1 }));
  }, SHOW_MS);
}

/** A new run: nothing is known of it. */
export function clearTimes(): void {
  recent = [];
  useProfile.setState((s) => ({ version: s.version + 1, measured: null, problem: null }));
}

/** Mean ms of each stage over the newest updates, and of whole updates. */
export interface MeanTimes {
  readonly stages: ReadonlyMap<Stage, number>;
  readonly ms: number;
  readonly updates: number;
  readonly fenced: boolean; // in all of them each stage waited for the device
  readonly environment: number; // mean ms of `sampling` that went to the environment
}

/** Null before an update has ended. */
export function meanTimes(times: readonly UpdateTimes[]): MeanTimes | null {
  const recent = times.slice(-RECENT);
  if (recent.length === 0) return null;
  const stages = new Map<Stage, number>();
  for (const { spans } of recent) {
    for (const { stage, ms } of spans) stages.set(stage, (stages.get(stage) ?? 0) + ms / recent.length);
  }
  return {
    stages,
    ms: recent.reduce((sum, { ms }) => sum + ms, 0) / recent.length,
    updates: recent.length,
    fenced: recent.every(({ fenced }) => fenced),
    environment: recent.reduce((sum, { environment }) => sum + environment, 0) / recent.length,
  };
}

/** Which updates a mean is of. */
export const spanInWords = ({ updates }: Pick<MeanTimes, 'updates'>): string =>
  updates === 1 ? 'the last one' : `mean of the last ${updates}`;
