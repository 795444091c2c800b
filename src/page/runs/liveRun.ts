import type { Checkpoint } from '../../runs/checkpoint.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { serverNamed } from '../../domain/serverAddress.ts';
import { runWithDefaults, type Run } from '../../runs/run.ts';
import { type RunOpened, RunLog } from '../../runs/runLog.ts';
import type { TrainingEvent } from '../../domain/trainingEvent.ts';
import type { RunEvent } from '../../wire/commands.ts';
import { runName } from './keptRun.ts';
import { nextId, putRun, toggleShown, useRuns, bindRuns } from './runStore.ts';
import { showCurves, NEW_RUN_STATE, useLive } from '../view/liveStore.ts';

const LIST_DELAY_MS = 4000; // the list of runs is updated this long after a change

let log: RunLog | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;
let secondsBefore = 0; // how long the current run trained before `trainingSince`
let trainingSince: number | null = null; // ms of `performance.now()`; null: paused

/** The current run, or the one that just failed; null before the first. Its curves keep growing. */
export function currentRun(): Run | null {
  return log?.run ?? null;
}

/** How long the current run has trained, in seconds, without pauses. */
function trainedSeconds(): number {
  const now = trainingSince === null ? 0 : (performance.now() - trainingSince) / 1000;
  return Math.round(10 * (secondsBefore + now)) / 10;
}

export function noteTraining(isTraining: boolean): void {
  secondsBefore = trainedSeconds();
  trainingSince = isTraining ? performance.now() : null;
}

/** How long a run trained, in seconds. Older pages didn't save it; then it is the sum of its updates' times. */
function secondsOf({ seconds, series }: Run): number {
  return seconds ?? series.get('time/update')?.points.y.reduce((sum, value) => sum + value, 0) ?? 0;
}

/**
 * Begins the record of a run that is ready: a fresh run, or a resumed one. `copy`: another tab continues the same run,
 * so this one gets a new number and name. The previous run is added to the list, and the page's state is reset.
 */
export function beginRun(
  event: Extract<RunEvent, { type: 'ready' }>,
  resumed: Run | null,
  copy: boolean,
  runData: Pick<Run, 'facts' | 'environment' | 'fork'>,
): void {
  listRun();
  log = new RunLog({ ...(resumed ? resumedRun(resumed, copy) : freshRun(event, runData.environment)), ...runData });
  log.add(event);
  secondsBefore = resumed ? secondsOf(resumed) : 0;
  if (trainingSince !== null) trainingSince = performance.now();
  const { config, series, changes } = log.run;
  showCurves(log.series);
  useLive.setState((s) => ({
    ...NEW_RUN_STATE,
    metrics: Object.fromEntries(Array.from(series, ([name, { lastValue = 0 }]) => [name, lastValue])),
    config,
    flags: changes,
    update: event.update,
    running: s.running,
    stepping: s.stepping,
    session: 'ready',
    run: s.run + 1,
    server: serverNamed(runData.environment),
    backend: event.backend,
    parameters: event.parameters,
    memoryBytes: event.memoryBytes,
    problem: null,
    health: null,
    preferences: null,
    metricsVersion: s.metricsVersion + 1,
  }));
}

function freshRun({ config }: RunOpened, file: EnvironmentFile | null): Run {
  const { runs, deleted } = useRuns.getState();
  const [newest] = runs;
  const last = log?.run;
  // if the last run is not in the list, because it had no update, its number is used again
  const isIdFree = last && deleted?.id !== last.id && !runs.some(({ id }) => id === last.id);
  const id = isIdFree ? last.id : nextId();
  return runWithDefaults({ id, name: runName(config, newest, file), started: new Date().toISOString(), begun: config });
}

function resumedRun(resumed: Run, copy: boolean): Run {
  const run = { ...resumed, batches: [] }; // the worker keeps the batches
  if (copy) return { ...run, id: nextId(), name: `${run.name} (copy)` }; // it continues in two tabs
  return run.id > 0 ? run : { ...run, id: nextId() };
}

/** Adds an event to the run. The list of runs is updated a little later. */
export function growRun(event: TrainingEvent): void {
  log?.add(event);
  showFlags();
  if (event.type !== 'metrics') return;
  useLive.setState(({ metrics }) => ({ metrics: { ...metrics, ...event.values } }));
  timer ??= setTimeout(listRun, LIST_DELAY_MS);
}

/** Tells the curves that the list of knob changes, which they mark, has grown. */
function showFlags(): void {
  if (!log || useLive.getState().flags === log.run.changes) return; // most events change none: nobody need look
  useLive.setState({ flags: log.run.changes });
}

export function runAt(checkpoint: Checkpoint): Run | null {
  const { update } = checkpoint.progress;
  const run = log?.run;
  if (!run) return null;
  const changes = run.changes.filter((change) => change.update <= update);
  return { ...run, update, changes, checkpoint, seconds: trainedSeconds() };
}

/** Adds the current run to the list of runs at once, unless it has no finished update yet. */
export function listRun(): void {
  clearTimeout(timer);
  timer = undefined;
  if (!log || log.run.update === 0) return;
  const { id } = log.run;
  const { runs, deleted } = useRuns.getState();
  if (deleted?.id === id) return; // a run that was deleted while it trains stays deleted
  const isListed = runs.some((run) => run.id === id);
  const listedId = putRun({ ...log.run, seconds: trainedSeconds() });
  log.rename({ id: listedId });
  if (!isListed) toggleShown(listedId);
}

/**
 * Updates the run under way in the list when the page is closed or hidden, and when the run pauses. Counts how long it
 * trains, and binds the list to other tabs. Returns a function that stops this.
 */
export function bindRecorder(): () => void {
  const onHide = () => {
    if (document.hidden) listRun();
  };
  addEventListener('pagehide', listRun);
  document.addEventListener('visibilitychange', onHide);
  const stop = useLive.subscribe((state, before) => {
    const [trains, trained] = [state, before].map(({ running, stepping }) => running || stepping);
    if (trains !== trained) noteTraining(trains === true);
    if (before.running && !state.running) listRun();
  });
  const stopRuns = bindRuns();
  return () => {
    stopRuns();
    removeEventListener('pagehide', listRun);
    document.removeEventListener('visibilitychange', onHide);
    stop();
  };
}
