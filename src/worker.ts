import { type Checkpoint, readCheckpoint } from './runs/checkpoint.ts';
import { deviceLost, errorEvent } from './session/errorEvent.ts';
import { type EnvironmentFile, EnvironmentFileError } from './domain/environmentFile.ts';
import type { Facts } from './facts/facts.ts';
import { openFallback, type FallbackCheckpoint } from './worker/fallbackCheckpoint.ts';
import type { RunCommand, RunEvent } from './wire/commands.ts';
import { checkChanges } from './config/config.ts';
import { Faults } from './worker/faults.ts';
import { causeOf, DeviceLostError, isLost } from './gpu/device.ts';
import { postSignsOfLife } from './wire/startWorker.ts';
import type { Answer } from './wire/questions.ts';
import { openGame } from './session/playedGame.ts';
import { RunMeter } from './session/runMeter.ts';
import { checkPossible, openSession, type Session } from './session/session.ts';
import { progressText } from './runs/progressText.ts';
import { answerQueue } from './worker/sessionAnswers.ts';
import { doFolderTask } from './worker/folderTasks.ts';
import { openHost } from './worker/workerHost.ts';
import { playSetupFor } from './worker/playSetup.ts';
import { ownEnvironmentOpener } from './worker/ownEnvironmentOpener.ts';
import { pausing } from './worker/pausing.ts';
import type { BaseCheckpoint } from './checkpoints/baseCheckpoint.ts';
import { blobSource } from './formats/byteSource.ts';

/**
 * The training worker of the page. It opens the GPU and the policy, runs the training loop and posts its events. The
 * loop is a generator: each pull takes its next event. To pause, the worker stops pulling; for a step, it pulls until
 * the step is done.
 */
let session: Session | null = null;
// fallback of a run that was started with `withFallback`: the run returns to it after a number that is not finite, or
// after a fault of its environment
let fallback: FallbackCheckpoint | null = null;
let running = false;
let stepping: 'update' | 'optimizer-step' | null = null;
let willLearn = false; // the next pull takes an optimizer step
let hasLearned = false; // an optimizer step was taken since the page asked for a step
let pumping = false; // `pump` is running
let update = 0;
let endedForNext = false; // the old run was ended to free its memory, and the new run is not open yet
let commandQueue: Promise<void> = Promise.resolve();
const play = openGame();
const ask = answerQueue(() => session, post);
const meter = new RunMeter(() => performance.now());
let ownFacts: Facts | null = null; // the person's own facts, from the last run that came with some
let ownFile: EnvironmentFile | null = null; // the person's own environment, likewise

const host = openHost(() => meter.fenced);

const faults = new Faults({
  gpu: host.gpu,
  policy: () => session?.policy ?? null,
  reportLoss: (reason) => onSessionEvent(deviceLost(reason, true)),
});

function post(event: RunEvent): void {
  // Arrays are copied, not transferred: the policy may still use a batch's arrays, and they are small.
  globalThis.postMessage(event);
}

function postRunning(): void {
  const finished = !running && update > 0 && session !== null && update >= session.config().updates;
  post({ type: 'running', running, update, finished });
}

async function runCommand(command: Exclude<RunCommand, { type: 'play' | 'folder' | 'live' }>): Promise<void> {
  switch (command.type) {
    case 'start':
      return start(command);
    case 'configure':
      return session?.configure(command.changes);
    case 'prefer':
      session?.prefer(command.better, command.worse);
      return fallback?.addChoice(command.better, command.worse);
    case 'end-imitation': {
      const knobs = session?.endImitation();
      if (knobs) post({ type: 'imitation-changed', knobs });
      return;
    }
    case 'run':
      extendFinished(command.more ?? 0);
      running = session !== null;
      break;
    case 'pause':
      running = false;
      break;
    case 'inject':
      return faults.inject(command.fault, command.moment);
    case 'profile':
      return meter.requestProfile(
        (answer) => post({ type: 'answer', id: command.id, answer }),
        session?.policy,
        pumping,
      );
    case 'fence':
      meter.fenced = command.on;
      return;
    case 'hold':
      session?.history.setShown(command.update);
      return;
    case 'ask':
      // with a language model an answer takes seconds; a pause must not wait for it
      return session?.base ? void ask(command) : ask(command);
    case 'step':
      running = false;
      extendFinished(1);
      stepping = session && command.scale;
      hasLearned = false;
  }
  if (command.type !== 'step') postRunning();
  void pump();
}

/** Adds `more` updates to a run that has done all of its own. Throws ConfigError if a run can't have that many. */
function extendFinished(more: number): void {
  if (!session || more === 0 || update < session.config().updates) return;
  const knobs = { updates: update + more };
  try {
    session.configure(knobs);
  } catch (error) {
    postRunning(); // the page shows already that it goes on
    throw error;
  }
  post({ type: 'extended', knobs });
}

