import path from 'node:path';
import { EVALUATION_WORDS, evaluationSetOf } from '../domain/evaluationSet.ts';
import { GATE, gateSentences, passGate, rateText } from '../domain/passGate.ts';
import { BASELINES } from '../domain/baselines.ts';
import { checksumOf } from '../base/checksum.ts';
import { visible } from '../base/visible.ts';
import { warnings } from '../config/contradictions.ts';
import type { BaseCheckpoint } from '../checkpoints/baseCheckpoint.ts';
import type { RunConfig } from '../config/fields.ts';
import { ConfigError } from '../config/configProblem.ts';
import { problemText } from '../base/problem.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import type { Metrics } from '../domain/metrics.ts';
import type { Checkpoint } from '../runs/checkpoint.ts';
import { imitationLine, runLine, updateLine } from '../runs/log.ts';
import { nextStep } from '../runs/nextStep.ts';
import type { Run } from '../runs/run.ts';
import { hasBegun, progressText, runProgressText } from '../runs/progressText.ts';
import type { Declaration } from '../written/script/declaration.ts';
import { TERMS } from '../written/languageTerms.ts';
import { parseArguments, type TrainArguments, USAGE } from './arguments.ts';
import { type EventFile, eventFile } from './eventFile.ts';
import { callerPath, freeName } from './files.ts';
import { checkWritable } from './diskFolders.ts';
import { freshRun } from './freshRun.ts';
import { nodeHost } from './nodeHost.ts';
import { faultText, openEnvironmentFile } from './openEnvironmentFile.ts';
import { type OpenedServer, openServer } from '../openenv/openServer.ts';
import type { OpenedFile } from '../written/openWritten.ts';
import { openModelFiles } from './modelFiles.ts';
import { program } from './program.ts';
import { progress } from './progressBar.ts';
import { refuseSavedRun, runToResume, saveRun } from './savedRun.ts';
import { type StopRequest, listenForStop } from './stopSignal.ts';
import { type ImitationEvent, openTraining, type Training, trainToEnd } from './openTraining.ts';

/** `npm run train`: trains a run in Node, with the same training loop as the page. */
async function main(args: readonly string[]): Promise<number> {
  const options = parseArguments(args);
  try {
    return await train(options);
  } catch (error) {
    const fault = faultText(error, path.basename(options.envFile ?? '') || (options.envServer ?? ''));
    if (fault === null) throw error;
    console.error(`${fault} Nothing was trained.`);
    return 1;
  }
}

async function train(options: TrainArguments): Promise<number> {
  const namedEnvironment = await openNamedEnvironment(options);
  const resumed = await runToResume(options, namedEnvironment?.file ?? null);
  const { config } = resumed ?? options;
  const base = await baseFor(config, options);
  for (const warning of warnings(config)) console.error(problemText(warning));
  if (namedEnvironment && 'declaration' in namedEnvironment && !namedEnvironment.declaration.hasExpert)
    console.error(noExpert(namedEnvironment.declaration));
  const host = {
    ...(await nodeHost(config.backend !== 'cpu')),
    ...(namedEnvironment && { ownEnvironment: namedEnvironment.environment }),
  };
  if (options.save !== null && options.save !== options.resume) refuseSavedRun('--save', options.save);
  if (options.save !== null) await checkWritable(callerPath(options.save));
  const run = resumed ?? (await freshRun(options, host, namedEnvironment?.file));
  if (resumed && !options.json)
    console.error(`Goes on after ${runProgressText(run)} of ${visible(options.resume ?? '', 4096)}.`);
  const seconds = () => Date.now() / 1000;
  const events = options.tensorboard === null ? null : await eventFile(callerPath(options.tensorboard), run, seconds, jobOf(options)); // prettier-ignore
  const shownProgress = progress(process.stderr, options.json);
  const stop = listenForStop(() => performance.now());
  const training = await openTraining(run, host, shownProgress, base);
  try {
    const saved = resumed ? runProgressText(resumed) : '';
    return await trainAndSave(training, {
      stop,
      events,
      options,
      environmentFile: namedEnvironment?.file ?? null,
      saved,
    });
  } finally {
    training.session.dispose();
  }
}

/** The environment that a flag names, by a file or by the address of a server; null if the run uses a built-in one. */
async function openNamedEnvironment({ envFile, envServer }: TrainArguments): Promise<OpenedFile | OpenedServer | null> {
  if (envFile !== null) return openEnvironmentFile(envFile);
  return envServer === null ? null : openServer(envServer, (await import('./nodeSockets.ts')).NODE_SOCKETS);
}

const noExpert = ({ language }: Declaration) =>
  `The class has no ${TERMS[language].expert}. The warm start imitates random calls, and there is no expert’s score to compare with.`;

