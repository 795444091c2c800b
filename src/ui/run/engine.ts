import type { RunConfig } from '../../config/fields.ts';
import { YOUR_ENVIRONMENT } from '../../config/environments.ts';
import type { EnvironmentFile } from '../../domain/environmentFile.ts';
import { environmentTitle, serverNamed } from '../../domain/serverAddress.ts';
import type { Facts } from '../../facts/facts.ts';
import { FAULTS, MOMENTS, type RunCommand } from '../../wire/commands.ts';
import type { PlayedTask } from '../../domain/playedTask.ts';
import type { Attempt } from '../../domain/preferences.ts';
import type { FolderTask } from '../../wire/folderMessages.ts';
import type { Answer, Question } from '../../wire/questions.ts';
import { withEnvironment } from '../../runs/withEnvironment.ts';
import type { Run } from '../../runs/run.ts';
import type { PickedModel } from './pickedModel.ts';
import { RunClient, type ForwardedEvent } from './runClient.ts';
import { addressed, plannedFor, useConfig } from '../knobs/configStore.ts';
import { fetchBatch, isElsewhere } from './batches.ts';
import { type OwnData, flush, applyEvent, type Resuming } from './runEvents.ts';
import { type Problem, setProblem, useLive } from './liveStore.ts';
import { pendingLive } from './pendingKnobs.ts';
import { latestCheckpoint, saveNow, takeCheckpoint } from '../runs/saving.ts';
import { bindRecorder } from '../runs/recorder.ts';
import { useSelection } from '../shell/selectionStore.ts';
import { SILENT_WORDS } from './workerWatch.ts';

const CONFIGURE_MS = 60; // a dragged slider speaks this often
const MORE_UPDATES = 50;

let client: RunClient | null = null;
let fenced = false; // see `fence`
let facts: Facts | null = null; // a person's own
let environment: EnvironmentFile | null = null; // that the person wrote, or has agreed to run
let brought: OwnData = { facts: null, environment: null }; // by the run that was asked for last
let base: PickedModel | null = null; // the checkpoint that runs on one put adapters beside
let resuming: Resuming | null = null; // asked for, not there yet
let waiting: Resuming | null = null; // for the checkpoint that it learns beside
let configureTimer: ReturnType<typeof setTimeout> | undefined;

/** Starts training, or goes on with it. */
export function run(): void {
  const { session, finished, update } = useLive.getState();
  if (session === 'ready') {
    if (finished) useConfig.setState((s) => ({ wanted: { ...s.wanted, updates: update + MORE_UPDATES } }));
    sendChanges();
    useLive.setState({ running: true, stepping: false, finished: false });
    send({ type: 'run' });
  } else if (session !== 'starting') begin(true);
}

/** Starts the saved run that waits for its checkpoint, or a fresh run if none waits. */
function begin(running: boolean): void {
  if (waiting && useConfig.getState().wanted.model === 'checkpoint') startFrom(waiting.run, waiting);
  else start(running);
}

/** Pauses the run. The stage that the device is computing is finished first. @public */
export function pause(): void {
  useLive.setState({ running: false, stepping: false });
  send({ type: 'pause' });
}

/** Trains one update or one optimizer step, then pauses. @public */
export function step(scale: 'update' | 'optimizer-step'): void {
  if (useLive.getState().session === 'none' || useLive.getState().session === 'failed') begin(false);
  else sendChanges();
  if (useLive.getState().session === 'none') return; // nothing could begin
  useLive.setState({ running: false, stepping: true });
  send({ type: 'step', scale });
}

/** A fresh run with the knobs as the page shows them; a run that is there stays until the new one is possible. */
export function start(running: boolean): void {
  [resuming, waiting] = [null, null];
  const { begun: config, changes } = addressed(useConfig.getState());
  if (config.env === YOUR_ENVIRONMENT && !environment) setProblem(NO_ENVIRONMENT);
  else {
    launch({ config, run: running, changes, ...broughtTo(config, { facts, environment }), ...besides(config) });
  }
}

const NO_ENVIRONMENT: Problem = {
  message: 'There is no environment to train on yet.',
  hint: 'Write one or open a file. A link to a run never includes its environment.',
  ...{ fatal: false, fields: [], cause: 'needs-environment' },
};

