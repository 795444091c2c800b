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
import type { PickedModel } from '../../wire/readerMessages.ts';
import { RunClient, type ForwardedEvent } from './runClient.ts';
import { addressPlan, plannedChanges, useConfig } from '../knobs/configStore.ts';
import { pendingLive } from '../knobs/pendingKnobs.ts';
import { fetchBatch, isOnlyInWorker } from '../view/batches.ts';
import { type RunData, flush, applyEvent, type ResumeRequest } from './runEvents.ts';
import { type Problem, setProblem, useLive } from '../view/liveStore.ts';
import { latestCheckpoint, saveNow, takeCheckpoint } from '../runs/saving.ts';
import { bindRecorder } from '../runs/liveRun.ts';
import { useSelection } from '../view/selectionStore.ts';
import { SILENT_WORDS } from '../browser/workerClient.ts';

const CONFIGURE_MS = 60; // while a slider is dragged, its value is sent at this interval
const MORE_UPDATES = 50; // added when a finished run is continued

let client: RunClient | null = null;
let fenced = false; // see `fence`
let facts: Facts | null = null; // the person's own facts, for the next run
let environment: EnvironmentFile | null = null; // the person's own environment, for the next run
let runData: RunData = { facts: null, environment: null }; // facts and environment of the run that was started last
let baseModel: PickedModel | null = null; // the checkpoint for runs that train adapters
let resuming: ResumeRequest | null = null; // a saved run that is being opened
let waitingForModel: ResumeRequest | null = null; // a saved run that needs its checkpoint first
let configureTimer: ReturnType<typeof setTimeout> | undefined;

export function run(): void {
  const { session } = useLive.getState();
  if (session === 'ready') {
    sendChanges();
    useLive.setState({ running: true, stepping: false, finished: false });
    send({ type: 'run', more: MORE_UPDATES });
  } else if (session !== 'starting') begin(true);
}

/** Starts the saved run that waits for its checkpoint, or a fresh run if none waits. */
function begin(running: boolean): void {
  if (waitingForModel && useConfig.getState().wanted.model === 'checkpoint')
    startFrom(waitingForModel.run, waitingForModel);
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
  if (useLive.getState().session === 'none') return; // nothing could be started
  useLive.setState({ running: false, stepping: true });
  send({ type: 'step', scale });
}

/** The current run stays until the new one is known to be possible. */
export function start(running: boolean): void {
  [resuming, waitingForModel] = [null, null];
  const { startConfig: config, changes } = addressPlan(useConfig.getState());
  if (config.env === YOUR_ENVIRONMENT && !environment) setProblem(NO_ENVIRONMENT);
  else {
    launch({ config, run: running, changes, ...dataFor(config, { facts, environment }), ...checkpointFor(config) });
  }
}

const NO_ENVIRONMENT: Problem = {
  message: 'There is no environment to train on yet.',
  hint: 'Write one or open a file. A link to a run never includes its environment.',
  ...{ fatal: false, fields: [], cause: 'needs-environment' },
};

/** Paused unless `running`. The current run stays until this is known to be possible. `from`: where the run was saved. */
export function startFrom(run: Run, from: Omit<ResumeRequest, 'run'> = {}, running = false): void {
  const { checkpoint } = run;
  if (!checkpoint) return; // without a checkpoint the run can only be viewed
  resuming = { ...from, run };
  if (run.environment) setEnvironment(run.environment); // a reset uses it again
  const ownData = { facts: run.facts ?? facts, environment };
  const lastBatch = run.batches.at(-1);
  launch({
    config: checkpoint.begun,
    from: checkpoint,
    run: running,
    changes: plannedChanges(checkpoint.begun),
    ...dataFor(checkpoint.begun, ownData),
    ...(lastBatch && { kept: lastBatch }),
    ...checkpointFor(checkpoint.begun),
  });
}

