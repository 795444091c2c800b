import { create } from 'zustand';
import type { Stage, UpdateTimes, WorkProfile } from '../../domain/profile.ts';

const MAX_UPDATES = 240;
/** Number of updates for a mean: enough to even out garbage collections, few enough to follow a change. */
const MEAN_UPDATES = 24;
const REFRESH_MS = 250; // there can be tens of updates a second

export interface MeasuredProfile {
  readonly profile: WorkProfile;
  readonly updates: number; // number of updates in which its kernels were counted
}

interface ProfileState {
  readonly version: number; // increases when the kept times change
  readonly measured: MeasuredProfile | null;
  readonly isMeasuring: boolean;
  readonly problem: string | null;
}

export const useProfile = create<ProfileState>()(() => ({
  version: 0,
  measured: null,
  isMeasuring: false,
  problem: null,
}));

let recent: UpdateTimes[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;

/** The times of the newest updates, oldest first. */
export function recentTimes(): readonly UpdateTimes[] {
  return recent;
}

export function recordTimes(times: UpdateTimes): void {
  recent = [...recent.slice(1 - MAX_UPDATES), times];
  timer ??= setTimeout(() => {
    timer = undefined;
    useProfile.setState((s) => ({ version: s.version + 1 }));
  }, REFRESH_MS);
}

/** Forgets all times and measurements, because a new run begins. */
export function clearTimes(): void {
  recent = [];
  useProfile.setState((s) => ({ version: s.version + 1, measured: null, problem: null }));
}

/** Mean ms of each stage over the newest updates, and of whole updates. */
export interface MeanTimes {
  readonly stages: ReadonlyMap<Stage, number>;
  readonly ms: number;
  readonly updates: number;
  readonly fenced: boolean; // true: in all these updates, each stage waited for the device
  readonly environmentMs: number; // mean of the part of `sampling` that went to the environment
}

/** The mean over the newest updates; null before the first update has ended. */
export function meanTimes(times: readonly UpdateTimes[]): MeanTimes | null {
  const recent = times.slice(-MEAN_UPDATES);
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
    environmentMs: recent.reduce((sum, { environment }) => sum + environment, 0) / recent.length,
  };
}

export const updatesInWords = ({ updates }: Pick<MeanTimes, 'updates'>): string =>
  updates === 1 ? 'the last one' : `mean of the last ${updates}`;
