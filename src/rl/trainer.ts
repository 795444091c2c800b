import type { Progress } from '../domain/progress.ts';
import type { RunConfig } from '../config/config.ts';
import type { ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import type { Policy } from '../model/policy.ts';
import type { Phase, TrainingEvent } from '../domain/trainingEvent.ts';
import { Purpose, random } from '../base/rng.ts';
import { usesCritic } from '../config/estimators.ts';
import { playerBaselines } from './playerBaselines.ts';
import { evaluate } from './evaluate.ts';
import { filterGroups } from './filter.ts';
import { measureInputDependence } from './inputDependence.ts';
import { changedKnobs, isLive } from './knobChanges.ts';
import type { LearnStep, Lesson } from './lesson.ts';
import { createMonitor } from './monitor.ts';
import { endsPass, passViews } from './passViews.ts';
import { createPenalty } from './penalty.ts';
import { payRewardModelScores } from './rewardModelScores.ts';
import type { RewardModel } from './rewardModel.ts';
import { rollout, type RolloutRequest, type Rollouts } from './rollout.ts';
import {
  creditSettings,
  filterSettings,
  objectiveSettings,
  optimizerSettings,
  trainLuck,
  trainSampling,
  trainTaskSeed,
} from './settings.ts';
import { explainSkips } from './skips.ts';
import { batchView, summarize } from './summarize.ts';

/** What a training run is made of. */
export interface Run {
  readonly policy: Policy;
  readonly env: ToolEnv;
  readonly rewardModel: RewardModel | null;
  readonly config: () => RunConfig; // read anew before every batch and every optimizer step
  readonly now: () => number; // ms
  readonly breathe: () => Promise<void>; // lets the event loop run
  readonly fenced?: () => boolean; // whether each stage waits for the device, so that its time is its own
  readonly played?: (done: number, total: number) => void; // hears how many rollouts of a batch, or of an evaluation, are over
  readonly learned?: (lesson: Lesson) => void; // hears what each update did, before its `metrics`
  readonly under: RunConfig | null; // knobs of the last update; null before the first: a change from them is told
  readonly progress: Progress; // written between updates; training goes on from where it is
}

/** Updates in a row without a prompt to learn from, after which a run pauses (RAGEN-2 `rollout_filter_empty_stop_steps`). */
const EMPTY_UPDATES = 5;

/**
 * Trains for ever: rollout, score, credit, learn, report. To pause, stop pulling; to step, pull until `metrics`. When
 * `updates` is reached it says so at every pull until there are more. Live knobs count from the next optimizer step,
 * others from the next batch. One awaited read-back per decode chunk and one per update, one more where the input
 * dependence is measured. An optimizer step that would not be finite changes nothing and yields an `error`; the run is
 * unharmed. A batch whose prompts were all filtered out teaches nothing; after five of them in a row the run pauses.
 */
export async function* train(run: Run): AsyncGenerator<TrainingEvent, never> {
  const { policy, env, rewardModel, now, breathe, progress } = run;
  const monitor = createMonitor(progress.monitor);
  const penalty = createPenalty(progress.penalty);
  const settle = async () => {
    if (run.fenced?.()) await policy.settled();
  };
  let config = run.under ?? run.config();
  let before = policy.counters();
  if (!progress.evaluated) {
    yield phase('evaluating', 0);
    const evaluation = await evaluate(policy, env, config, 0, breathe, run.played);
    const values = { ...evaluation.values, ...(await playerBaselines(env, config, breathe)) };
    before = policy.counters();
    progress.evaluated = true;
    yield { type: 'metrics', update: 0, values, solved: evaluation.solved };
  }

  for (let update = progress.update + 1; ; update++) {
    while (update > run.config().updates) yield { type: 'running', running: false, update: update - 1, finished: true };
    const changes = changedKnobs(config, run.config());
    config = { ...config, ...changes };
    if (isSome(changes)) yield { type: 'configured', update, changes };

    // 1 rollout
    yield phase('sampling', update);
    const began = now();
    const played = await rollout(policy, env, trainingTasks(policy, config, update), breathe, run.played);
    const rolled = rewardModel ? await payRewardModelScores(played, rewardModel, config.preferenceReward) : played;
    const rolloutTime = now() - began;

    // 2 score
    yield phase('scoring', update);
    const resumed = now();
    const reference = config.klCoef !== 0 || config.klRewardCoef !== 0;
    await policy.score(config.temperature, { reference, values: usesCritic(config.estimator) });
    await settle();
    let learnTime = now() - resumed;

    // 3 credit
    yield phase('crediting', update);
    const credited = now();
    const filtered = filterGroups(scoresOf(rolled, config), rolled.groups, filterSettings(config));
    const klCoef = penalty.coefficient(config);
    const credit = creditSettings(config, klCoef, filtered.scale);
    const { rewards, singles } = rolled.record;
    policy.credit({ rewards, groups: filtered.groups, singles }, credit);
    await settle();
    learnTime += now() - credited;

    // 4 learn
    const steps = minibatches(config, policy.rows, filtered.groups, update);
    const perPass = steps.length / config.epochs;
    const taken: LearnStep[] = [];
    for (const [step, rows] of steps.entries()) {
      yield phase('updating', update, step, steps.length);
      // without reference log-probabilities a KL turned up now has to wait for the next batch
      const live = changedKnobs(config, run.config(), (name) => isLive(name) && (reference || name !== 'klCoef'));
      config = { ...config, ...live };
      if (isSome(live)) yield { type: 'configured', update, changes: live };
      const started = now();
      const objective = objectiveSettings(config);
      const optimizer = optimizerSettings(config, update);
      await policy.learn(rows, objective, optimizer, config.temperature);
      taken.push({ rows, objective, optimizer, temperature: config.temperature });
      if (endsPass(step, steps.length, perPass)) policy.endPass();
      await settle();
      await breathe();
      learnTime += now() - started;
    }

    run.learned?.({ credit, steps: taken });

    // 5 report
    yield phase('reporting', update);
    const waited = now();
    const report = await policy.report();
    learnTime += now() - waited;
    const times = { rollout: rolloutTime, learn: learnTime };
    const after = policy.counters();
    const { learningRate } = optimizerSettings(config, update);
    const values = summarize({ rolled, filtered, report, config, credit, learningRate, times, before, after });
    penalty.observe(values, config, policy.rows);
    const passes = passViews(report, taken, perPass, policy.length);
    yield { type: 'batch', batch: { ...batchView(update, rolled, filtered, report, config), passes }, config };
    if (config.miEvery > 0 && update % config.miEvery === 0) {
      const { seed, temperature } = config;
      Object.assign(values, await measureInputDependence(policy, rolled.record, { seed, update, temperature }));
    }
    if (rewardModel) {
      rewardModel.observe(rolled, config);
      const preferences = await rewardModel.fit();
      Object.assign(values, { 'reward_model/loss': preferences.loss });
      if (preferences.agreement !== null) Object.assign(values, { 'reward_model/agreement': preferences.agreement });
      yield { type: 'preferences', update, preferences };
    }
    let solved: ReadonlyMap<string, boolean> | undefined;
    if (evaluationDue(config, update)) {
      yield phase('evaluating', update);
      const evaluation = await evaluate(policy, env, config, update, breathe, run.played);
      Object.assign(values, evaluation.values);
      ({ solved } = evaluation);
    }
    const skipped = explainSkips(update, report.steps);
    if (skipped) yield skipped;
    yield { type: 'health', update, health: monitor.observe(update, values, config) };
    const empty = filtered.keptGroups === 0 ? progress.empty + 1 : 0;
    const stuck = empty === EMPTY_UPDATES;
    progress.empty = stuck ? 0 : empty;
    progress.update = update;
    before = policy.counters(); // whoever hears the numbers may read the weights: that is the next update's
    yield { type: 'metrics', update, values, ...(solved && { solved }) };
    if (stuck) {
      yield nothingKept(update);
      yield { type: 'running', running: false, update, finished: false };
    }
  }
}

function phase(name: Phase, update: number, done = 0, total = 0): TrainingEvent {
  return { type: 'phase', phase: name, update, done, total };
}

function isSome(changes: Partial<RunConfig>): boolean {
  return Object.keys(changes).length > 0;
}

function nothingKept(update: number): TrainingEvent {
  return {
    type: 'error',
    message: `The last ${EMPTY_UPDATES} batches up to update ${update} had no prompt whose rollouts differ, so the group filter kept none and nothing was learned. The run is paused.`,
    hint: 'Set the group filter to none, raise the temperature, or reset.',
    fatal: false,
    fields: ['filter', 'temperature'],
  };
}

/** The batch of an update: `prompts` tasks, each rolled out `groupSize` times. */
export function trainingTasks(policy: Pick<Policy, 'rows'>, config: RunConfig, update: number): RolloutRequest {
  const groups = Int32Array.from({ length: policy.rows }, (_, row) => Math.floor(row / config.groupSize));
  return {
    tasks: Array.from(groups, (group, row) => {
      const seed = trainTaskSeed(config.seed, update, group);
      return { seed, luck: config.luck === 'own' ? trainLuck(config.seed, update, row) : seed };
    }),
    groups,
    settings: envSettings(config),
    sampling: trainSampling(config, update),
    chunk: config.decodeChunk,
  };
}

/** The raw score of each rollout that the group filter compares: as paid by the environment, before KL. */
function scoresOf({ episodes }: Rollouts, { filterScore }: RunConfig): readonly number[] {
  return episodes.map(({ reward, success }) => (filterScore === 'reward' ? reward : Number(success)));
}

/**
 * Each epoch deals the rows that are learned from anew into minibatches of equal size: `minibatches` of them when all rows are,
 * fewer when a filter left fewer.
 */
function minibatches(
  { seed, epochs, minibatches: parts }: RunConfig,
  rows: number,
  groups: Int32Array,
  update: number,
): Int32Array[] {
  const kept = Int32Array.from({ length: rows }, (_, row) => row).filter((row) => groups[row]! >= 0);
  const count = Math.ceil((kept.length * parts) / rows);
  const size = Math.ceil(kept.length / Math.max(1, count));
  return Array.from({ length: epochs }, (_, epoch) => {
    const order = kept.slice();
    random(seed, Purpose.shuffle, update, epoch).shuffle(order);
    return Array.from({ length: count }, (_part, part) => order.slice(part * size, (part + 1) * size));
  }).flat();
}

function evaluationDue({ evalEvery, updates }: RunConfig, update: number): boolean {
  return update === updates || (evalEvery > 0 && update % evalEvery === 0);
}