/** Goes on from a checkpoint, paused unless told otherwise; a run that is there stays until that is known to be possible. `from`: the place it was kept at. */
export function startFrom(run: Run, from: Omit<Resuming, 'run'> = {}, running = false): void {
  const { checkpoint } = run;
  if (!checkpoint) return; // it can only be looked at
  resuming = { ...from, run };
  if (run.environment) setEnvironment(run.environment); // a reset begins on it again
  const own = { facts: run.facts ?? facts, environment };
  const kept = run.batches.at(-1);
  launch({
    config: checkpoint.begun,
    from: checkpoint,
    run: running,
    changes: plannedFor(checkpoint.begun),
    ...broughtTo(checkpoint.begun, own),
    ...(kept && { kept }),
    ...besides(checkpoint.begun),
  });
}

/** What goes along with a run of these knobs of all that a person brought. */
const broughtTo = ({ env }: RunConfig, own: OwnData) => ({
  ...(own.facts && { facts: own.facts }),
  ...(env === YOUR_ENVIRONMENT && own.environment && { environment: own.environment }),
});

const besides = ({ model }: RunConfig) => (model === 'checkpoint' && base ? { base } : {});

function launch(command: Omit<Extract<RunCommand, { type: 'start' }>, 'type' | 'guarded'>): void {
  const own = (client ??= spawn());
  const session = useLive.getState().session === 'ready' ? 'ready' : 'starting';
  brought = { facts: command.facts ?? null, environment: command.environment ?? null };
  const server = serverNamed(brought.environment) ?? useLive.getState().server; // from now on
  useLive.setState({ session, running: command.run, stepping: false, problem: null, server });
  own.send({ type: 'start', guarded: true, ...command });
  own.send({ type: 'hold', update: useSelection.getState().held }); // an address may hold one that is yet to come
}

/** Brings a failure about, for tests and teachers; a lost GPU at a moment that may be named. Throws RangeError on one that is unknown. */
export function inject(wanted: string, at = 'now'): void {
  const fault = FAULTS.find((each) => each === wanted);
  if (!fault) throw new RangeError(`inject: “${wanted}” isn’t a fault. Use ${FAULTS.join(' or ')}.`);
  const moment = MOMENTS.find((each) => each === at);
  if (!moment) throw new RangeError(`inject: “${at}” isn’t a moment. Use ${MOMENTS.join(' or ')}.`);
  client ??= spawn(); // one that is to fail while it starts
  send({ type: 'inject', fault, moment });
}

/** Ends a worker that does not answer; what it has handed out last can be recovered. */
export function endWorker(): void {
  if (!client) return;
  end('You stopped the training worker.');
  useLive.setState({ session: 'failed', running: false });
}

/** Ends a run that is being opened, and the worker with it: a file may keep it busy for as long as it likes. A saved run stays saved. */
export function cancelStart(): void {
  if (useLive.getState().session !== 'starting') return;
  flush();
  end('The start was cancelled.');
  [resuming, waiting] = [null, null];
  useLive.setState({ session: 'none', running: false, stepping: false, phase: 'idle', problem: null });
}

/** What runs begun from now on ask about, where they ask about a person's own facts. */
export function setFacts(own: Facts | null): void {
  facts = own;
}

/** What runs begun from now on train on, where that is an environment that a person wrote: it is run as soon as one begins. */
export function setEnvironment(own: EnvironmentFile): void {
  environment = own;
  useLive.setState({ ownEnvironment: environmentTitle(own) });
}

/** Goes on, running, with another text of the environment that failed: from where the run is paused, else from the start. It is run. */
export function continueWithEnvironment(file: EnvironmentFile): void {
  setEnvironment(file);
  const paused = latestCheckpoint() ?? resuming?.run ?? null;
  if (paused) startFrom(withEnvironment(paused, file), resuming ?? {}, true);
  else start(true);
}

/** The environment that a person wrote and runs begun from now on train on; null before the first. */
export const nextEnvironment = (): EnvironmentFile | null => environment;

/** The checkpoint that runs begun from now on put adapters beside, where they learn beside one. */
export function setModel(given: PickedModel): void {
  base = given;
}

/** That checkpoint; null before the first. */
export const nextModel = (): PickedModel | null => base;

/** The saved run that was asked for and waits for the checkpoint that it learns beside. */
export const pendingRun = (): Resuming | null => waiting;

/** Back to update 0, not running. @public */
export function reset(): void {
  if (useLive.getState().session !== 'none') start(false);
}

