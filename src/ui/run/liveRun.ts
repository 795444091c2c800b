import type { Checkpoint } from '../../runs/checkpoint.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { serverNamed } from '../../domain/serverAddress.ts';
import { bareRun, type Run } from '../../runs/run.ts';
import { type Opened, RunLog } from '../../runs/runLog.ts';
import type { TrainingEvent } from '../../domain/trainingEvent.ts';
import type { RunEvent } from '../../wire/events.ts';
import { nameOf } from '../runs/keptRun.ts';
import { nextId, putRun, toggleShown, useRuns } from '../runs/runStore.ts';
import { live, showCurves, STILL, useLive } from './liveStore.ts';

const SAVE_MS = 4000;

let log: RunLog | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

/** The current run, or the one that just failed; null before the first. Its curves keep growing. */
export function currentRun(): Run | null {
  return log?.run ?? null;
}

/**
 * Begins the account of a run that is ready: a fresh run, or a resumed one. `copy`: another tab continues it too, so this one gets a new
 * number and name. The previous run is added to the list, and the page starts over.
 */
export function beginRun(
  event: Extract<RunEvent, { type: 'ready' }>,
  resumed: Run | null,
  copy: boolean,
  brought: Pick<Run, 'facts' | 'environment'>,
): void {
  listRun();
  log = new RunLog({ ...(resumed ? inItsPlace(resumed, copy) : freshRun(event, brought.environment)), ...brought });
  log.add(event);
  const { config, series, changes } = log.run;
  showCurves(log.series);
  live.metrics = Object.fromEntries(Array.from(series, ([name, { latest = 0 }]) => [name, latest]));
  live.config = config;
  live.flags = changes;
  useLive.setState((s) => ({
    ...STILL,
    update: event.update,
    running: s.running,
    stepping: s.stepping,
    session: 'ready',
    run: s.run + 1,
    server: serverNamed(brought.environment),
    backend: event.backend,
    parameters: event.parameters,
    memoryBytes: event.memoryBytes,
    problem: null,
    health: null,
    preferences: null,
    metricsVersion: s.metricsVersion + 1,
    flagsVersion: s.flagsVersion + 1,
  }));
}

function freshRun({ config }: Opened, file: EnvironmentFile | null): Run {
  const { runs, deleted } = useRuns.getState();
  const [before] = runs;
  const last = log?.run;
  // a run without an update gives its number to the next
  const free = last && deleted?.id !== last.id && !runs.some(({ id }) => id === last.id);
  const id = free ? last.id : nextId();
  return bareRun({ id, name: nameOf(config, before, file), started: new Date().toISOString(), begun: config });
}

function inItsPlace(resumed: Run, copy: boolean): Run {
  const run = { ...resumed, batches: [] }; // the worker has them
  if (copy) return { ...run, id: nextId(), name: `${run.name} (copy)` }; // it continues in two tabs
  return run.id > 0 ? run : { ...run, id: nextId() };
}

/** Adds an event to the run. The list of runs is updated a little later. */
export function growRun(event: TrainingEvent): void {
  log?.add(event);
  showFlags();
  if (event.type !== 'metrics') return;
  live.metrics = { ...live.metrics, ...event.values };
  timer ??= setTimeout(listRun, SAVE_MS);
}

/** Marks changes of knobs on every curve. */
function showFlags(): void {
  if (!log || live.flags === log.run.changes) return;
  live.flags = log.run.changes;
  useLive.setState((s) => ({ flagsVersion: s.flagsVersion + 1 }));
}

/** The current run at a checkpoint, so that it can be continued from there. */
export function runAt(checkpoint: Checkpoint): Run | null {
  const { update } = checkpoint.progress;
  const run = log?.run;
  if (!run) return null;
  return { ...run, update, changes: run.changes.filter((change) => change.update <= update), checkpoint };
}

/** Adds the current run to the list of runs at once, unless it has no finished update yet. */
export function listRun(): void {
  clearTimeout(timer);
  timer = undefined;
  if (!log || log.run.update === 0) return;
  const { id } = log.run;
  const { runs, deleted } = useRuns.getState();
  if (deleted?.id === id) return; // a run that was deleted while it trains stays deleted
  const known = runs.some((run) => run.id === id);
  const listedId = putRun(log.run);
  log.rename({ id: listedId });
  if (!known) toggleShown(listedId);
}
