import { ArmQueue } from '../../runs/armQueue.ts';
import type { PlannedRun } from '../../experiments/experimentPlan.ts';
import { resultOf } from '../../experiments/runResult.ts';
import { type Arm, type ArmNews, ArmWorker, type Trained } from '../run/armWorker.ts';
import { SILENT_WORDS } from '../run/workerWatch.ts';
import { isSame, plannedRunOf, type RunRequest } from './requests.ts';
import { change, lacking, useExperiments } from './experimentStore.ts';
import { load } from './storage.ts';

const LOCK = 'rollout-playground-experiments';
const REFRESH_MS = 150; // time between two refreshes of the current run

/** A requested run, as an arm of the queue. */
interface RequestedArm extends Arm {
  readonly request: RunRequest;
  readonly planned: PlannedRun;
}

let queueLock: Promise<void> | null = null; // resolves once this tab has the lock of the queue
let release: (() => void) | null = null; // releases the lock between tabs
let news: ArmNews | null = null; // newest, shown by the next refresh
let showTimer: ReturnType<typeof setTimeout> | undefined;

const queue = new ArmQueue<RequestedArm, ArmNews, Trained>(() => new ArmWorker(), {
  onBegin: ({ request, config: { updates } }) => {
    const current = { run: request, update: 0, updates, phase: 'compiling', done: 0, total: 0, success: [] } as const;
    useExperiments.setState({ current });
    if (news?.silent) noteSilence(false); // the silent worker is gone
    news = null;
  },
  onNews: (_, latest) => {
    if (latest.silent !== (news?.silent ?? false)) noteSilence(latest.silent);
    news = latest;
    showTimer ??= setTimeout(showProgress, REFRESH_MS);
  },
  onDone: ({ planned }, { run }, seconds) => {
    const { results } = useExperiments.getState();
    storeQueue({ results: [...results, resultOf({ ...run, seconds }, planned.experiment)] });
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
  const { plan, waiting, failed, results } = useExperiments.getState();
  const added = lacking(plan, waiting, results);
  const stillFailed = failed.filter((run) => !added.some((a) => a.arm === run.arm && a.seed === run.seed));
  change({ waiting: [...waiting, ...added], failed: stillFailed, mode: 'running', note: '' });
  void fillQueue();
}

/** Pauses the current run. It continues where it stopped, unless the page is left. */
export function pause(): void {
  queue.pause();
  change({ mode: 'paused' });
}

/** Continues a paused queue. */
export function resume(): void {
  change({ mode: 'running' });
  void fillQueue();
}

/** Empties the queue; finished results stay. */
export function cancel(): void {
  queue.cancel('Cancelled.');
  change({ waiting: [], mode: 'idle', current: null, note: 'Cancelled. Finished runs are kept.' });
  releaseLock();
}

/** Continues the stored queue after a reload. */
export function resumeStored(): void {
  const { mode, waiting } = useExperiments.getState();
  if (mode !== 'running' || queue.left.length > 0) return;
  const [first] = waiting;
  if (first) change({ note: `Resumed. ${first.arm}, seed ${first.seed}, starts over.` });
  void fillQueue();
}

/** Adds the waiting runs to the queue, once this tab has the lock. */
async function fillQueue(): Promise<void> {
  await (queueLock ??= acquireLock());
  const { mode, waiting } = useExperiments.getState();
  if (mode !== 'running') return;
  queue.resume();
  queue.add(waiting.filter((request) => !queue.left.some((arm) => isSame(arm.request, request))).flatMap(armOf));
}

/** The arm of a request. Empty if the experiment no longer has it. */
function armOf(request: RunRequest): RequestedArm[] {
  const planned = plannedRunOf(request);
  return planned ? [{ label: planned.arm, config: planned.config, request, planned }] : [];
}

/** Stores changes, together with the runs that the queue still has. */
function storeQueue(changes: Parameters<typeof change>[0]): void {
  change({ ...changes, waiting: queue.left.map(({ request }) => request) });
}

/** Waits for the lock between tabs, then reads what another tab may have stored. */
async function acquireLock(): Promise<void> {
  // absent on plain http; then two tabs may run the queue at once
  const { locks } = navigator as Partial<Navigator>;
  if (!locks) return;
  const elsewhereTimer = setTimeout(() => {
    if (useExperiments.getState().mode === 'running') useExperiments.setState({ mode: 'elsewhere' });
  }, REFRESH_MS);
  await new Promise<void>((granted) => {
    void locks.request(LOCK, () => {
      granted();
      return new Promise<void>((resolve) => (release = resolve));
    });
  });
  clearTimeout(elsewhereTimer);
  const { mode } = useExperiments.getState();
  if (mode === 'idle') releaseLock(); // cancelled meanwhile
  if (mode !== 'elsewhere') return;
  const { waiting, failed, results } = load().stored;
  change({ waiting, failed, results, mode: 'running' });
}

function releaseLock(): void {
  release?.();
  release = null;
  queueLock = null;
}

function noteSilence(isSilent: boolean): void {
  change({ note: isSilent ? `The training worker ${SILENT_WORDS}. It’s busy or stuck; Cancel ends it.` : '' });
}

function showProgress(): void {
  showTimer = undefined;
  const { current } = useExperiments.getState();
  if (!news || !current) return;
  const { run, phase, done, total } = news;
  const success = Array.from(run.series.get('rollout/success')?.points.y ?? []);
  useExperiments.setState({ current: { ...current, phase, done, total, update: run.update, success } });
}
