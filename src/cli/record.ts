import { gzipSync } from 'node:zlib';
import { readFlags } from '../../tools/flags.mjs';
import { ConfigError } from '../config/configProblem.ts';
import { EVALUATION_WORDS, evaluationSetOf } from '../domain/evaluationSet.ts';
import { type PresetName, presetNamed, PRESETS } from '../config/presets.ts';
import { recordedConfig, recordingFile } from '../config/recordings.ts';
import type { BatchView, PlayedBatch } from '../domain/batch.ts';
import type { Health } from '../domain/health.ts';
import { ENGINE_METRICS } from '../domain/engineMetrics.ts';
import { METRICS, type MetricName } from '../domain/metrics.ts';
import { parseFacts } from '../facts/parse.ts';
import type { RecordedReadings } from '../runs/recordedReadings.ts';
import { instructivePlays, type TaskPlays } from '../runs/recordedPlays.ts';
import { recordingText } from '../runs/recording.ts';
import { withUsedWords } from '../runs/usedWords.ts';
import { runWithDefaults } from '../runs/run.ts';
import { RunLog } from '../runs/runLog.ts';
import { openSession, type Session } from '../session/session.ts';
import { readWhole, writableFolder, writeWhole } from './files.ts';
import { nodeHost, PUBLIC_FOLDER } from './nodeHost.ts';
import { openModelFiles } from './modelFiles.ts';
import { program } from './program.ts';
import { progress } from './progressBar.ts';
import { recordUpdate } from './recordUpdate.ts';
import type { RunConfig } from '../config/config.ts';
import { distinctSeeds } from '../rl/evaluatedTasks.ts';
import { playQuestion } from '../wire/questions.ts';

/** Tasks that are played again and again while a run trains, and after how many updates. In text one play takes a second. */
const PLAYED_COUNTS = { words: { tasks: 24, updates: 20 }, text: { tasks: 8, updates: 8 } } as const;
const EARLY_POWER = 1.6; // above 1: early updates are closer together, because a run learns most in them

/** The updates of a run after which its tasks are played, from 0 (before training) to the last. */
function playedUpdates({ updates, language }: Pick<RunConfig, 'updates' | 'language'>): ReadonlySet<number> {
  const { updates: count } = PLAYED_COUNTS[language];
  const share = (k: number) => (k / (count - 1)) ** EARLY_POWER;
  return new Set(Array.from({ length: count }, (_, k) => Math.round(updates * share(k))));
}

/** Plays the same tasks with the same draws again and again while a run trains. This doesn't change the run. */
class TaskPlayRecorder {
  readonly #session: Session;
  readonly #config: RunConfig;
  readonly #updates: ReadonlySet<number>;
  readonly #seeds: readonly number[];
  readonly #playsByTask: [number, PlayedBatch][][];

  constructor(session: Session) {
    const config = session.config();
    const { tasks } = PLAYED_COUNTS[config.language];
    this.#session = session;
    this.#config = config;
    this.#updates = playedUpdates(config);
    this.#seeds = distinctSeeds(session.env, session.env.reset, { ...config, evalTasks: tasks }).slice(0, tasks);
    this.#playsByTask = this.#seeds.map(() => []);
  }