/** The checkpoint that the run trains adapters for; null if it has a model of its own. */
function baseFor({ model }: RunConfig, options: TrainArguments): Promise<BaseCheckpoint | null> {
  if (model === 'sizes') return Promise.resolve(null);
  if (options.model !== null) return openModelFiles(options.model);
  throw new ConfigError([
    {
      what: '--model is missing.',
      remedy: 'Name a GGUF file or a folder of Transformers that the run trains adapters for.',
    },
  ]);
}

/** Identifies a command that begins or continues one job, by its folder and knobs; null for other commands. */
function jobOf({ mayStartNew, save, config }: TrainArguments): string | null {
  return mayStartNew && save !== null ? checksumOf([callerPath(save), config]).slice(0, 8) : null;
}

interface TrainContext {
  readonly stop: StopRequest;
  readonly events: EventFile | null;
  readonly options: Pick<TrainArguments, 'json' | 'save' | 'saveEvery' | 'envFile' | 'envServer' | 'passAt'>;
  readonly environmentFile: EnvironmentFile | null; // the environment that was named
  readonly saved: string; // progress of the run that is already saved; '': nothing is saved
}

/** Returns the exit code: 0 if the run finished (it is then reported), 1 if an error stopped it, 130 or 143 if a signal ended it. */
async function trainAndSave(
  training: Training,
  { stop, events, options, environmentFile, ...initial }: TrainContext,
): Promise<number> {
  const { session, log, progress } = training;
  const { json, save, saveEvery } = options;
  const began = performance.now();
  let { saved } = initial;
  let place = save;
  const saveNow = async () => {
    if (place === null) return;
    const checkpoint = await session.checkpoint();
    const reached = progressText(checkpoint);
    if (reached === saved || !hasBegun(checkpoint.progress)) return;
    await saveRun(place, log.run, checkpoint);
    saved = reached;
  };
  // saves every `saveEvery` imitation steps or updates, and when a signal asks the program to end; then in a new folder
  // if the run isn't saved
  const saveIfDue = async (count: number) => {
    const ending = stop.signal.aborted;
    if (ending) place ??= freeName('stopped-run');
    if (ending || (count > 0 && count % saveEvery === 0)) await saveNow();
    return ending ? 'end' : 'on';
  };
  if (json) console.log(runLine(log.run));
  let lastCheckpoint: Checkpoint | null = null; // after the last finished update, in case the environment fails
  let isGatePassed = options.passAt === null;
  const onUpdate = async (update: number, values: Metrics) => {
    if (!isGatePassed) await reportGate(session, log.run.config, options);
    isGatePassed = true;
    if (json) console.log(updateLine(update, values));
    events?.add(update, values);
    if (environmentFile) lastCheckpoint = await session.checkpoint();
    return saveIfDue(update);
  };
  const onImitation = async (event: ImitationEvent) => {
    if (json && isLogged(event)) console.log(imitationLine(event));
    return event.type === 'imitated' ? saveIfDue(event.done) : 'on';
  };
  const outcome = await trainToEnd(training, onUpdate, onImitation).catch(async (error: unknown) => {
    const fault = environmentFile && faultText(error, environmentFile.name);
    if (fault === null) throw error;
    const pausedPlace = await pausedRun(log.run, lastCheckpoint, save);
    progress.problem(`${fault} The run is paused.`, pausedText(pausedPlace, lastCheckpoint, options));
    return 'paused' as const;
  });
  if (outcome === 'paused') return 1;
  if (outcome === 'failed') {
    if (saved !== '') progress.problem(`Saved is ${saved}.`, 'The same command with --resume goes on after it.');
    return 1;
  }
  if (outcome === 'ended') {
    progress.end();
    console.error(stoppedText(saved, place ?? '', options));
    return stop.exitCode();
  }
  await saveNow();
  progress.end();
  const seconds = Number(((performance.now() - began) / 1000).toFixed(3));
  const hash = await session.parametersHash();
  const { before, after } = evaluations(log.run);
  const next = nextStep(log.run.series, log.run.config);
  const summary = { before, after, updates: log.run.update, seconds, parameters_hash: hash, next };
  // people read the sentence, programs the last line of standard output
  if (!json) console.error(summaryText(log.run, summary));
  console.log(JSON.stringify({ kind: 'summary', ...summary }));
  return 0;
}