/** The person's own data that a run with these knobs needs. */
const dataFor = ({ env }: RunConfig, own: RunData) => ({
  ...(own.facts && { facts: own.facts }),
  ...(env === YOUR_ENVIRONMENT && own.environment && { environment: own.environment }),
});

const checkpointFor = ({ model }: RunConfig) => (model === 'checkpoint' && baseModel ? { base: baseModel } : {});

function launch(command: Omit<Extract<RunCommand, { type: 'start' }>, 'type' | 'withFallback'>): void {
  const runClient = (client ??= spawn());
  const session = useLive.getState().session === 'ready' ? 'ready' : 'starting';
  runData = { facts: command.facts ?? null, environment: command.environment ?? null };
  const server = serverNamed(runData.environment) ?? useLive.getState().server;
  useLive.setState({ session, running: command.run, stepping: false, problem: null, server });
  runClient.send({ type: 'start', withFallback: true, ...command });
  // the address may select an update that is not trained yet
  runClient.send({ type: 'hold', update: useSelection.getState().shownUpdate });
}

/** For tests and teachers. `at` names the moment at which the GPU is lost. Throws RangeError for unknown names. */
export function inject(wanted: string, at = 'now'): void {
  const fault = FAULTS.find((each) => each === wanted);
  if (!fault) throw new RangeError(`inject: “${wanted}” isn’t a fault. Use ${FAULTS.join(' or ')}.`);
  const moment = MOMENTS.find((each) => each === at);
  if (!moment) throw new RangeError(`inject: “${at}” isn’t a moment. Use ${MOMENTS.join(' or ')}.`);
  client ??= spawn(); // the failure may be set before a run starts
  send({ type: 'inject', fault, moment });
}

/** Ends a worker that doesn't answer. The last state that it sent can be recovered. */
export function endWorker(): void {
  if (!client) return;
  terminate('You stopped the training worker.');
  useLive.setState({ session: 'failed', running: false });
}

/** Ends the worker, because a file could keep it busy forever. A saved run stays saved. */
export function cancelStart(): void {
  if (useLive.getState().session !== 'starting') return;
  flush();
  terminate('The start was cancelled.');
  [resuming, waitingForModel] = [null, null];
  useLive.setState({ session: 'none', running: false, stepping: false, phase: 'idle', problem: null });
}

export function setFacts(newFacts: Facts | null): void {
  facts = newFacts;
}

/** Sets the person's own environment for the next runs. Its program runs as soon as such a run starts. */
export function setEnvironment(file: EnvironmentFile): void {
  environment = file;
  useLive.setState({ ownEnvironment: environmentTitle(file) });
}

/** Continues from the paused update or else from the start. The program runs. */
export function continueWithEnvironment(file: EnvironmentFile): void {
  setEnvironment(file);
  const paused = latestCheckpoint() ?? resuming?.run ?? null;
  if (paused) startFrom(withEnvironment(paused, file), resuming ?? {}, true);
  else start(true);
}

export const nextEnvironment = (): EnvironmentFile | null => environment;

export function setModel(model: PickedModel): void {
  baseModel = model;
}

export const nextModel = (): PickedModel | null => baseModel;

/** The saved run that waits until the checkpoint of its adapters is opened; null if none does. */
export const pendingRun = (): ResumeRequest | null => waitingForModel;

/** Goes back to update 0, paused. @public */
export function reset(): void {
  if (useLive.getState().session !== 'none') start(false);
}

export function prefer(better: Attempt, worse: Attempt): void {
  send({ type: 'prefer', better, worse });
}