/** Starts a new run. The old run is replaced once it is known that the new one can run. */
async function start(command: Extract<RunCommand, { type: 'start' }>): Promise<void> {
  const { config, facts, environment, run, changes = [], withFallback = false } = command;
  const previous = { running, stepping };
  [running, stepping] = [false, null];
  try {
    const from = command.from === undefined ? null : readCheckpoint(command.from);
    checkChanges(from?.config ?? config, changes);
    // a person's own environment may compute for long while it opens
    const files = environment ? undefined : (command.base?.name ?? (from?.chatTokenizer && 'the run'));
    if (files) post({ type: 'alive', holds: false, reads: files });
    let openedSession: Session | null = null;
    const onEvent = (event: RunEvent) => {
      if (event.type === 'phase' && event.done > 0) faults.onMoment('start');
      // If the device is lost while the run opens, opening fails and reports it; a second error event is not needed.
      if (event.type !== 'error' || openedSession === session) onSessionEvent(event);
    };
    const runHost = environment ? { ...host, ...ownEnvironmentOpener(environment) } : host;
    const base = command.base ? await openPickedBase(command.base) : null;
    if (base && session?.base) {
      await checkPossible(config, runHost, facts ?? null, from, base);
      await endForNext();
    }
    const stages = pausing(host, {
      isReplaced: () => openedSession !== null && openedSession !== session,
      isPaused: () => openedSession !== null && !running && !stepping,
    });
    const next = await openSession(config, { ...runHost, ...stages }, onEvent, {
      facts: facts ?? null,
      resumedFrom: from,
      openedBase: base,
    });
    openedSession = next;
    next.plan(changes);
    if (next.policy.lost && (await isLost(next.policy.lost))) {
      next.dispose();
      throw new DeviceLostError('it was lost while the run started.');
    }
    session?.dispose();
    [session, endedForNext] = [next, false];
    fallback = withFallback ? openFallback(post, host.now) : null;
    update = from?.progress.update ?? 0;
    if (from) fallback?.replaceWith(from);
    if (command.kept) next.history.keepBatch(command.kept.batch, command.kept.config);
    meter.reset();
    willLearn = false;
    running = run;
  } catch (error) {
    if (session) ({ running, stepping } = previous);
    throw error;
  } finally {
    postRunning();
    void pump();
  }
}

/**
 * Ends the current run before the next one opens, because two base models would not fit in memory together. Its last
 * checkpoint is posted first.
 */
async function endForNext(): Promise<void> {
  fallback?.postNow();
  end();
  endedForNext = true;
  while (pumping) await host.yieldToEvents(); // the pull in progress still holds memory
}

/** Pulls and posts events while the run is running or stepping. Only one pump runs at a time. */
async function pump(): Promise<void> {
  if (pumping) return;
  pumping = true;
  let pulledSession: Session | null = null;
  try {
    while (session && (running || stepping)) {
      pulledSession = session;
      meter.beforePull();
      const next = await pulledSession.events.next();
      meter.afterPull();
      if (pulledSession !== session) continue; // a new run has replaced it
      if (next.done === true) throw new Error('The training loop ended by itself.');
      const event: RunEvent = next.value;
      if (event.type === 'phase') faults.onPhase(event.phase);
      if (event.type === 'error' && event.cause === 'non-finite' && fallback) {
        rollBack(event.message);
        continue;
      }
      // a run can be resumed from here; a larger model can't take the state of the smaller one
      const canResume =
        event.type === 'metrics' ||
        event.type === 'imitated' ||
        (event.type === 'imitation-changed' && event.larger !== undefined);
      if (canResume) {
        const isKept = await keepState(pulledSession, event);
        if (!isKept || pulledSession !== session) continue;
        if (event.type === 'metrics') update = event.update;
      }
      if (event.type === 'running') {
        running = event.running;
        if (!running) stepping = null;
      }
      const stepIsNext = event.type === 'phase' && event.phase === 'updating'; // the next pull takes an optimizer step
      hasLearned ||= willLearn && event.type !== 'configured';
      willLearn = stepIsNext || (willLearn && event.type === 'configured');
      // the last optimizer step of an update ends with the update's `metrics`
      const ended = event.type === 'metrics' && update > 0;
      const stepped = ended
        ? stepping === 'update' || hasLearned
        : stepIsNext && hasLearned && stepping === 'optimizer-step';
      // a step of imitation counts as a step of either type
      const done = stepping !== null && (stepped || event.type === 'imitated');
      // before anything is awaited: the page may ask for another step meanwhile
      if (done) stepping = null;
      post(event);
      if (canResume) fallback?.postIfCheap(); // after `post`, so the page has the checkpoint's numbers first
      const times = await meter.noteEvent(event, pulledSession.policy);
      if (times) post({ type: 'times', times });
      if (done && !stepping) postRunning();
      await host.yieldToEvents();
    }
    fallback?.postNow();
  } catch (failure) {
    const error = await causeOf(failure, pulledSession?.policy.lost);
    // if the run was replaced or its device lost, the error is not reported
    if (pulledSession === session) {
      if (error instanceof EnvironmentFileError && fallback?.last()) pauseAtFault(error);
      else {
        fallback?.postNow();
        end(); // a generator that threw cannot go on
        post(errorEvent(error, true, ownFile));
      }
    }
  } finally {
    pumping = false;
    if (session && (running || stepping)) void pump();
    else await meter.pause(session?.policy);
  }
}

