import type { RunConfig } from '../fields.ts';
import type { Facts } from '../facts/facts.ts';
import { FAULTS, type RunCommand } from '../commands.ts';
import type { Answer, Attempt, Health, PlayedTask, Question, RunEvent } from '../protocol.ts';
import { edit, nearestPreset, useConfig } from './config-store.ts';
import { nextBatch, showBatch } from './batch-in-view.ts';
import { clearHistory, keepBatch } from './history.ts';
import { live, setProblem, useLive } from './live-store.ts';
import { flagActing, forgetSent, noteSent } from './knob-flags.ts';
import { refreshTitle, writeTitle } from './page-title.ts';
import { pendingLive } from './pending.ts';
import { clearTimes, noteTimes } from './profile/store.ts';
import type { SavedRun } from './resume/storage.ts';
import { forgetSaved, noteReplaced, noteResumed, takeCheckpoint, useResume } from './resume/store.ts';
import { pose, refuseAll, settle } from './questions.ts';
import { addMetrics, clearRun, restoreRun } from './run-log.ts';
import { beginRecord, bindRecorder, continueRecord, noteRecord } from './runs/recorder.ts';
import { useSelection } from './selection-store.ts';
import { trainingWorker } from './training-worker.ts';

const FLUSH_MS = 100; // counters
const BATCH_MS = 900; // a trajectory must stand still long enough to be read
const CONFIGURE_MS = 60; // a dragged slider speaks this often
const MORE_UPDATES = 50;

let worker: Worker | null = null;
let fenced = false; // see `fence`
let facts: Facts | null = null; // a person's own
let resuming: SavedRun | null = null; // asked for, not there yet
let lastBatch = 0; // when one was shown
let dirty: { update?: number; phase?: Extract<RunEvent, { type: 'phase' }>; metrics?: true; health?: Health } = {};
let flushTimer: ReturnType<typeof setTimeout> | undefined;
let vocabulary: readonly string[] = []; // of the run
let acting: RunConfig | null = null; // of the update under way: `applied` runs ahead of it
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
  resuming = null;
  launch({ config: useConfig.getState().wanted, run: running, ...(facts && { facts }) });
}

/** Goes on from a checkpoint, paused; a run that is there stays until that is known to be possible. */
export function startFrom(saved: SavedRun): void {
  resuming = saved;
  const { checkpoint } = saved;
  const own = saved.facts ?? facts;
  launch({ config: checkpoint.begun, from: checkpoint, run: false, ...(own && { facts: own }) });
}

function launch(command: Omit<Extract<RunCommand, { type: 'start' }>, 'type' | 'guarded'>): void {
  if (!worker) spawn();
  const session = useLive.getState().session === 'ready' ? 'ready' : 'starting';
  useLive.setState({ session, running: command.run, problem: null });
  send({ type: 'start', guarded: true, ...command });
}

/** Brings a failure about, for tests and teachers. Throws RangeError on one that is unknown. */
export function inject(wanted: string): void {
  const fault = FAULTS.find((each) => each === wanted);
  if (!fault) throw new RangeError(`inject: got ${wanted}; want ${FAULTS.join(' or ')}.`);
  send({ type: 'inject', fault });
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

/** While it is on, each stage of an update waits for the device, so that its time is its own. */
export function fence(on: boolean): void {
  fenced = on;
  send({ type: 'fence', on });
}

/** Has the run time its kernels and say what they did; it goes on afterwards as if nobody had asked. */
export function measure(): Promise<Answer> {
  if (!worker) return Promise.resolve({ kind: 'refused', message: 'There is no run to measure. Run training first.' });
  return pose((id) => ({ type: 'profile', id }), send);
}

function send(command: RunCommand): void {
  worker?.postMessage(command);
}

function spawn(): void {
  worker = trainingWorker();
  if (fenced) send({ type: 'fence', on: true });
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
      begin(event);
      sendChanges();
      return;
    case 'checkpoint':
      takeCheckpoint(event, facts);
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
      refreshTitle(event.update);
      break;
    case 'health':
      // an alarm shows itself; a reader who closes it is left alone until the next one
      if (event.health.state === 'trap' && useLive.getState().health?.state !== 'trap')
        useSelection.setState({ health: true });
      dirty.health = event.health;
      break;
    case 'preferences':
      useLive.setState({ preferences: event.preferences });
      return;
    case 'configured':
      acting &&= { ...acting, ...event.changes };
      useConfig.setState((s) => ({ applied: s.applied && { ...s.applied, ...event.changes } }));
      flagActing(event);
      return;
    case 'times':
      noteTimes(event.times);
      return;
    case 'answer':
      settle(event.id, event.answer);
      return;
    case 'running':
      flush();
      useLive.setState({ running: event.running, update: event.update, finished: event.finished });
      writeTitle(event.update);
      return;
    case 'error':
      flush(); // what came before it must not paint over it
      if (event.cause === 'bad-checkpoint') forgetSaved();
      setProblem(event);
      if (event.fatal) {
        worker?.terminate();
        worker = null;
        refuseAll(event.message);
      }
      writeTitle(useLive.getState().update);
      return;
  }
  // hidden pages keep their curves and draw nothing
  if (!document.hidden) flushTimer ??= setTimeout(flush, FLUSH_MS);
}

/** A run is there: a fresh one, or one that goes on from a checkpoint with its curves and its record. */
function begin(event: Extract<RunEvent, { type: 'ready' }>): void {
  const resumed = event.update > 0 ? resuming : null;
  resuming = null;
  const batch = resumed && useResume.getState().replaced?.batch;
  if (resumed) noteResumed(resumed);
  else noteReplaced();
  clearHistory();
  clearTimes();
  if (resumed?.page.record) continueRecord(resumed.page.record);
  else beginRecord(event);
  dirty = {};
  forgetSent();
  lastBatch = 0;
  acting = event.config;
  vocabulary = event.vocabulary;
  clearRun(event);
  if (resumed) {
    restoreRun(resumed.page);
    if (batch) keepBatch(batch.batch, batch.config);
    edit(event.config);
    useConfig.setState({ preset: nearestPreset(event.config) });
  }
  useConfig.setState({ applied: event.config });
}

function flush(): void {
  clearTimeout(flushTimer);
  flushTimer = undefined;
  const { phase, update, metrics, health } = dirty;
  dirty = {};
  const next = nextBatch();
  const held = next?.batch.update === useSelection.getState().held;
  const due = held || live.isExample || !useLive.getState().running || performance.now() - lastBatch > BATCH_MS;
  if (next && due) {
    showBatch(next, vocabulary);
    lastBatch = performance.now();
  } else if (next) flushTimer = setTimeout(flush, BATCH_MS / 4);
  useLive.setState((s) => ({
    ...(phase && { phase: phase.phase, phaseDone: phase.done, phaseTotal: phase.total }),
    ...(update !== undefined && { update }),
    ...(health && { health }),
    ...(metrics && { metricsVersion: s.metricsVersion + 1 }),
  }));
}

function sendChanges(): void {
  const { wanted, applied } = useConfig.getState();
  const changes = pendingLive(wanted, applied);
  if (Object.keys(changes).length === 0 || !worker || !applied) return;
  noteSent(changes, applied);
  useConfig.setState({ applied: { ...applied, ...changes } });
  send({ type: 'configure', changes });
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
  const onShown = () => (document.hidden ? undefined : flush());
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
