import { type AdapterReport, REPORT_KIND, REPORT_VERSION } from '../../domain/adapterReport.ts';
import { roofline, type UpdateTimes } from '../../domain/profile.ts';
import type { BackendInfo } from '../../domain/backendInfo.ts';
import type { Metrics } from '../../domain/metrics.ts';
import type { MeanTimes, Measured } from './profileStore.ts';

/** One complete event of the Trace Event Format; times in µs. */
interface TraceEvent {
  readonly name: string;
  readonly ph: 'X' | 'M';
  readonly ts: number;
  readonly dur?: number;
  readonly pid: 1;
  readonly tid: number;
  readonly args?: Readonly<Record<string, unknown>>;
}

const UPDATES = 1; // threads of the trace
const STAGES = 2;
const KERNELS = 3;

/** A name for a thread of the trace. */
const named = (tid: number, name: string): TraceEvent => ({
  ...{ name: 'thread_name', ph: 'M', ts: 0, pid: 1, tid },
  args: { name },
});

/**
 * Updates and their stages as chrome://tracing and Perfetto read them; where kernels were measured also the share of each in an
 * update, laid end to end from the last update's beginning, as they are timed apart and not where they ran.
 */
export function traceOf(times: readonly UpdateTimes[], backend: string, measured: Measured | null): string {
  const events = times.flatMap(({ update, ms, fenced, spans }): TraceEvent[] => {
    const begin = spans[0]?.start ?? 0;
    const end = spans.at(-1);
    return [
      {
        ...{ name: `update ${update}`, ph: 'X', pid: 1, tid: UPDATES, ts: 1000 * begin },
        dur: 1000 * (end ? end.start + end.ms - begin : 0), // pauses inside it too
        args: { ms, fenced, backend },
      },
      ...spans.map(({ stage, start, ms: took }): TraceEvent => ({
        ...{ name: stage, ph: 'X', pid: 1, tid: STAGES, ts: 1000 * start, dur: 1000 * took },
        args: { update },
      })),
    ];
  });
  const traceEvents = [named(UPDATES, 'updates'), named(STAGES, `stages, ${backend}`), ...events];
  if (measured) traceEvents.push(...kernelEvents(measured, times.at(-1)?.spans[0]?.start ?? 0));
  return JSON.stringify({ displayTimeUnit: 'ms', traceEvents });
}

/** @param begin ms */
function kernelEvents({ profile, updates }: Measured, begin: number): TraceEvent[] {
  let ts = 1000 * begin;
  const events = profile.kernels.map((kernel): TraceEvent => {
    const { name, calls, flops, bytes, ms } = kernel;
    const dur = (1000 * (ms ?? 0)) / updates;
    const each = { calls: calls / updates, flops: flops / updates, bytes: bytes / updates, timed: ms !== null };
    const event: TraceEvent = {
      ...{ name, ph: 'X', pid: 1, tid: KERNELS, ts, dur },
      args: { ...each, ...roofline(kernel, profile.ceilings) },
    };
    ts += dur;
    return event;
  });
  return [named(KERNELS, `kernels, mean of ${updates} updates, end to end`), ...events];
}

/** What this page knows of the adapter, in the form of src/domain/adapterReport.ts: the run, and what was measured of kernels where it was. */
export function reportOf(
  backend: BackendInfo,
  model: { readonly parameters: number; readonly memoryBytes: number },
  metrics: Metrics,
  mean: MeanTimes | null,
  measured: Measured | null,
): string {
  const perUpdate = Object.fromEntries(Object.entries(metrics).filter(([name]) => name.startsWith('engine/')));
  const stagesMs = mean && {
    ...Object.fromEntries(mean.stages),
    ...{ whole: mean.ms, updates: mean.updates, fenced: mean.fenced },
  };
  const parts = [
    { name: 'run', numbers: { backend, model, perUpdate, stagesMs } },
    ...(measured ? partsOf(measured) : []),
  ];
  const report: AdapterReport = {
    ...{ kind: REPORT_KIND, version: REPORT_VERSION, date: new Date().toISOString(), writtenBy: 'page' },
    ...{
      platform: navigator.userAgent,
      cores: navigator.hardwareConcurrency,
      adapter: backend.adapter,
      software: backend.kind === 'gpu' ? backend.software : null, // without a GPU nothing is known of one
    },
    parts: parts.map((part) => ({ ...part, outcome: 'passed', seconds: null, why: '' })),
  };
  return JSON.stringify(report, null, 1);
}

function partsOf({ profile, updates, tuned }: Measured) {
  const { variant, clock, ceilings, memory } = profile;
  const kernelsPerUpdate = profile.kernels.map((kernel) => {
    const { name, calls, flops, bytes, ms } = kernel;
    const each = (sum: number) => sum / updates;
    return {
      ...{ name, calls: each(calls), flops: each(flops), bytes: each(bytes), ms: ms === null ? null : each(ms) },
      ...roofline(kernel, ceilings),
    };
  });
  const kernels = { name: 'kernels', numbers: { variant, clock, ceilings, kernelsPerUpdate, memory } };
  return [kernels, ...(tuned ? [{ name: 'tuner', numbers: tuned }] : [])];
}