/** Measures pass@k of the policy that RL begins with: a line for programs, or sentences for people. */
async function reportGate(
  session: Training['session'],
  { groupSize }: RunConfig,
  { passAt, json }: Pick<TrainArguments, 'passAt' | 'json'>,
): Promise<void> {
  const answer = await session.answer({ kind: 'tries', tasks: GATE.tasks, tries: passAt ?? GATE.tries, anyway: true });
  if (answer.kind !== 'tries') throw new Error(`The run answered ${answer.kind}.`);
  const gate = passGate(answer, groupSize);
  if (json) console.log(JSON.stringify({ kind: 'pass-at', ...gate, solved: answer.solved }));
  else
    console.error([`Before RL, ${gate.rates.map(rateText).join(', ')}.`, ...gateSentences(gate, groupSize)].join('\n'));
}

/** Whether a step of imitation gets a line in the log: one with tries, and every tenth. So do all changes of knobs. */
const isLogged = (event: ImitationEvent) =>
  event.type !== 'imitated' || event.tries !== undefined || event.done % 10 === 0 || event.done === event.total;

/** Saves it as it was after its last update, in the folder of --save or a new one. Returns the folder; null if nothing is to be saved. */
async function pausedRun(run: Run, checkpoint: Checkpoint | null, save: string | null): Promise<string | null> {
  if (checkpoint === null || !hasBegun(checkpoint.progress)) return null;
  const place = save ?? freeName('paused-run');
  await saveRun(place, run, checkpoint);
  return place;
}

function pausedText(
  place: string | null,
  checkpoint: Checkpoint | null,
  { envFile, envServer }: Pick<TrainArguments, 'envFile' | 'envServer'>,
): string {
  const repairHint = envServer === null ? 'Fix the file' : 'See that the server runs';
  if (place === null || checkpoint === null) return `No update was done. ${repairHint} and start again.`;
  return `It is saved in ${visible(place, 4096)} after ${progressText(checkpoint)}. ${repairHint}, then: ${resumeCommand(place, { envFile, envServer })}`;
}

/** The command that continues a saved run, with the flag that names its environment. */
function resumeCommand(place: string, { envFile, envServer }: Pick<TrainArguments, 'envFile' | 'envServer'>): string {
  const file = envFile === null ? '' : ` --env-file ${visible(envFile, 4096)}`;
  const server = envServer === null ? '' : ` --env-server '${visible(envServer, 4096)}'`;
  return `npm run train -- --resume ${visible(place, 4096)}${file}${server}`;
}

function stoppedText(saved: string, place: string, options: Pick<TrainArguments, 'envFile' | 'envServer'>): string {
  return saved !== ''
    ? `Stopped; ${saved} is saved in ${visible(place, 4096)}. Go on with: ${resumeCommand(place, options)}`
    : `Stopped before the first update: there is nothing to save yet.`;
}

/** The metrics of the evaluation before training, with the baselines on the same tasks, and of the last one after it. */
function evaluations({ series }: Run): { readonly before: Metrics; readonly after: Metrics } {
  const evaluationSeries = [...series].filter(([name]) => /^(?:eval|baseline)\//.test(name));
  const metricsAt = (indexOf: (updates: Uint32Array) => number) =>
    evaluationSeries.flatMap(([name, { points }]) => {
      const i = indexOf(points.x);
      return i < 0 ? [] : [[name, points.y[i]] as const];
    });
  return {
    before: Object.fromEntries(metricsAt((updates) => updates.indexOf(0))),
    after: Object.fromEntries(metricsAt((updates) => ((updates.at(-1) ?? 0) > 0 ? updates.length - 1 : -1))),
  };
}

function summaryText(
  { config, environment }: Run,
  summary: { before: Metrics; after: Metrics; updates: number; seconds: number; parameters_hash: string; next: string },
): string {
  const success = EVALUATION_WORDS[evaluationSetOf(config)].success.toLowerCase();
  const percent = (x: number | undefined) => (x === undefined ? '–' : `${(100 * x).toFixed(1)} %`);
  const baselines = BASELINES.flatMap(({ label, metric }) => {
    const share = summary.before[metric];
    return share === undefined ? [] : [`${label} ${percent(share)}`];
  });
  return [
    `${environment?.name ?? config.env}, seed ${config.seed}: ${summary.updates} updates in ${summary.seconds.toFixed(1)} s`,
    `${success}, greedy, ${summary.after['eval/tasks'] ?? summary.before['eval/tasks'] ?? 0} tasks: ${percent(summary.before['eval/success'])} → ${percent(summary.after['eval/success'])}`,
    `${success}, sampled: ${percent(summary.before['eval/success_sampled'])} → ${percent(summary.after['eval/success_sampled'])}`,
    `on the same tasks: ${baselines.join(', ')}`,
    `parameters ${summary.parameters_hash}`,
    ...(summary.next === '' ? [] : [`next: ${summary.next}`]),
  ].join('\n');
}

await program('train', USAGE, main);
