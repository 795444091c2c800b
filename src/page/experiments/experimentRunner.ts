import { ArmQueue } from '../../runs/armQueue.ts';
import { resultFromRun, type RunIdentity } from '../../experiments/runResult.ts';
import { type Arm, type ArmProgress, ArmWorker, type TrainedArm } from '../training/armWorker.ts';
import { SILENT_WORDS } from '../browser/workerClient.ts';
import { isSameRequest, plannedRunOf, type RunRequest } from './requests.ts';
import { updateAndStore, missingRuns, useExperiments } from './experimentStore.ts';
import { loadQueue } from './storage.ts';

const LOCK = 'rollout-playground-experiments';
const REFRESH_MS = 150; // time between two refreshes of the current run

interface RequestedArm extends Arm {
  readonly request: RunRequest;
  readonly planned: RunIdentity;
}

let queueLock: Promise<void> | null = null; // resolves once this tab has the lock of the queue
let release: (() => void) | null = null; // releases the lock between tabs
let latestNews: ArmProgress | null = null; // newest, shown by the next refresh
let showTimer: ReturnType<typeof setTimeout> | undefined;

const queue = new ArmQueue<RequestedArm, ArmProgress, TrainedArm>(() => new ArmWorker(), {
  onBegin: ({ request, config: { updates } }) => {
    const current = { run: request, update: 0, updates, phase: 'compiling', done: 0, total: 0, success: [] } as const;
    useExperiments.setState({ current });
    if (latestNews?.silent) showSilence(false); // the silent worker is gone
    latestNews = null;
  },
  onProgress: (_, nextNews) => {
    if (nextNews.silent !== (latestNews?.silent ?? false)) showSilence(nextNews.silent);
    latestNews = nextNews;
    showTimer ??= setTimeout(showProgress, REFRESH_MS);
  },
  onDone: ({ planned }, { run }, seconds) => {
    const { results } = useExperiments.getState();
    storeQueue({ results: [...results, resultFromRun({ ...run, seconds }, planned.experiment)] });
  },
  onFailure: ({ request }, reason) => {
    const message = reason instanceof Error ? reason.message : String(reason);
    storeQueue({ failed: [...useExperiments.getState().failed, { ...request, message }] });
  },
  onEnd: () => {
    storeQueue({ mode: 'idle', current: null });
    releaseLock();
  },
});

/** Queues the runs that the plan still lacks, and starts the queue. */
export function start(): void {
  const { plan, waiting, failed, results, own } = useExperiments.getState();
  const addedRuns = missingRuns(plan, waiting, results, own);
  const stillFailed = failed.filter((run) => !addedRuns.some((a) => a.arm === run.arm && a.seed === run.seed));
  updateAndStore({ waiting: [...waiting, ...addedRuns], failed: stillFailed, mode: 'running', note: '' });
  void fillQueue();
}

/** Pauses the current run. It continues where it stopped, unless the page is left. */
export function pause(): void {
  queue.pause();
  updateAndStore({ mode: 'paused' });
}

export function resume(): void {
  updateAndStore({ mode: 'running' });
  void fillQueue();
}

/** Empties the queue; finished results stay. */
export function cancel(): void {
  queue.cancel('Cancelled.');
  updateAndStore({ waiting: [], mode: 'idle', current: null, note: 'Cancelled. Finished runs are kept.' });
  releaseLock();
}

/** Continues the stored queue after a reload. */
export function resumeStored(): void {
  const { mode, waiting } = useExperiments.getState();
  if (mode !== 'running' || queue.unfinishedArms.length > 0) return;
  const [first] = waiting;
  if (first) updateAndStore({ note: `Resumed. ${first.arm}, seed ${first.seed}, starts over.` });
  void fillQueue();
}

/** Adds the waiting runs to the queue, once this tab has the lock. */
async function fillQueue(): Promise<void> {
  await (queueLock ??= acquireLock());
  const { mode, waiting } = useExperiments.getState();
  if (mode !== 'running') return;
  queue.resume();
  queue.add(
    waiting
      .filter((request) => !queue.unfinishedArms.some((arm) => isSameRequest(arm.request, request)))
      .flatMap(armOf),
  );
}

/** The arm of a request. Empty if the experiment no longer has it. */
function armOf(request: RunRequest): RequestedArm[] {
  const planned = plannedRunOf(request, useExperiments.getState().own);
  return planned ? [{ label: planned.arm, config: planned.config, request, planned }] : [];
}

/** Stores changes, together with the runs that the queue still has. */
function storeQueue(changes: Parameters<typeof updateAndStore>[0]): void {
  updateAndStore({ ...changes, waiting: queue.unfinishedArms.map(({ request }) => request) });
}

/** Waits for the lock between tabs, then reads what another tab may have stored. */
async function acquireLock(): Promise<void> {
  // absent on plain http; then two tabs may run the queue at once
  const { locks } = navigator as Partial<Navigator>;
  if (!locks) return;
  const otherTabTimer = setTimeout(() => {
    if (useExperiments.getState().mode === 'running') useExperiments.setState({ mode: 'elsewhere' });
  }, REFRESH_MS);
  await new Promise<void>((granted) => {
    void locks.request(LOCK, () => {
      granted();
      return new Promise<void>((resolve) => (release = resolve));
    });
  });
  clearTimeout(otherTabTimer);
  const { mode } = useExperiments.getState();
  if (mode === 'idle') releaseLock(); // cancelled meanwhile
  if (mode !== 'elsewhere') return;
  const { waiting, failed, results, own } = loadQueue().stored;
  updateAndStore({ waiting, failed, results, own, mode: 'running' });
}

function releaseLock(): void {
  release?.();
  release = null;
  queueLock = null;
}

function showSilence(isSilent: boolean): void {
  updateAndStore({ note: isSilent ? `The training worker ${SILENT_WORDS}. It’s busy or stuck; Cancel ends it.` : '' });
}

function showProgress(): void {
  showTimer = undefined;
  const { current } = useExperiments.getState();
  if (!latestNews || !current) return;
  const { run, phase, done, total } = latestNews;
  const success = Array.from(run.series.get('rollout/success')?.points.y ?? []);
  useExperiments.setState({ current: { ...current, phase, done, total, update: run.update, success } });
}
