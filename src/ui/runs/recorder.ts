import type { RunEvent } from '../../wire/events.ts';
import { live, useLive } from '../run/liveStore.ts';
import { curveOf, KEPT_METRICS, nameOf, type Curve, type KeptMetric, type RunRecord } from './record.ts';
import { bindRuns, nextId, putRun, toggleShown, useRuns } from './store.ts';

const SAVE_MS = 4000;

/** What a record says of a run before its first update. */
export type RunStart = Omit<RunRecord, 'update' | 'changes' | 'curves'>;

let current: RunStart | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

/** A new run has begun; the one before it is saved as it was. Call it before the old curves are cleared. */
export function beginRecord({ config, backend }: Extract<RunEvent, { type: 'ready' }>): void {
  saveRecord();
  const { runs, deleted } = useRuns.getState();
  const [before] = runs;
  // a run without an update leaves no gap in the numbers
  const free = current && deleted?.id !== current.id && !runs.some(({ id }) => id === current?.id);
  current = {
    id: current && free ? current.id : nextId(),
    name: nameOf(config, before),
    started: new Date().toISOString(),
    backend: backend.kind === 'gpu' ? `WebGPU ${backend.adapter}` : 'CPU',
    config,
    ...(backend.kernels && { kernels: { set: backend.kernels.choice, why: backend.kernels.why } }),
  };
}

/** The record of the run under way. */
export function currentRecord(): RunStart | null {
  return current;
}

/** A run goes on in the record it had; the one before it is saved as it was. Call it before the old curves are cleared. */
export function continueRecord(record: RunStart): void {
  saveRecord();
  current = record;
}

/** The same run's record under a number of its own: it goes on twice. */
export function copyOf(record: RunStart): RunStart {
  return { ...record, id: nextId(), name: `${record.name} (copy)` };
}

/** Saves the run under way before long: its numbers have moved. */
export function noteRecord(): void {
  timer ??= setTimeout(saveRecord, SAVE_MS);
}

/** Saves the run under way now. A run without an update is none. */
export function saveRecord(): void {
  clearTimeout(timer);
  timer = undefined;
  if (!current) return;
  const curves: Partial<Record<KeptMetric, Curve>> = {};
  for (const metric of KEPT_METRICS) {
    const series = live.series.get(metric);
    if (series && series.length > 0) curves[metric] = curveOf(series);
  }
  const update = curves['rollout/success']?.x.at(-1) ?? 0;
  if (update === 0) return;
  const { id } = current;
  const known = useRuns.getState().runs.some((run) => run.id === id);
  if (useRuns.getState().deleted?.id === id) return; // deleted while it runs: it stays deleted
  const kept = putRun({ ...current, update, changes: live.flags, curves });
  current = { ...current, id: kept };
  if (!known) toggleShown(kept);
}

/** Saves when the page is left or hidden. Returns a function that stops. */
export function bindRecorder(): () => void {
  const onHide = () => {
    if (document.hidden) saveRecord();
  };
  addEventListener('pagehide', saveRecord);
  document.addEventListener('visibilitychange', onHide);
  const stop = useLive.subscribe((state, before) => {
    if (before.running && !state.running) saveRecord();
  });
  const stopRuns = bindRuns();
  return () => {
    stopRuns();
    removeEventListener('pagehide', saveRecord);
    document.removeEventListener('visibilitychange', onHide);
    stop();
    clearTimeout(timer);
  };
}
