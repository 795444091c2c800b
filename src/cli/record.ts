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
import { instructivePlays, type Course } from '../runs/recordedPlays.ts';
import { recordingText } from '../runs/recording.ts';
import { withUsedWords } from '../runs/usedWords.ts';
import { bareRun } from '../runs/run.ts';
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
import { playQuestion } from '../wire/playQuestion.ts';

/** Tasks that are tried, and updates after which they are played, the first ones closer together. In text a play takes a second. */
const TRIED = { words: { tasks: 24, updates: 20 }, text: { tasks: 8, updates: 8 } } as const;
const CROWDED = 1.6; // the power that brings early updates together: that is where a run learns most

/** Updates of a run after which its tasks are played: 0, which is before training, up to the last. */
function playedUpdates({ updates, language }: Pick<RunConfig, 'updates' | 'language'>): ReadonlySet<number> {
  const { updates: count } = TRIED[language];
  const share = (k: number) => (k / (count - 1)) ** CROWDED;
  return new Set(Array.from({ length: count }, (_, k) => Math.round(updates * share(k))));
}

/** Plays the same tasks with the same draws again and again while a run trains; the run hears nothing of it. */
class PlayCourses {
  readonly #session: Session;
  readonly #config: RunConfig;
  readonly #updates: ReadonlySet<number>;
  readonly #seeds: readonly number[];
  readonly #courses: [number, PlayedBatch][][];

  /** Draws the tasks of a run that has just been opened. */
  constructor(session: Session) {
    const config = session.config();
    const { tasks } = TRIED[config.language];
    this.#session = session;
    this.#config = config;
    this.#updates = playedUpdates(config);
    this.#seeds = distinctSeeds(session.env, session.env.reset, { ...config, evalTasks: tasks }).slice(0, tasks);
    this.#courses = this.#seeds.map(() => []);
  }

  /** Plays all tasks with the weights after `update`, if the recording shows that update. */
  async follow(update: number): Promise<void> {
    if (!this.#updates.has(update)) return;
    for (const [i, seed] of this.#seeds.entries()) {
      const answer = await this.#session.answer(playQuestion(seed, this.#config));
      if (answer.kind !== 'talk') throw new Error(`record: task ${seed} was answered by ${answer.kind}.`);
      const { rows, length, tokens, roles, turns, lengths, episodes } = answer.said;
      this.#courses[i]?.push([update, { rows, length, tokens, roles, turns, lengths, episodes }]);
    }
  }

  /** Of every task its plays so far. */
  get courses(): readonly Course[] {
    return this.#courses;
  }
}

const USAGE =
  'npm run record -- PRESET… [--model FILE.gguf|FOLDER]   (trains each preset and writes what the page plays of it, under public/recordings)';
const FIRST: PresetName = 'number-hunt'; // the page's own first one
/** The batches that are kept, by share of the run. They are closer together early, where it learns most. */
const KEPT = [0, 1 / 16, 5 / 32, 3 / 8, 1];
const KEPT_TEXT = [0, 1]; // its rollouts are ten times as long
const MOST_KB = 150;
const MOST_FACTS_BYTES = 1e6;
/** The curves that are kept: all but those of time and memory, which would describe another machine than the reader's. */
const KEPT_CURVES = (Object.keys(METRICS) as MetricName[]).filter((name) => !(name in ENGINE_METRICS));

/** `npm run record`: trains presets on the CPU and writes what the page plays before anyone has pressed Run. */
async function main(args: readonly string[]): Promise<number> {
  const { given, positionals, problems } = readFlags(args, { model: 'value' });
  if (problems.length > 0) throw new ConfigError(problems, { usage: USAGE });
  const names = positionals.length > 0 ? positionals : [FIRST];
  const unknown = names.filter((name) => !(name in PRESETS));
  if (unknown.length > 0) {
    const what = `there is no preset ${unknown.join(', ')}.`;
    const remedy = `Use some of ${Object.keys(PRESETS).join(', ')}.`;
    throw new ConfigError([{ place: 'record', what, remedy }], { usage: `  ${USAGE}` });
  }
  await writableFolder(`${PUBLIC_FOLDER}/recordings`);
  let most = 0;
  for (const name of names) most = Math.max(most, await record(name as PresetName, given.model ?? null));
  return most <= MOST_KB ? 0 : 1;
}

/** Trains a preset and writes its recording; returns its kilobytes. */
async function record(preset: PresetName, model: string | null): Promise<number> {
  const plan = presetNamed(preset).recording ?? {};
  const config = recordedConfig(preset);
  if (plan.beside !== undefined && model === null) {
    const what = `${preset} needs --model with the file of ${plan.beside}.`;
    throw new ConfigError([{ place: 'record', what }], { usage: `  ${USAGE}` });
  }
  const base = plan.beside !== undefined && model !== null ? await openModelFiles(model) : null;
  const facts = plan.facts ? parseFacts(plan.facts, await readWhole(`${PUBLIC_FOLDER}/${plan.facts}`, MOST_FACTS_BYTES)).facts : null; // prettier-ignore
  const show = progress(process.stderr, false);
  const log = new RunLog(
    bareRun({ id: 0, name: PRESETS[preset].label, started: new Date().toISOString(), begun: config }),
  );
  const listen = (event: Parameters<RunLog['add']>[0]) => log.add(event);
  const session = await openSession(
    config,
    await nodeHost(false),
    (event) => {
      if (event.type !== 'ready') return;
      listen(event);
      show.ready(event.backend);
    },
    facts,
    null,
    base,
  );
  const shares = config.language === 'text' ? KEPT_TEXT : KEPT;
  const updates = new Set(shares.map((share) => Math.max(1, Math.round(share * config.updates))));
  const courses = base ? null : new PlayCourses(session); // beside a checkpoint a play takes minutes
  const tasks: BatchView[] = [];
  const readings = new Map<number, RecordedReadings>();
  let batch: BatchView | null = null; // that the update under way learns from
  let health: Health | null = null; // before the update's metrics
  for await (const event of session.events) {
    if (event.type === 'running' && event.finished) break;
    if (event.type === 'error') throw new Error(event.message);
    if (event.type === 'batch') batch = event.batch;
    if (event.type === 'health') health = event.health;
    if (event.type !== 'metrics') continue;
    log.add(event);
    session.history.noteState(event.update, (await session.policy.readState()).policy);
    await courses?.follow(event.update);
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
    series: new Map([...log.series].filter(([name]) => KEPT_CURVES.includes(name))),
    batches: tasks.map((task) => ({ batch: task, config })),
    readings,
    plays: instructivePlays(courses?.courses ?? []),
  };
  const text = recordingText(base ? withUsedWords(run) : run);
  const packed = gzipSync(text, { level: 9 });
  const file = `${PUBLIC_FOLDER}/${recordingFile(preset)}`;
  await writeWhole(file, packed);
  const kilobytes = packed.length / 1000;
  console.log(`${file}: ${tasks.length} batches, ${log.run.update} updates, ${kilobytes.toFixed(1)} kB`);
  const heldOut = log.series.get('eval/success');
  console.log(
    `${EVALUATION_WORDS[evaluationSetOf(config)].success}, greedy: ${heldOut?.first?.toFixed(3)} → ${heldOut?.latest?.toFixed(3)}`,
  );
  return kilobytes;
}

await program('record', USAGE, main);
