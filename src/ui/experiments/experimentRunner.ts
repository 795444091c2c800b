import { ArmQueue } from '../../runs/armQueue.ts';
import type { PlannedRun } from '../../experiments/experimentPlan.ts';
import { resultOf } from '../../experiments/runResult.ts';
import { type Arm, type ArmNews, ArmWorker, type Trained } from '../run/armWorker.ts';
import { SILENT_WORDS } from '../run/workerWatch.ts';
import { isSame, plannedRunOf, type RunRequest } from './requests.ts';
import { change, lacking, useExperiments } from './experimentStore.ts';
import { load } from './storage.ts';

const LOCK = 'rollout-playground-experiments';
const SHOW_MS = 150; // between looks at the run under way

/** A run that is asked for, as an arm. */
interface RequestedArm extends Arm {
  readonly request: RunRequest;
  readonly planned: PlannedRun;
}

let queueLock: Promise<void> | null = null; // until this tab has the queue
let release: (() => void) | null = null; // of the lock between tabs
let news: ArmNews | null = null; // to be shown
let showTimer: ReturnType<typeof setTimeout> | undefined;

const queue = new ArmQueue<RequestedArm, ArmNews, Trained>(() => new ArmWorker(), {
  onBegin: ({ request, config: { updates } }) => {
    const under = { run: request, update: 0, updates, phase: 'compiling', done: 0, total: 0, success: [] } as const;
    useExperiments.setState({ under });
    if (news?.silent) silent(false); // its worker is gone
    news = null;
  },
  onNews: (_, told) => {
    if (told.silent !== (news?.silent ?? false)) silent(told.silent);
    news = told;
    showTimer ??= setTimeout(show, SHOW_MS);
  },
  onDone: ({ planned }, { run }, seconds) => {
    const { results } = useExperiments.getState();
    left({ results: [...results, resultOf({ ...run, seconds }, planned.experiment)] });
  },
  onFailure: ({ request }, reason) => {
    const message = reason instanceof Error ? reason.message : String(reason);
    left({ failed: [...useExperiments.getState().failed, { ...request, message }] });
  },
  onEnd: () => {
    left({ mode: 'idle', under: null });
    free();
  },
});

/** Queues what the plan lacks, and runs. */
export function start(): void {
  const { plan, waiting, failed, results } = useExperiments.getState();
  const added = lacking(plan, waiting, results);
  const retried = failed.filter((run) => !added.some((a) => a.arm === run.arm && a.seed === run.seed));
  change({ waiting: [...waiting, ...added], failed: retried, mode: 'running', note: '' });
  void take();
}

/** Holds the run under way; it goes on where it stopped, unless the page is left. */
export function pause(): void {
  queue.pause();
  change({ mode: 'paused' });
}

/** Goes on with a paused queue. */
export function resume(): void {
  change({ mode: 'running' });
  void take();
}

/** Empties the queue; finished results stay. */
export function cancel(): void {
  queue.cancel('Cancelled.');
  change({ waiting: [], mode: 'idle', under: null, note: 'Cancelled. Finished runs are kept.' });
  free();
}

/** Goes on after a reload. */
export function resumeStored(): void {
  const { mode, waiting } = useExperiments.getState();
  if (mode !== 'running' || queue.left.length > 0) return;
  const [first] = waiting;
  if (first) change({ note: `Resumed. ${first.arm}, seed ${first.seed}, starts over.` });
  void take();
}

/** Gives the queue what waits, once no other tab has it. */
async function take(): Promise<void> {
  await (queueLock ??= hold());
  const { mode, waiting } = useExperiments.getState();
  if (mode !== 'running') return;
  queue.resume();
  queue.add(waiting.filter((request) => !queue.left.some((arm) => isSame(arm.request, request))).flatMap(armOf));
}

/** The arm that a request means; none if its experiment has no such arm any more. */
function armOf(request: RunRequest): RequestedArm[] {
  const planned = plannedRunOf(request);
  return planned ? [{ label: planned.arm, config: planned.config, request, planned }] : [];
}

/** What the queue has left waits; this is stored, with other changes. */
function left(changes: Parameters<typeof change>[0]): void {
  change({ ...changes, waiting: queue.left.map(({ request }) => request) });
}

/** Waits for the lock that tabs share, then reads what the other one may have written. */
async function hold(): Promise<void> {
  // absent on plain http: then nothing keeps two tabs apart
  const { locks } = navigator as Partial<Navigator>;
  if (!locks) return;
  const waits = setTimeout(() => {
    if (useExperiments.getState().mode === 'running') useExperiments.setState({ mode: 'elsewhere' });
  }, SHOW_MS);
  await new Promise<void>((granted) => {
    void locks.request(LOCK, () => {
      granted();
      return new Promise<void>((resolve) => (release = resolve));
    });
  });
  clearTimeout(waits);
  const { mode } = useExperiments.getState();
  if (mode === 'idle') free(); // cancelled meanwhile
  if (mode !== 'elsewhere') return;
  const { waiting, failed, results } = load().stored;
  change({ waiting, failed, results, mode: 'running' });
}

function free(): void {
  release?.();
  release = null;
  queueLock = null;
}

function silent(is: boolean): void {
  change({ note: is ? `The training worker ${SILENT_WORDS}. It’s busy or stuck; Cancel ends it.` : '' });
}

function show(): void {
  showTimer = undefined;
  const { under } = useExperiments.getState();
  if (!news || !under) return;
  const { run, phase, done, total } = news;
  const success = Array.from(run.series.get('rollout/success')?.points.y ?? []);
  useExperiments.setState({ under: { ...under, phase, done, total, update: run.update, success } });
}
