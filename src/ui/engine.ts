import { FIELDS, type Field, type FieldName, type RunConfig } from '../fields.ts';
import type { Facts } from '../facts/facts.ts';
import type { Answer, Attempt, PlayedTask, Question, RunCommand, RunEvent } from '../protocol.ts';
import { useConfig } from './config-store.ts';
import { knobText, percent } from './format.ts';
import { clearHistory, keepBatch, keptBatch, newestBatch, type KeptBatch } from './history.ts';
import { addFlag, addMetrics, clearRun, live, setProblem, useLive } from './live-store.ts';
import { pendingLive } from './pending.ts';
import { beginRecord, bindRecorder, noteRecord } from './runs/recorder.ts';
import { pose, refuseAll, settle } from './questions.ts';
import { useSelection } from './selection-store.ts';

const FLUSH_MS = 100; // counters
const BATCH_MS = 900; // a trajectory must stand still long enough to be read
const CONFIGURE_MS = 60; // a dragged slider speaks this often
const MORE_UPDATES = 50;

let worker: Worker | null = null;
let facts: Facts | null = null; // a person's own
let lastBatch = 0; // when one was shown
let dirty: { update?: number; phase?: Extract<RunEvent, { type: 'phase' }>; metrics?: true } = {};
let flushTimer: ReturnType<typeof setTimeout> | undefined;
let vocabulary: readonly string[] = []; // of the run
let acting: RunConfig | null = null; // of the update under way: `applied` runs ahead of it
const replaced = new Map<FieldName, string | number>(); // values before changes that do not act yet
let configureTimer: ReturnType<typeof setTimeout> | undefined;

/** Starts training, or goes on with it. */
export function run(): void {
  const { session, finished, update } = useLive.getState();
  if (session === 'ready') {
    if (finished) useConfig.setState((s) => ({ wanted: { ...s.wanted, updates: update + MORE_UPDATES } }));
    sendChanges();
    useLive.setState({ running: true, finished: false });
    send({ type: 'run' });
  } else if (session !== 'starting') start(true);
}

/** Stops pulling; what runs on the device finishes its stage. @public */
export function pause(): void {
  useLive.setState({ running: false });
  send({ type: 'pause' });
}

/** One update or one optimizer step, then still. @public */
export function step(scale: 'update' | 'optimizer-step'): void {
  if (useLive.getState().session === 'none' || useLive.getState().session === 'failed') start(false);
  else sendChanges();
  useLive.setState({ running: false });
  send({ type: 'step', scale });
}

/** A fresh run with the knobs as the page shows them; a run that is there stays until the new one is possible. */
export function start(running: boolean): void {
  const { wanted } = useConfig.getState();
  if (!worker) spawn();
  useLive.setState((s) => ({ session: s.session === 'ready' ? 'ready' : 'starting', running, problem: null }));
  send({ type: 'start', config: wanted, run: running, ...(facts && { facts }) });
}

/** What runs begun from now on ask about, where they ask about a person's own facts. */
export function giveFacts(own: Facts | null): void {
  facts = own;
}

/** Back to update 0, not running. @public */
export function reset(): void {
  if (useLive.getState().session !== 'none') start(false);
}

/** Tells the reward model what a person thinks of two rollouts of one prompt. */
export function prefer(better: Attempt, worse: Attempt): void {
  send({ type: 'prefer', better, worse });
}

/** Asks the run about a kept rollout; the run goes on as if nobody had. */
export function ask(question: Question): Promise<Answer> {
  if (!worker) return Promise.resolve({ kind: 'refused', message: 'There is no run to ask. Run training first.' });
  return pose((id) => ({ type: 'ask', id, question }), send);
}

/** Puts a person's tokens in the agent's place; no run is needed, and none hears of it. */
export function play(task: PlayedTask): Promise<Answer> {
  if (!worker) spawn();
  return pose((id) => ({ type: 'play', id, task }), send);
}

function send(command: RunCommand): void {
  worker?.postMessage(command);
}

/** A worker that trains: the lab's own, or one that queued runs have to themselves. */
export function trainingWorker(): Worker {
  return new Worker(new URL('../worker.ts', import.meta.url), { type: 'module', name: 'training' });
}

function spawn(): void {
  worker = trainingWorker();
  worker.onmessage = (message: MessageEvent<RunEvent>) => receive(message.data);
  worker.onerror = (event) => {
    event.preventDefault();
    // a script that does not load has no message; one that throws has
    lose(event.message ? `The training worker stopped: ${event.message}` : 'The training worker could not be loaded.');
  };
  worker.onmessageerror = () => lose('The training worker sent something the page could not read.');
}

function lose(message: string): void {
  worker?.terminate();
  worker = null;
  refuseAll(message);
  flush();
  setProblem({ message, hint: 'Curves and rollouts so far stay on the page.', fatal: true, fields: [] });
}

