import path from 'node:path';
import { EVALUATION_WORDS, evaluationSetOf } from '../domain/evaluationSet.ts';
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
import { runLine, updateLine } from '../runs/log.ts';
import type { Run } from '../runs/run.ts';
import { hasBegun, progressText, runProgressText } from '../runs/progressText.ts';
import type { Declaration } from '../written/declaration.ts';
import { TERMS } from '../written/languageTerms.ts';
import { parseArguments, type TrainArguments, USAGE } from './arguments.ts';
import { type EventFile, eventFile } from './eventFile.ts';
import { callerPath, freeName } from './files.ts';
import { tryFolder } from './diskFolders.ts';
import { freshRun } from './freshRun.ts';
import { nodeHost } from './nodeHost.ts';
import { faultText, openEnvironmentFile } from './openEnvironmentFile.ts';
import { type OpenedServer, openServer } from '../openenv/openServer.ts';
import type { OpenedFile } from '../written/openWritten.ts';
import { NODE_SOCKETS } from './nodeSockets.ts';
import { openModelFiles } from './modelFiles.ts';
import { program } from './program.ts';
import { progress } from './progressBar.ts';
import { keepSaved, runToResume, saveRun } from './savedRun.ts';
import { type Stopping, stopping } from './stopSignal.ts';
import { openTraining, type Training, trainToEnd } from './openTraining.ts';

/** `npm run train`: the loop of the page in Node. */
async function main(args: readonly string[]): Promise<number> {
  const asked = parseArguments(args);
  try {
    return await train(asked);
  } catch (error) {
    const fault = faultText(error, path.basename(asked.envFile ?? '') || (asked.envServer ?? ''));
    if (fault === null) throw error;
    console.error(`${fault} Nothing was trained.`);
    return 1;
  }
}

async function train(asked: TrainArguments): Promise<number> {
  const own = await ownEnvironment(asked);
  const resumed = await runToResume(asked, own?.file ?? null);
  const { config } = resumed ?? asked;
  const base = await baseFor(config, asked);
  for (const warning of warnings(config)) console.error(problemText(warning));
  if (own && 'declaration' in own && !own.declaration.hasExpert) console.error(noExpert(own.declaration));
  const host = { ...(await nodeHost(config.backend !== 'cpu')), ...(own && { ownEnvironment: own.environment }) };
  if (asked.save !== null && asked.save !== asked.resume) keepSaved('--save', asked.save);
  if (asked.save !== null) await tryFolder(callerPath(asked.save));
  const run = resumed ?? (await freshRun(asked, host, own?.file));
  if (resumed && !asked.json)
    console.error(`Goes on after ${runProgressText(run)} of ${visible(asked.resume ?? '', 4096)}.`);
  const seconds = () => Date.now() / 1000;
  const events = asked.tensorboard === null ? null : await eventFile(callerPath(asked.tensorboard), run, seconds, jobOf(asked)); // prettier-ignore
  const show = progress(process.stderr, asked.json);
  // without a place to save to there is nothing to do before it ends
  const stop = asked.save === null ? null : stopping(() => performance.now());
  const training = await openTraining(run, host, show, base);
  try {
    const saved = resumed ? runProgressText(resumed) : '';
    return await trained(training, { stop, events, asked, own: own?.file ?? null, saved });
  } finally {
    training.session.dispose();
  }
}

/** The environment that was named, as a file or as the address of a server; null if it is one of the project's. */
async function ownEnvironment({ envFile, envServer }: TrainArguments): Promise<OpenedFile | OpenedServer | null> {
  if (envFile !== null) return openEnvironmentFile(envFile);
  return envServer === null ? null : openServer(envServer, NODE_SOCKETS);
}

const noExpert = ({ language }: Declaration) =>
  `The class has no ${TERMS[language].expert}. The warm start imitates random calls, and the expert’s score below is that of a player that gives up at once.`;

/** The checkpoint that the run puts adapters beside; null for a model of its own. */
function baseFor({ model }: RunConfig, asked: TrainArguments): Promise<BaseCheckpoint | null> {
  if (model === 'sizes') return Promise.resolve(null);
  if (asked.model !== null) return openModelFiles(asked.model);
  throw new ConfigError([
    {
      what: '--model is missing.',
      remedy: 'Name a GGUF file or a folder of Transformers that the run trains adapters for.',
    },
  ]);
}

/** Identifies a command that begins or continues one job, by its folder and knobs; null for other commands. */
function jobOf({ mayBegin, save, config }: TrainArguments): string | null {
  return mayBegin && save !== null ? checksumOf([callerPath(save), config]).slice(0, 8) : null;
}

/** The options of `trained`: outputs for the metrics, and the signal that ends the run early. */
interface Around {
  readonly stop: Stopping | null;
  readonly events: EventFile | null;
  readonly asked: Pick<TrainArguments, 'json' | 'save' | 'saveEvery' | 'envFile' | 'envServer'>;
  readonly own: EnvironmentFile | null; // the environment that was named
  readonly saved: string; // progress of the run that is already saved; '': nothing is saved
}

/**
 * Trains and saves until the run is finished, an error stops it or a signal ends it. Reports how a finished run began
 * and ended. Returns the exit code: 0 if it finished, 1 if an error stopped it, 130 or 143 if a signal did.
 */
