/** Where an update's time goes, in the order in which it goes there. `reporting` waits for the device where stages are not fenced. */
export const STAGES = ['sampling', 'scoring', 'crediting', 'updating', 'reporting', 'evaluating', 'other'] as const;
export type Stage = (typeof STAGES)[number];

/** One stretch of an update; ms, `start` on the clock of the place the run is in. */
export interface StageSpan {
  readonly stage: Stage;
  readonly start: number;
  readonly ms: number;
}

/** An update from its first moment to its last, pauses left out; spans follow each other and leave nothing out. */
export interface UpdateTimes {
  readonly update: number;
  readonly ms: number;
  readonly fenced: boolean; // each stage waited for the device
  readonly spans: readonly StageSpan[];
  readonly environment: number; // ms of `sampling` in which the environment worked or was waited for
}

/** What one kernel did since counting began. */
export interface KernelWork {
  readonly name: string;
  readonly source: string; // WGSL; '' where a backend has none
  readonly calls: number;
  readonly flops: number;
  readonly bytes: number; // least traffic: every operand once
  readonly ms: number | null; // null where it was not timed
}

/** What a device can do at best, measured on it. */
export interface Ceilings {
  readonly gflops: number; // of the best product
  readonly gbps: number; // of a copy, both directions
  readonly launchUs: number; // of an empty dispatch; 0 on the CPU backend
  readonly readbackUs: number; // of an awaited read-back; 0 on the CPU backend
}

/** How kernels were timed: timestamps of the device, the queue's clock around repeats, or the CPU's around every call. */
export type KernelClock = 'timestamps' | 'queue' | 'CPU';

/** A backend's own account of itself. */
export interface WorkProfile {
  readonly clock: KernelClock;
  readonly variant: string; // set of kernels
  readonly ceilings: Ceilings;
  readonly kernels: readonly KernelWork[];
  readonly memory: readonly { readonly purpose: string; readonly bytes: number }[];
}

/** Which ceiling a kernel meets first. */
export type Limiter = 'compute' | 'memory' | 'launch';

/** A kernel beside its ceilings. */
export interface Roofline {
  readonly gflops: number;
  readonly gbps: number;
  readonly limiter: Limiter;
  readonly share: number; // of the rate its ceiling allows
}

/** Least ms that the ceilings allow for so many calls, FLOPs and bytes, and which of them says so. */
function least(work: Pick<KernelWork, 'calls' | 'flops' | 'bytes'>, top: Ceilings): { ms: number; limiter: Limiter } {
  const by: Record<Limiter, number> = {
    compute: work.flops / top.gflops / 1e6,
    memory: work.bytes / top.gbps / 1e6,
    launch: (work.calls * top.launchUs) / 1000,
  };
  const limiter = (Object.keys(by) as Limiter[]).reduce((a, b) => (by[b] > by[a] ? b : a));
  return { ms: by[limiter], limiter };
}

/** Rates and limiter of a kernel that was timed; null for one that was not. */
export function roofline(work: KernelWork, top: Ceilings): Roofline | null {
  if (work.ms === null || work.ms <= 0) return null;
  const { ms, limiter } = least(work, top);
  return {
    gflops: work.flops / work.ms / 1e6,
    gbps: work.bytes / work.ms / 1e6,
    limiter,
    share: ms / work.ms,
  };
}