/** Takes one event of the worker. Numbers wait for the next flush; what people act on is shown at once. */
function receive(event: RunEvent): void {
  switch (event.type) {
    case 'ready':
      // a batch that an address asks for is yet to come; one of the run that is gone is not
      if (live.kept.updates.length > 0) useSelection.setState({ held: null, revealed: null });
      clearHistory();
      beginRecord(event);
      dirty = {};
      replaced.clear();
      lastBatch = 0;
      acting = event.config;
      vocabulary = event.vocabulary;
      clearRun(event);
      useConfig.setState({ applied: event.config });
      sendChanges();
      return;
    case 'phase':
      dirty.phase = event;
      break;
    case 'batch':
      if (acting) keepBatch(event.batch, acting);
      break;
    case 'metrics':
      addMetrics(event.update, event.values);
      noteRecord();
      live.config = acting;
      dirty.update = event.update;
      dirty.metrics = true;
      title();
      break;
    case 'health':
      // an alarm shows itself; a reader who closes it is left alone until the next one
      if (event.health.state === 'trap' && useLive.getState().health?.state !== 'trap') {
        useSelection.setState({ health: true });
      }
      useLive.setState({ health: event.health });
      return;
    case 'preferences':
      useLive.setState({ preferences: event.preferences });
      return;
    case 'configured':
      acting &&= { ...acting, ...event.changes };
      useConfig.setState((s) => ({ applied: s.applied && { ...s.applied, ...event.changes } }));
      mark(event);
      return;
    case 'answer':
      settle(event.id, event.answer);
      return;
    case 'running':
      flush();
      useLive.setState({ running: event.running, update: event.update, finished: event.finished });
      title();
      return;
    case 'error':
      flush(); // what came before it must not paint over it
      setProblem(event);
      if (event.fatal) {
        worker?.terminate();
        worker = null;
        refuseAll(event.message);
      }
      title();
      return;
  }
  // hidden pages keep their curves and draw nothing
  if (!document.hidden) flushTimer ??= setTimeout(flush, FLUSH_MS);
}

function flush(): void {
  clearTimeout(flushTimer);
  flushTimer = undefined;
  const { phase, update, metrics } = dirty;
  dirty = {};
  const next = nextBatch();
  const held = next?.batch.update === useSelection.getState().held;
  const due = held || live.isExample || !useLive.getState().running || performance.now() - lastBatch > BATCH_MS;
  if (next && due) showBatch(next);
  else if (next) flushTimer = setTimeout(flush, BATCH_MS / 4);
  useLive.setState((s) => ({
    ...(phase && { phase: phase.phase, phaseDone: phase.done, phaseTotal: phase.total }),
    ...(update !== undefined && { update }),
    ...(metrics && { metricsVersion: s.metricsVersion + 1 }),
  }));
}

/** The batch that ought to be in view and is not: the held one, or the newest where none is held or it is not here. */
function nextBatch(): KeptBatch | undefined {
  const { held } = useSelection.getState();
  if (held !== null && held === live.batch.update && !live.isExample) return undefined;
  const next = (held === null ? undefined : keptBatch(held)) ?? newestBatch();
  return next?.batch === live.batch ? undefined : next;
}

function showBatch({ batch, config }: KeptBatch): void {
  live.batch = batch;
  live.vocabulary = vocabulary;
  live.batchConfig = config;
  live.isExample = false;
  lastBatch = performance.now();
  useLive.setState((s) => ({ batchVersion: s.batchVersion + 1 }));
  const { held, row, token } = useSelection.getState();
  if (held !== null && held !== batch.update) return; // what is chosen belongs to a batch that is yet to come
  if (row >= batch.rows) useSelection.setState({ row: 0, token: null, turn: null });
  else if (token !== null && token >= (batch.lengths[row] ?? 0)) useSelection.setState({ token: null, turn: null });
}

function sendChanges(): void {
  const { wanted, applied } = useConfig.getState();
  const changes = pendingLive(wanted, applied);
  const names = Object.keys(changes) as FieldName[];
  if (names.length === 0 || !worker || !applied) return;
  for (const name of names) if (!replaced.has(name)) replaced.set(name, applied[name]);
  useConfig.setState({ applied: { ...applied, ...changes } });
  send({ type: 'configure', changes });
}

/** Flags a change where it began to act, with the value it had before: a dragged slider leaves one flag. */
function mark({ update, changes }: Extract<RunEvent, { type: 'configured' }>): void {
  const told: string[] = [];
  for (const [name, value] of Object.entries(changes) as [FieldName, string | number][]) {
    const before = replaced.get(name);
    replaced.delete(name);
    if (before !== undefined && before !== value) told.push(`${label(name)} ${knobText(before)} → ${knobText(value)}`);
  }
  if (told.length > 0) addFlag({ update, text: told.join(', ') });
}

function label(name: FieldName): string {
  const field: Field = FIELDS[name];
  return field.label;
}

function title(): void {
  const { running, update } = useLive.getState();
  const now = dirty.update ?? update;
  const { updates } = useConfig.getState().wanted;
  const success = live.series.get('rollout/success')?.smooth;
  const state = `${running ? '▶' : '❚❚'} ${now}/${updates}${success === undefined ? '' : ` · ${percent(success)}`}`;
  document.title = now > 0 ? `${state} · Rollout Playground` : 'Rollout Playground';
}

/** Sends live knobs as they move and catches up when the page is shown again. Returns a function that ends all. */
export function bindEngine(): () => void {
  const stopConfig = useConfig.subscribe((state, before) => {
    if (state.wanted === before.wanted || !state.applied) return;
    configureTimer ??= setTimeout(() => {
      configureTimer = undefined;
      sendChanges();
    }, CONFIGURE_MS);
  });
  const stopHeld = useSelection.subscribe((state, before) => {
    if (state.held === before.held) return;
    lastBatch = 0; // who asks for a batch need not wait for it
    flush();
  });
  const stopRecorder = bindRecorder();
  const onShown = () => {
    if (!document.hidden) flush();
  };
  document.addEventListener('visibilitychange', onShown);
  return () => {
    stopConfig();
    stopHeld();
    stopRecorder();
    document.removeEventListener('visibilitychange', onShown);
    worker?.terminate();
    worker = null;
  };
}
