/** The stages of an update, in their order. If stages aren't fenced, `reporting` is the one that waits for the device. */
export const STAGES = ['sampling', 'scoring', 'crediting', 'updating', 'reporting', 'evaluating', 'other'] as const;
export type Stage = (typeof STAGES)[number];

/** In ms; `start` is on the clock of the worker or process that runs the training. */
export interface StageSpan {
  readonly stage: Stage;
  readonly start: number;
  readonly ms: number;
}

/** How the time of an update was spent, without pauses. The spans follow each other without gaps. */
export interface UpdateTimes {
  readonly update: number;
  readonly ms: number;
  readonly fenced: boolean; // true: each stage waited for the device
  readonly spans: readonly StageSpan[];
  readonly environment: number; // ms of `sampling` in which the environment worked or was waited for
}

/** The work of one kernel since counting began. */
export interface KernelWork {
  readonly name: string;
  readonly source: string; // WGSL; '' if the backend doesn't use it
  readonly calls: number;
  readonly flops: number;
  readonly bytes: number; // smallest possible traffic: every operand is read or written once
  readonly ms: number | null; // null: not timed
}

/** The best performance of a device, measured on it. */
export interface Ceilings {
  readonly gflops: number; // of the fastest matrix product
  readonly gbps: number; // of a copy, reads and writes added
  readonly launchUs: number; // time of an empty dispatch; 0 on the CPU backend
  readonly readbackUs: number; // time of an awaited read-back; 0 on the CPU backend
}

/** Timestamps of the device, timed repeats on the queue, or the CPU's clock around every call. */
export type KernelClock = 'timestamps' | 'queue' | 'CPU';

/** A profile that a backend measured of its own work. */
export interface WorkProfile {
  readonly clock: KernelClock;
  readonly variant: string; // name of the set of kernels
  readonly ceilings: Ceilings;
  readonly kernels: readonly KernelWork[];
  readonly memory: readonly { readonly purpose: string; readonly bytes: number }[];
}

/** The ceiling that limits a kernel. */
export type Limiter = 'compute' | 'memory' | 'launch';

/** The rates of a kernel, compared with the ceilings. */
export interface Roofline {
  readonly gflops: number;
  readonly gbps: number;
  readonly limiter: Limiter;
  readonly share: number; // its rate as a fraction of the rate that the limiter allows
}

/** The shortest time that the ceilings allow for a kernel's calls, FLOPs and bytes, and the ceiling that determines it. */
function shortestTime(
  work: Pick<KernelWork, 'calls' | 'flops' | 'bytes'>,
  top: Ceilings,
): { ms: number; limiter: Limiter } {
  const by: Record<Limiter, number> = {
    compute: work.flops / top.gflops / 1e6,
    memory: work.bytes / top.gbps / 1e6,
    launch: (work.calls * top.launchUs) / 1000,
  };
  const limiter = (Object.keys(by) as Limiter[]).reduce((a, b) => (by[b] > by[a] ? b : a));
  return { ms: by[limiter], limiter };
}

/** The rates and the limiter of a kernel; null if it wasn't timed. */
export function roofline(work: KernelWork, top: Ceilings): Roofline | null {
  if (work.ms === null || work.ms <= 0) return null;
  const { ms, limiter } = shortestTime(work, top);
  return {
    gflops: work.flops / work.ms / 1e6,
    gbps: work.bytes / work.ms / 1e6,
    limiter,
    share: ms / work.ms,
  };
}
