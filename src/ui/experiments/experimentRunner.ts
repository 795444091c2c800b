import type { PlannedRun } from '../../experiments/experimentPlan.ts';
import { resultOf } from '../../experiments/runResult.ts';
import { bareRun, type Run } from '../../runs/run.ts';
import { RunLog } from '../../runs/runLog.ts';
import type { RunCommand } from '../../wire/commands.ts';
import { NO_LISTENER, RunClient, type ToldEvent } from '../run/runClient.ts';
import { trainToEnd } from '../run/trainToEnd.ts';
import { SILENT_WORDS } from '../run/workerWatch.ts';
import { plannedRunOf } from './requests.ts';
import { change, lacking, useExperiments, type Under } from './experimentStore.ts';
import { load } from './storage.ts';

const LOCK = 'rollout-playground-experiments';
const SHOW_MS = 150; // between looks at the run under way

interface Current {
  readonly run: PlannedRun;
  readonly under: { -readonly [K in keyof Under]: Under[K] };
  began: number;
  spent: number; // ms before the last pause
}
let client: RunClient | null = null;
let current: Current | null = null;
let held: Promise<void> | null = null; // until this tab has the queue
let release: (() => void) | null = null; // of the lock between tabs
let showTimer: ReturnType<typeof setTimeout> | undefined;

/** Queues what the plan lacks, and runs. */
export function start(): void {
  const { plan, waiting, failed, results } = useExperiments.getState();
  const added = lacking(plan, waiting, results);
  const retried = failed.filter((run) => !added.some((a) => a.arm === run.arm && a.seed === run.seed));
  change({ waiting: [...waiting, ...added], failed: retried, mode: 'running', note: '' });
  if (current) send({ type: 'run' });
  else void take();
}

/** Holds the run under way; it goes on where it stopped, unless the page is left. */
export function pause(): void {
  if (current) {
    const now = performance.now();
    current.spent += now - current.began;
    current.began = now;
  }
  send({ type: 'pause' });
  change({ mode: 'paused' });
}

/** Goes on with a paused queue. */
export function resume(): void {
  change({ mode: 'running' });
  if (!current) {
    void take();
    return;
  }
  current.began = performance.now();
  send({ type: 'run' });
}

/** Empties the queue; finished results stay. */
export function cancel(): void {
  stopWorker('Cancelled.');
  change({ waiting: [], mode: 'idle', under: null, note: 'Cancelled. Finished runs are kept.' });
  free();
}

/** Goes on after a reload. */
export function resumeStored(): void {
  const { mode, waiting } = useExperiments.getState();
  if (mode !== 'running' || current) return;
  const [first] = waiting;
  if (first) change({ note: `Resumed. ${first.arm}, seed ${first.seed}, starts over.` });
  void take();
}

/** Starts the first waiting run once no other tab has the queue. */
async function take(): Promise<void> {
  await (held ??= hold());
  if (current || useExperiments.getState().mode !== 'running') return;
  const [request] = useExperiments.getState().waiting;
  if (!request) {
    stopWorker('The queue is empty.');
    change({ mode: 'idle', under: null });
    free();
    return;
  }
  const run = plannedRunOf(request);
  if (!run) {
    end('This arm no longer exists.');
    return;
  }
  const under = {
    run: request,
    update: 0,
    updates: run.config.updates,
    phase: 'compiling',
    done: 0,
    total: 0,
    success: [],
  } as const;
  current = { run, under: { ...under }, began: performance.now(), spent: 0 };
  useExperiments.setState({ under });
  void train((client ??= new RunClient(NO_LISTENER)), current);
}

/** Trains the run under way; the queue goes on with the next one, be it done or not. */
async function train(own: RunClient, { run }: Current): Promise<void> {
  const { experiment, arm, config } = run;
  const started = new Date().toISOString();
  const log = new RunLog(bareRun({ id: 0, name: `${experiment}: ${arm}`, started, begun: config }));
  try {
    const done = await trainToEnd(own, log, { config, run: true }, { onEvent: follow, onSilence: silent });
    if (client === own) finish(done);
  } catch (error) {
    if (client === own) end(error instanceof Error ? error.message : String(error));
  }
}

/** Waits for the lock that tabs share, then reads what the other one may have written. */
async function hold(): Promise<void> {
  // absent on plain http: then nothing keeps two tabs apart
  const { locks } = navigator as Partial<Navigator>;
  if (!locks) return;
  const waits = setTimeout(() => useExperiments.setState({ mode: 'elsewhere' }), SHOW_MS);
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
  held = null;
}

function send(command: RunCommand): void {
  client?.send(command);
}

function silent(is: boolean): void {
  change({ note: is ? `The training worker ${SILENT_WORDS}. It’s busy or stuck; Cancel ends it.` : '' });
}

function stopWorker(reason: string): void {
  client?.terminate(reason);
  client = null;
  current = null;
}

function follow(event: ToldEvent): void {
  if (!current) return;
  const { under } = current;
  if (event.type === 'phase') Object.assign(under, { phase: event.phase, done: event.done, total: event.total });
  else if (event.type === 'metrics') {
    under.update = event.update;
    const success = event.values['rollout/success'];
    if (success !== undefined) under.success = [...under.success, success];
  }
  showTimer ??= setTimeout(show, SHOW_MS);
}

function finish(done: Run): void {
  if (!current) return;
  const { run, spent, began } = current;
  const result = resultOf(done, run, (spent + performance.now() - began) / 1000);
  const { waiting, results } = useExperiments.getState();
  current = null;
  change({ waiting: waiting.slice(1), results: [...results, result] });
  void take();
}

function show(): void {
  showTimer = undefined;
  if (current) useExperiments.setState({ under: { ...current.under } });
}

/** The run under way cannot go on: the next one gets a fresh worker. */
function end(message: string): void {
  const { waiting, failed } = useExperiments.getState();
  const [request] = waiting;
  stopWorker(message);
  change({ waiting: waiting.slice(1), failed: request ? [...failed, { ...request, message }] : failed });
  void take();
}
