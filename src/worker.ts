import { readCheckpoint } from './runs/checkpoint.ts';
import { deviceLost, errorEvent } from './session/errorEvent.ts';
import type { Facts } from './facts/facts.ts';
import { openFallback, type FallbackCheckpoint } from './worker/fallbackCheckpoint.ts';
import type { RunCommand } from './wire/commands.ts';
import { Faults } from './worker/faults.ts';
import { causeOf, DeviceLostError, isLost } from './gpu/device.ts';
import { holdForLife } from './worker/aliveLock.ts';
import type { RunEvent } from './wire/events.ts';
import type { Answer } from './wire/questions.ts';
import { openTable } from './session/playTable.ts';
import { RunMeter } from './session/runMeter.ts';
import { learningMath } from './rl/plainLearningMath.ts';
import { checkPossible, openSession, type Session } from './session/session.ts';
import { standing } from './runs/standing.ts';
import { answering } from './worker/sessionAnswers.ts';
import { doFolderTask } from './worker/folderTasks.ts';
import { openHost } from './worker/workerHost.ts';
import { playSetupFor } from './worker/playSetup.ts';
import { openPickedBase } from './worker/openPickedBase.ts';
import { pausing } from './worker/pausing.ts';
import { BackgroundTuning } from './session/tuning.ts';
import { browserStore } from './session/tuningStore.ts';

/** The composition root in the page: gpu → policy → train → events. Pausing is not pulling; a step is pulling once. */
let session: Session | null = null;
let fallback: FallbackCheckpoint | null = null; // of a guarded run
let running = false;
let stepping: 'update' | 'optimizer-step' | null = null;
let learning = false; // the next pull takes an optimizer step
let learned = false; // one was taken since it was asked for
let pumping = false;
let update = 0;
let gaveWay = false; // a run ended for one that is yet to open
let turn: Promise<void> = Promise.resolve();
const play = openTable();
const ask = answering(() => session, post);
const meter = new RunMeter(() => performance.now());
const tuning = new BackgroundTuning({
  ...{ store: browserStore(), browser: navigator.userAgent, math: learningMath },
  now: () => performance.now(),
});
let ownFacts: Facts | null = null; // those of the last run that had some

const host = openHost(tuning, () => meter.fenced);

const faults = new Faults({
  gpu: host.gpu,
  policy: () => session?.policy ?? null,
  lose: (reason) => hear(deviceLost(reason, true)),
});

function post(event: RunEvent): void {
  // structured clone, no transfer: a batch's arrays may still be the policy's own, and they are small
  globalThis.postMessage(event);
}

function say(): void {
  const finished = !running && update > 0 && session !== null && update >= session.config().updates;
  post({ type: 'running', running, update, finished });
}

async function obey(command: Exclude<RunCommand, { type: 'play' | 'folder' | 'live' | 'ping' }>): Promise<void> {
  switch (command.type) {
    case 'start':
      return start(command);
    case 'configure':
      return session?.configure(command.changes);
    case 'prefer':
      session?.prefer(command.better, command.worse);
      return fallback?.taught(command.better, command.worse);
    case 'run':
      running = session !== null;
      break;
    case 'pause':
      running = false;
      break;
    case 'inject':
      return faults.inject(command.fault, command.moment);
    case 'profile':
      return meter.ask(
        tuning.telling((answer) => post({ type: 'answer', id: command.id, answer })),
        session?.policy,
        pumping,
      );
    case 'fence':
      meter.fenced = command.on;
      return;
    case 'hold':
      session?.history.hold(command.update);
      return;
    case 'ask':
      return session?.base ? void ask(command) : ask(command); // a pause does not wait for an answer of seconds
    case 'step':
      running = false;
      stepping = session && command.scale;
      learned = false;
  }
  if (command.type !== 'step') say();
  void pump();
}

/** A new run takes the place of the old one once it is known to be possible. */
async function start(command: Extract<RunCommand, { type: 'start' }>): Promise<void> {
  const { config, facts, run, guarded = false } = command;
  const before = { running, stepping };
  [running, stepping] = [false, null];
  try {
    const from = command.from === undefined ? null : readCheckpoint(command.from);
    let opened: Session | null = null;
    const heard = (event: RunEvent) => {
      if (event.type === 'phase' && event.done > 0) faults.reach('start');
      // of a device that goes while the run opens, the failure to open it tells
      if (event.type !== 'error' || opened === session) hear(event);
    };
    const base = command.base ? await openPickedBase(command.base) : null;
    if (base && session?.base) {
      await checkPossible(config, host, facts ?? null, from, base);
      await giveWay();
    }
    const stages = pausing(host, {
      gone: () => opened !== null && opened !== session,
      paused: () => opened !== null && !running && !stepping,
    });
    const next = await openSession(config, { ...host, ...stages }, heard, facts ?? null, from, base);
    opened = next;
    if (next.policy.lost && (await isLost(next.policy.lost))) {
      next.dispose();
      throw new DeviceLostError('it went while the run began.');
    }
    session?.dispose();
    [session, gaveWay] = [next, false];
    fallback = guarded ? openFallback(post, host.now) : null;
    update = from?.progress.update ?? 0;
    if (from) fallback?.take(from);
    if (command.kept) next.history.noteBatch(command.kept.batch, command.kept.config);
    meter.begin();
    learning = false;
    running = run;
  } catch (error) {
    if (session) ({ running, stepping } = before);
    throw error;
  } finally {
    say();
    void pump();
  }
}

/** The run that is there ends before the next one takes its memory, for two checkpoints would not fit; what it has learned is handed out. */
async function giveWay(): Promise<void> {
  fallback?.hand();
  end();
  gaveWay = true;
  while (pumping) await host.breathe(); // what is under way holds the memory, too
}