/** Asks the run about a kept rollout. This does not change the run. */
export function ask(question: Question): Promise<Answer> {
  return askWorker((id) => ({ type: 'ask', id, question }), 'There is no run to ask. Run training first.');
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

/** Makes a zip from a run, or a run from files, for example. Needs no open run and does not touch one. */
export function convert(task: FolderTask): Promise<Answer> {
  return (client ??= spawn()).ask((id) => ({ type: 'folder', id, task }));
}

/** While on, each stage of an update waits for the device, so its time covers only its own work. */
export function fence(on: boolean): void {
  fenced = on;
  send({ type: 'fence', on });
}

/** Makes the run time its kernels and report the times. This does not change the run. */
export function measure(): Promise<Answer> {
  return askWorker((id) => ({ type: 'profile', id }), 'There is no run to measure. Run training first.');
}

/** Ends imitation early: RL begins after the step under way. */
export function endImitation(): void {
  send({ type: 'end-imitation' });
}

/** Sends a question to the worker. Without a worker it is refused with `noWorkerMessage`. */
function askWorker(command: (id: number) => RunCommand, noWorkerMessage: string): Promise<Answer> {
  return client?.ask(command) ?? Promise.resolve({ kind: 'refused', message: noWorkerMessage });
}

function send(command: RunCommand): void {
  client?.send(command);
}

function spawn(): RunClient {
  const newClient = new RunClient({ onEvent: handleEvent, onLoss: handleLoss, onSilence });
  if (fenced) newClient.send({ type: 'fence', on: true });
  return newClient;
}

/** Updates the engine's own state after an event. `runEvents.ts` updates the stores. */
function handleEvent(event: ForwardedEvent): void {
  if (event.type === 'checkpoint') takeCheckpoint(event);
  else applyEvent(event, resuming, runData);
  if (event.type === 'ready') {
    [resuming, waitingForModel] = [null, null];
    sendChanges();
  }
  if (event.type === 'error' && event.cause === 'needs-model') waitingForModel = resuming;
  if (event.type === 'running' && !event.running) saveNow();
  if (event.type === 'error' && event.fatal) terminate(event.message);
}

function onSilence(silent: boolean): void {
  if (!silent) {
    useLive.setState(({ problem }) => ({ problem: problem?.cause === 'silent' ? null : problem }));
    return;
  }
  setProblem({
    message: `The training worker ${SILENT_WORDS}.`,
    hint: runData.environment
      ? 'Your environment may compute for very long, as it opens or in a call. This message goes away when the worker answers. If it is stuck, end it: the run is kept as it was last saved.'
      : 'It may be busy with a large model; this message goes away when it answers. If it is stuck, end it.',
    ...{ fatal: false, fields: [], cause: 'silent' },
  });
}

function handleLoss(message: string): void {
  flush();
  const hint = 'Recover from the last update, or start again. Curves and rollouts so far stay on the page.';
  setProblem({ message, hint, fatal: true, fields: [], cause: 'worker-lost' });
  terminate(message);
}

function terminate(message: string): void {
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

/** Sends live knobs while they change, and redraws when the page becomes visible again. Returns a function that stops both. */
export function bindEngine(): () => void {
  const stopConfig = useConfig.subscribe((state, before) => {
    if (state.wanted === before.wanted || !state.applied) return;
    configureTimer ??= setTimeout(() => {
      configureTimer = undefined;
      sendChanges();
    }, CONFIGURE_MS);
  });
  const stopShownUpdate = useSelection.subscribe((state, before) => {
    const { shownUpdate } = state;
    if (shownUpdate === before.shownUpdate) return;
    flush({ atOnce: true }); // a component that asks for the batch should find it at once
    send({ type: 'hold', update: shownUpdate });
    if (shownUpdate !== null && isOnlyInWorker(shownUpdate))
      void fetchBatch(shownUpdate, ask).then(() => flush({ atOnce: true }));
  });
  const stopRecorder = bindRecorder();
  const onVisibilityChange = () => (document.hidden ? saveNow() : flush());
  document.addEventListener('visibilitychange', onVisibilityChange);
  addEventListener('pagehide', saveNow);
  return () => {
    stopConfig();
    stopShownUpdate();
    stopRecorder();
    document.removeEventListener('visibilitychange', onVisibilityChange);
    removeEventListener('pagehide', saveNow);
    terminate('The page was closed.');
  };
}