/**
 * Keeps the current weights for later questions. A run that was started with `withFallback` also keeps them as its
 * fallback. If a number is not finite, rolls back and returns false. Also returns false if the run was replaced.
 */
async function keepState(
  from: Session,
  event: Extract<RunEvent, { type: 'metrics' | 'imitated' | 'imitation-changed' }>,
): Promise<boolean> {
  const reading = from.checkpoint();
  faults.onMoment('save');
  const checkpoint = await reading;
  if (from !== session) return false;
  const culprit = fallback?.replaceWith(checkpoint) ?? '';
  if (culprit) rollBack(`After ${progressText(checkpoint)} a number is not finite in ${culprit}.`);
  else if (event.type === 'metrics') from.history.keepState(event.update, checkpoint.networks.policy);
  return !culprit;
}

/** Pauses the run and returns it to its last state in which all numbers were finite. */
function rollBack(what: string): void {
  const message = `${what} Rolled back to ${progressText(restoreLast(what))}; the run is paused.`;
  const hint = 'Go on with a tenth of the learning rate, undo the change that made the number grow, or reset.';
  post({ type: 'error', message, hint, fatal: false, fields: ['learningRate', 'maxGradNorm'], cause: 'non-finite' });
  postRunning();
}

/**
 * Pauses the run because its environment has a fault. The run returns to its state after the last update; no finished
 * update is lost.
 */
function pauseAtFault(fault: EnvironmentFileError): void {
  const last = restoreLast(fault.message);
  fallback?.postNow();
  const failure = errorEvent(fault, false, ownFile);
  post({ ...failure, message: `${failure.message} The run is paused at ${progressText(last)}.` });
  postRunning();
}

/** Pauses the run and restores its last checkpoint. Returns that checkpoint. */
function restoreLast(why: string): Checkpoint {
  const last = fallback?.last();
  if (!session || !last) throw new Error(`${why} There is no earlier update to go back to.`);
  [running, stepping] = [false, null];
  session.restore(last);
  meter.reset();
  update = last.progress.update;
  return last;
}

function end(): void {
  [running, stepping] = [false, null];
  session?.dispose();
  session = null;
  fallback = null;
}

/**
 * Posts the events of a session: those while it opens, and later the loss of its GPU. In that case the last checkpoint
 * is posted first, then the run ends.
 */
function onSessionEvent(event: RunEvent): void {
  if (event.type === 'ready') fallback?.postNow(); // the last checkpoint of the run that is replaced
  if (event.type === 'error' && event.cause === 'device-lost') {
    fallback?.postNow();
    end();
  }
  post(event);
}

postSignsOfLife(() => post({ type: 'alive', holds: false }));

globalThis.addEventListener('message', ({ data }: MessageEvent<RunCommand>) => {
  if (data.type === 'live') holdForLife(data.lock, () => post({ type: 'alive', holds: true }));
  else if (data.type === 'play') {
    const { id, task } = data;
    void playSetupFor(host, { facts: ownFacts, file: ownFile }, session, task.config)
      .then((setup) => play(task, setup))
      .catch((error: unknown): Answer => ({ kind: 'refused', message: String(error) }))
      .then((answer) => post({ type: 'answer', id, answer }));
  } else if (data.type === 'folder') {
    const { id, task } = data;
    void doFolderTask(task, host).then((answer) => post({ type: 'answer', id, answer }));
  } else if (data.type === 'inject' && data.fault === 'device-loss' && session)
    void faults.inject(data.fault, data.moment);
  else {
    if (data.type === 'start') {
      ownFacts = data.facts ?? ownFacts;
      ownFile = data.environment ?? ownFile;
    }
    // Commands run one after another, but do not wait for the pump: a run can be paused while it runs.
    commandQueue = commandQueue.then(() => runCommand(data)).catch(postError);
  }
});

/**
 * Posts an error. It is fatal if no run is left: the old run was ended for a new one that failed to start, or the
 * device was lost.
 */
function postError(error: unknown): void {
  post(errorEvent(error, session === null && (endedForNext || error instanceof DeviceLostError), ownFile));
}

/**
 * Takes a lock that becomes free only when this worker ends, for whatever reason. Calls `onHeld` once the lock is
 * taken.
 */
function holdForLife(lock: string, onHeld: () => void): void {
  // absent on plain http: then the page only notices a dead worker by its silence
  const { locks } = navigator as Partial<Navigator>;
  void locks?.request(lock, () => {
    onHeld();
    return new Promise(() => undefined);
  });
}

/**
 * Opens the checkpoint of the files that a person picked. The reader is only loaded here. Throws as `openBase` does.
 */
async function openPickedBase({
  name,
  files,
}: NonNullable<Extract<RunCommand, { type: 'start' }>['base']>): Promise<BaseCheckpoint> {
  const { openBase } = await import('./speaking/textCheckpoint.ts');
  return openBase(
    name,
    files.map(({ path, file }) => ({ path, source: blobSource(path, file) })),
  );
}