  /** Plays all tasks with the weights after `update`, if the recording shows that update. */
  async playAfter(update: number): Promise<void> {
    if (!this.#updates.has(update)) return;
    for (const [i, seed] of this.#seeds.entries()) {
      const answer = await this.#session.answer(playQuestion(seed, this.#config));
      if (answer.kind !== 'talk') throw new Error(`record: task ${seed} was answered by ${answer.kind}.`);
      const { rows, length, tokens, roles, turns, lengths, episodes } = answer.batch;
      this.#playsByTask[i]?.push([update, { rows, length, tokens, roles, turns, lengths, episodes }]);
    }
  }

  get playsByTask(): readonly TaskPlays[] {
    return this.#playsByTask;
  }
}

const USAGE =
  'npm run record -- PRESET… [--model FILE.gguf|FOLDER]   (trains each preset and writes what the page plays of it, under public/recordings)';
const DEFAULT_PRESET: PresetName = 'number-hunt'; // the preset that the page opens first
/** The updates whose batches are recorded, as shares of the run. They are closer together early, where it learns most. */
const RECORDED_SHARES = [0, 1 / 16, 5 / 32, 3 / 8, 1];
const RECORDED_SHARES_TEXT = [0, 1]; // for text runs: their rollouts are ten times as long
const MAX_KB = 150;
const MAX_FACTS_BYTES = 1e6;
/** The curves that are recorded: all but time and memory, which would describe another machine than the reader's. */
const RECORDED_CURVES = (Object.keys(METRICS) as MetricName[]).filter((name) => !(name in ENGINE_METRICS));

/** `npm run record`: trains presets on the CPU and writes what the page plays before anyone has pressed Run. */
async function main(args: readonly string[]): Promise<number> {
  const { given, positionals, problems } = readFlags(args, { model: 'value' });
  if (problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  const names = positionals.length > 0 ? positionals : [DEFAULT_PRESET];
  const unknown = names.filter((name) => !(name in PRESETS));
  if (unknown.length > 0) {
    const what = `there is no preset ${unknown.join(', ')}.`;
    const remedy = `Use some of ${Object.keys(PRESETS).join(', ')}.`;
    throw new ConfigError([{ place: 'record', what, remedy }], { usage: `  ${USAGE}` });
  }
  await writableFolder(`${PUBLIC_FOLDER}/recordings`);
  let largest = 0;
  for (const name of names) largest = Math.max(largest, await record(name as PresetName, given.model ?? null));
  return largest <= MAX_KB ? 0 : 1;
}

/** Trains a preset and writes its recording. Returns the size of the file in kilobytes. */
async function record(preset: PresetName, model: string | null): Promise<number> {
  const plan = presetNamed(preset).recording ?? {};
  const config = recordedConfig(preset);
  if (plan.checkpointName !== undefined && model === null) {
    const what = `${preset} needs --model with the file of ${plan.checkpointName}.`;
    throw new ConfigError([{ place: 'record', what }], { usage: `  ${USAGE}` });
  }
  const base = plan.checkpointName !== undefined && model !== null ? await openModelFiles(model) : null;
  const facts = plan.facts ? parseFacts(plan.facts, await readWhole(`${PUBLIC_FOLDER}/${plan.facts}`, MAX_FACTS_BYTES)).facts : null; // prettier-ignore
  const show = progress(process.stderr, false);
  const log = new RunLog(
    runWithDefaults({ id: 0, name: PRESETS[preset].label, started: new Date().toISOString(), begun: config }),
  );
  const addToLog = (event: Parameters<RunLog['add']>[0]) => log.add(event);
  const session = await openSession(
    config,
    await nodeHost(false),
    (event) => {
      if (event.type !== 'ready') return;
      addToLog(event);
      show.ready(event.backend);
    },
    { facts, openedBase: base },
  );
  const shares = config.language === 'text' ? RECORDED_SHARES_TEXT : RECORDED_SHARES;
  const updates = new Set(shares.map((share) => Math.max(1, Math.round(share * config.updates))));
  const taskPlays = base ? null : new TaskPlayRecorder(session); // beside a checkpoint a play takes minutes
  const tasks: BatchView[] = [];
  const readings = new Map<number, RecordedReadings>();
  let batch: BatchView | null = null; // the batch of the current update
  let health: Health | null = null; // the monitor's last report, which comes before the update's metrics
  for await (const event of session.events) {
    if (event.type === 'running' && event.finished) break;
    if (event.type === 'error') throw new Error(event.message);
    if (event.type === 'batch') batch = event.batch;
    if (event.type === 'health') health = event.health;
    if (event.type !== 'metrics') continue;
    log.add(event);
    session.history.keepState(event.update, (await session.policy.readState()).policy);
    await taskPlays?.playAfter(event.update);
    if (event.update === 0) continue;
    show.update(event.update, config.updates, event.values);
    if (batch?.update !== event.update || !updates.has(event.update) || readings.has(event.update)) continue;
    const recorded = await recordUpdate(session, batch);
    tasks.push(recorded.task);
    readings.set(event.update, { ...recorded.readings, ...(health && { health }) });
  }
  show.end();
  session.dispose();
  const run = {
    ...log.run,
    series: new Map([...log.series].filter(([name]) => RECORDED_CURVES.includes(name))),
    batches: tasks.map((task) => ({ batch: task, config })),
    readings,
    plays: instructivePlays(taskPlays?.playsByTask ?? []),
  };
  const text = recordingText(base ? withUsedWords(run) : run);
  const zipped = gzipSync(text, { level: 9 });
  const file = `${PUBLIC_FOLDER}/${recordingFile(preset)}`;
  await writeWhole(file, zipped);
  const kilobytes = zipped.length / 1000;
  console.log(`${file}: ${tasks.length} batches, ${log.run.update} updates, ${kilobytes.toFixed(1)} kB`);
  const heldOut = log.series.get('eval/success');
  console.log(
    `${EVALUATION_WORDS[evaluationSetOf(config)].success}, greedy: ${heldOut?.firstValue?.toFixed(3)} → ${heldOut?.lastValue?.toFixed(3)}`,
  );
  return kilobytes;
}

await program('record', USAGE, main);