/** Pulls events while the run is on. Only one pump pulls at a time. */
async function pump(): Promise<void> {
  if (pumping) return;
  pumping = true;
  let pulled: Session | null = null;
  try {
    while (session && (running || stepping)) {
      pulled = session;
      meter.pulling();
      const next = await pulled.events.next();
      meter.pulled();
      if (pulled !== session) continue; // a new run took its place meanwhile
      if (next.done === true) throw new Error('The training loop ended by itself.');
      const event: RunEvent = next.value;
      if (event.type === 'phase') faults.enter(event.phase);
      if (event.type === 'error' && event.cause === 'non-finite' && fallback) {
        rollBack(event.message);
        continue;
      }
      const rests = event.type === 'metrics' || event.type === 'imitated'; // it can be gone on with from here
      if (rests) {
        const kept = await keep(pulled, event);
        if (!kept || pulled !== session) continue;
        if (event.type === 'metrics') update = event.update;
      }
      if (event.type === 'running') {
        running = event.running;
        if (!running) stepping = null;
      }
      post(event);
      if (rests) fallback?.offer(); // once the page has the numbers that belong to it
      const times = await meter.hear(event, pulled.policy);
      if (times) post({ type: 'times', times });
      if (event.type === 'metrics') await tuned();
      const before = event.type === 'phase' && event.phase === 'updating'; // before an optimizer step
      learned ||= learning && event.type !== 'configured';
      learning = before || (learning && event.type === 'configured');
      // the last optimizer step of an update brings the update's numbers with it
      const ended = event.type === 'metrics' && update > 0;
      const stepped = ended ? stepping === 'update' || learned : before && learned && stepping === 'optimizer-step';
      const done = stepped || event.type === 'imitated'; // one step of it is a step at either scale
      if (stepping && done) {
        stepping = null;
        say();
      }
      await host.breathe();
    }
    fallback?.hand();
  } catch (failure) {
    const error = await causeOf(failure, pulled?.policy.lost);
    // a run that was replaced or lost meanwhile has no more to say
    if (pulled === session) {
      fallback?.hand();
      end(); // a generator that threw is over
      post(errorEvent(error, true));
    }
  } finally {
    pumping = false;
    if (session && (running || stepping)) void pump();
    else await meter.pause(session?.policy);
  }
}

/** Keeps the weights for questions, and what a guarded run falls back on. False when it had to. */
async function keep(from: Session, rest: Extract<RunEvent, { type: 'metrics' | 'imitated' }>): Promise<boolean> {
  const reading = from.checkpoint();
  faults.reach('save');
  const checkpoint = await reading;
  if (from !== session) return false;
  const culprit = fallback?.take(checkpoint) ?? '';
  if (culprit) rollBack(`After ${standing(checkpoint)} a number is not finite in ${culprit}.`);
  else if (rest.type === 'metrics') from.history.noteState(rest.update, checkpoint.networks.policy);
  return !culprit;
}

/** Back to the last update that left only finite numbers, paused. */
function rollBack(what: string): void {
  const last = fallback?.last();
  if (!session || !last) throw new Error(`${what} There is no earlier update to go back to.`);
  [running, stepping] = [false, null];
  session.restore(last);
  meter.begin();
  update = last.progress.update;
  const message = `${what} Rolled back to ${standing(last)}; the run is paused.`;
  const hint = 'Go on with a tenth of the learning rate, or change what made it grow, or reset.';
  post({ type: 'error', message, hint, fatal: false, fields: ['learningRate', 'maxGradNorm'], cause: 'non-finite' });
  say();
}

function end(): void {
  [running, stepping] = [false, null];
  session?.dispose();
  session = null;
  fallback = null;
  tuning.end();
}

/** Passes on what a session says while it opens and, later, that its GPU is gone: then what was trained is handed out first. */
function hear(event: RunEvent): void {
  if (event.type === 'ready') fallback?.hand(); // of the run that is replaced
  if (event.type === 'error' && event.cause === 'device-lost') {
    fallback?.hand();
    end();
  }
  post(event);
}

/** A slice of measuring kernels. It runs on devices of its own: that they are gone is no harm to the run. */
async function tuned(): Promise<void> {
  try {
    await tuning.between();
  } catch {
    tuning.end();
  }
}

globalThis.addEventListener('message', ({ data }: MessageEvent<RunCommand>) => {
  if (data.type === 'ping') post({ type: 'alive', holds: false });
  else if (data.type === 'live') holdForLife(data.lock, () => post({ type: 'alive', holds: true }));
  else if (data.type === 'play') {
    const { id, task } = data;
    void playSetupFor(host, ownFacts, session, task.config)
      .then((setup) => play(task, setup))
      .catch((error: unknown): Answer => ({ kind: 'refused', message: String(error) }))
      .then((answer) => post({ type: 'answer', id, answer }));
  } else if (data.type === 'folder') {
    const { id, task } = data;
    void doFolderTask(task, host).then((answer) => post({ type: 'answer', id, answer }));
  } else if (data.type === 'inject' && data.fault === 'device-loss' && session)
    void faults.inject(data.fault, data.moment);
  else {
    if (data.type === 'start') ownFacts = data.facts ?? ownFacts;
    // commands wait for each other, not for the pump: a run can be paused while it runs
    turn = turn.then(() => obey(data)).catch(tell);
  }
});

/** A start that failed took the run before it along where that is gone, too. */
function tell(error: unknown): void {
  post(errorEvent(error, session === null && (gaveWay || error instanceof DeviceLostError)));
}