/** Tells the reward model what a person thinks of two rollouts of one prompt. */
export function prefer(better: Attempt, worse: Attempt): void {
  send({ type: 'prefer', better, worse });
}

/** Asks the run about a kept rollout. This does not change the run. */
export function ask(question: Question): Promise<Answer> {
  return pose((id) => ({ type: 'ask', id, question }), 'There is no run to ask. Run training first.');
}

/** Plays a task with a person's tokens in place of the agent's. It needs no run and does not touch one. */
export function play(task: PlayedTask): Promise<Answer> {
  return (client ??= spawn()).ask((id) => ({ type: 'play', id, task }));
}

/** The size of the model that a run with these knobs would train. It needs no run and does not touch one. */
export function weigh(config: RunConfig): Promise<Answer> {
  const written = config.env === YOUR_ENVIRONMENT ? environment : null;
  return convert({ kind: 'weigh', config, facts, environment: written });
}

/** Makes a zip from a run, or a run from files. It needs no open run and does not touch one. */
export function convert(task: FolderTask): Promise<Answer> {
  return (client ??= spawn()).ask((id) => ({ type: 'folder', id, task }));
}

/** While it is on, each stage of an update waits for the device, so that the time measured for a stage is its own. */
export function fence(on: boolean): void {
  fenced = on;
  send({ type: 'fence', on });
}

/** Has the run time its kernels and report on them. This does not change the run. */
export function measure(): Promise<Answer> {
  return pose((id) => ({ type: 'profile', id }), 'There is no run to measure. Run training first.');
}

function pose(command: (id: number) => RunCommand, without: string): Promise<Answer> {
  return client?.ask(command) ?? Promise.resolve({ kind: 'refused', message: without });
}

function send(command: RunCommand): void {
  client?.send(command);
}

function spawn(): RunClient {
  const made = new RunClient({ onEvent: receive, onLoss: lose, onSilence: silent });
  if (fenced) made.send({ type: 'fence', on: true });
  return made;
}

/** What the page makes of an event is in `runEvents.ts`; here is what the engine does with it. */
function receive(event: ForwardedEvent): void {
  if (event.type === 'checkpoint') takeCheckpoint(event);
  else applyEvent(event, resuming, brought);
  if (event.type === 'ready') {
    [resuming, waiting] = [null, null];
    sendChanges();
  }
  if (event.type === 'error' && event.cause === 'needs-model') waiting = resuming;
  if (event.type === 'running' && !event.running) saveNow();
  if (event.type === 'error' && event.fatal) end(event.message);
}

function silent(is: boolean): void {
  if (!is) {
    useLive.setState(({ problem }) => ({ problem: problem?.cause === 'silent' ? null : problem }));
    return;
  }
  setProblem({
    message: `The training worker ${SILENT_WORDS}.`,
    hint: brought.environment
      ? 'Your environment may compute for very long; this message goes away when the worker answers. If it is stuck, end it: the run is kept as it was last saved.'
      : 'It may be busy with a large model; this message goes away when it answers. If it is stuck, end it.',
    ...{ fatal: false, fields: [], cause: 'silent' },
  });
}

function lose(message: string): void {
  flush();
  const hint = 'Recover from the last update, or start again. Curves and rollouts so far stay on the page.';
  setProblem({ message, hint, fatal: true, fields: [], cause: 'worker-lost' });
  end(message);
}

function end(message: string): void {
  client?.terminate(message);
  client = null;
}

function sendChanges(): void {
  const { wanted, applied } = useConfig.getState();
  const changes = pendingLive(wanted, applied);
  if (Object.keys(changes).length === 0 || !client || !applied) return;
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
    const { held } = state;
    if (held === before.held) return;
    flush({ atOnce: true }); // who asks for a batch need not wait for it
    send({ type: 'hold', update: held });
    if (held !== null && isElsewhere(held)) void fetchBatch(held, ask).then(() => flush({ atOnce: true }));
  });
  const stopRecorder = bindRecorder();
  const onShown = () => (document.hidden ? saveNow() : flush());
  document.addEventListener('visibilitychange', onShown);
  addEventListener('pagehide', saveNow);
  return () => {
    stopConfig();
    stopHeld();
    stopRecorder();
    document.removeEventListener('visibilitychange', onShown);
    removeEventListener('pagehide', saveNow);
    end('The page was closed.');
  };
}