async function trained(training: Training, { stop, events, asked, own, ...begun }: Around): Promise<number> {
  const { session, log, show } = training;
  const { json, save, saveEvery } = asked;
  const began = performance.now();
  let { saved } = begun;
  const saveNow = async () => {
    if (save === null) return;
    const checkpoint = await session.checkpoint();
    const at = progressText(checkpoint);
    if (at === saved || !hasBegun(checkpoint.progress)) return;
    await saveRun(save, log.run, checkpoint);
    saved = at;
  };
  // by steps of an imitation as by updates, and whenever somebody wants it to end
  const rested = async (count: number) => {
    const ending = stop?.signal.aborted ?? false;
    if (ending || (count > 0 && count % saveEvery === 0)) await saveNow();
    return ending ? 'end' : 'on';
  };
  if (json) console.log(runLine(log.run));
  let whole: Checkpoint | null = null; // after the last update that is done, where the environment may fail in the next
  const onUpdate = async (update: number, values: Metrics) => {
    if (json) console.log(updateLine(update, values));
    events?.add(update, values);
    if (own) whole = await session.checkpoint();
    return rested(update);
  };
  const how = await trainToEnd(training, onUpdate, ({ done }) => rested(done)).catch(async (error: unknown) => {
    const fault = own && faultText(error, own.name);
    if (fault === null) throw error;
    const place = await pausedRun(log.run, whole, save);
    show.problem(`${fault} The run is paused.`, pausedText(place, whole, asked));
    return 'paused' as const;
  });
  if (how === 'paused') return 1;
  if (how === 'failed') {
    if (saved !== '') show.problem(`Saved is ${saved}.`, 'The same command with --resume goes on after it.');
    return 1;
  }
  if (how === 'ended') {
    show.end();
    console.error(stoppedText(saved, save ?? ''));
    return stop?.exitCode() ?? 1;
  }
  await saveNow();
  show.end();
  const seconds = Number(((performance.now() - began) / 1000).toFixed(3));
  const hash = await session.parametersHash();
  const { before, after } = evaluations(log.run);
  const summary = { before, after, updates: log.run.update, seconds, parameters_hash: hash };
  // people read the sentence, programs the last line of standard output
  if (!json) console.error(sentence(log.run, summary));
  console.log(JSON.stringify({ kind: 'summary', ...summary }));
  return 0;
}

/**
 * Saves a run whose environment failed as it was after its last update: where it is saved anyway, else in a new folder.
 */
async function pausedRun(run: Run, whole: Checkpoint | null, save: string | null): Promise<string | null> {
  if (whole === null || !hasBegun(whole.progress)) return null;
  const place = save ?? freeName('paused-run');
  await saveRun(place, run, whole);
  return place;
}

function pausedText(
  place: string | null,
  whole: Checkpoint | null,
  { envFile, envServer }: Pick<TrainArguments, 'envFile' | 'envServer'>,
): string {
  const mend = envServer === null ? 'Fix the file' : 'See that the server runs';
  if (place === null || whole === null) return `No update was done. ${mend} and start again.`;
  const folder = visible(place, 4096);
  const flag =
    envServer === null ? `--env-file ${visible(envFile ?? '', 4096)}` : `--env-server '${visible(envServer, 4096)}'`;
  return `It is saved in ${folder} after ${progressText(whole)}. ${mend}, then: npm run train -- --resume ${folder} ${flag}`;
}

function stoppedText(saved: string, save: string): string {
  const folder = visible(save, 4096);
  return saved !== ''
    ? `Stopped; ${saved} is saved in ${folder}. Go on with: npm run train -- --resume ${folder}`
    : `Stopped before the first update: there is nothing to save yet.`;
}

/** The evaluation before training, with what others reach on the same tasks, and the last one since. */
function evaluations({ series }: Run): { readonly before: Metrics; readonly after: Metrics } {
  const evaluationSeries = [...series].filter(([name]) => /^(?:eval|baseline)\//.test(name));
  const at = (which: (updates: Uint32Array) => number) =>
    evaluationSeries.flatMap(([name, { points }]) => {
      const i = which(points.x);
      return i < 0 ? [] : [[name, points.y[i]] as const];
    });
  return {
    before: Object.fromEntries(at((updates) => updates.indexOf(0))),
    after: Object.fromEntries(at((updates) => ((updates.at(-1) ?? 0) > 0 ? updates.length - 1 : -1))),
  };
}

function sentence(
  { config, environment }: Run,
  s: { before: Metrics; after: Metrics; updates: number; seconds: number; parameters_hash: string },
): string {
  const success = EVALUATION_WORDS[evaluationSetOf(config)].success.toLowerCase();
  const percent = (x: number | undefined) => (x === undefined ? '–' : `${(100 * x).toFixed(1)} %`);
  const baselines = BASELINES.flatMap(({ label, metric }) => {
    const share = s.before[metric];
    return share === undefined ? [] : [`${label} ${percent(share)}`];
  });
  return [
    `${environment?.name ?? config.env}, seed ${config.seed}: ${s.updates} updates in ${s.seconds.toFixed(1)} s`,
    `${success}, greedy, ${s.after['eval/tasks'] ?? s.before['eval/tasks'] ?? 0} tasks: ${percent(s.before['eval/success'])} → ${percent(s.after['eval/success'])}`,
    `${success}, sampled: ${percent(s.before['eval/success_sampled'])} → ${percent(s.after['eval/success_sampled'])}`,
    `on the same tasks: ${baselines.join(', ')}`,
    `parameters ${s.parameters_hash}`,
  ].join('\n');
}

await program('train', USAGE, main);
