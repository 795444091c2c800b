import type { Progress } from '../domain/progress.ts';
import type { RunConfig } from '../config/config.ts';
import { changedKnobs, isLive, isNonEmpty } from '../config/knobChange.ts';
import type { ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import { rowsPerTurn } from '../envs/rowsPerTurn.ts';
import type { Policy } from '../model/policy.ts';
import type { Phase, TrainingEvent } from '../domain/trainingEvent.ts';
import { Purpose, random } from '../base/rng.ts';
import { usesCritic } from '../config/estimators.ts';
import { playerBaselines } from './playerBaselines.ts';
import { evaluate } from './evaluate.ts';
import { filterGroups } from './filter.ts';
import { payInformationGain } from './informationGain.ts';
import { measureInputDependence } from './inputDependence.ts';
import { creditMarks, type LearnStep, type Lesson } from './lesson.ts';
import { createMonitor } from './monitor.ts';
import { endsEpoch, epochViews } from './epochViews.ts';
import { createKlController } from './klController.ts';
import { payRewardModelScores, type RewardModel } from './rewardModel.ts';
import { rollout, type RolloutRequest, type Rollouts } from './rollout.ts';
import {
  creditSettings,
  filterSettings,
  objectiveSettings,
  optimizerSettings,
  trainEnvironmentSeed,
  trainSampling,
  trainTaskSeed,
} from './settings.ts';
import { explainSkips } from './skips.ts';
import { type WeightQueue, withStaleWeights } from './staleWeights.ts';
import { batchView, correctionsOf, summarize } from './summarize.ts';

export interface TrainingRun {
  readonly policy: Policy;
  readonly env: ToolEnv;
  readonly rewardModel: RewardModel | null;
  /** Called before every batch (step 0) and before every optimizer step, counted from 1. */
  readonly config: (update: number, step: number) => RunConfig;
  readonly now: () => number; // ms
  readonly yieldToEvents: () => Promise<void>; // lets the event loop run
  /** True: each stage waits until the device is done, so that its time covers its own work only. */
  readonly fenced?: () => boolean;
  /** Called with the number of finished rollouts of a batch or an evaluation. */
  readonly onPlayed?: (done: number, total: number) => void;
  /** Called with each update's settings and optimizer steps, before its `metrics` event. */
  readonly onLearned?: (lesson: Lesson) => void;
  /** Null before the first. If `config()` differs, the next update begins with a `configured` event. */
  readonly lastConfig: RunConfig | null;
  readonly weightQueue: WeightQueue; // weights of earlier updates, if `staleness` needs them; updated after each rollout
  readonly progress: Progress; // updated after each update; training continues from it
}

/** A run pauses after this many updates in a row with no prompt to learn from (RAGEN-2 `rollout_filter_empty_stop_steps`). */
const MAX_EMPTY_UPDATES = 5;

/**
 * Trains without end. Each update has five stages: rollout, score, credit, learn, report. The caller drives it by
 * asking for the next event: stop asking to pause, and ask until a `metrics` event to take one update. Once the
 * configured number of `updates` is done, every request gets a `running: false` event until that number is raised.
 *
 * Live knobs take effect at the next optimizer step, other knobs at the next batch. The loop waits for the device once
 * per decode chunk and once per update, and once more in updates that measure input dependence or draw with older
 * weights, and for each pass that scores right answers (`informationReward`); with `fenced`, also after each stage. An optimizer step with a number that is not finite changes nothing and yields an `error`; the run
 * can continue. If the group filter drops all prompts of a batch, nothing is learned from it. After five such batches
 * in a row the run pauses.
 */
export async function* train(run: TrainingRun): AsyncGenerator<TrainingEvent, never> {
  const { policy, env, rewardModel, now, yieldToEvents, progress } = run;
  const monitor = createMonitor(progress.monitor);
  const klController = createKlController(progress.penalty);
  const waitIfFenced = async () => {
    if (run.fenced?.()) await policy.whenIdle();
  };
  let config = run.lastConfig ?? run.config(progress.update + 1, 0);
  let countersBefore = policy.counters();
  if (!progress.evaluated) {
    yield phase('evaluating', 0);
    const evaluation = await evaluate(policy, env, config, 0, { yieldToEvents, onPlayed: run.onPlayed });
    const values = { ...evaluation.values, ...(await playerBaselines(env, config, yieldToEvents)) };
    countersBefore = policy.counters();
    progress.evaluated = true;
    yield { type: 'metrics', update: 0, values, solved: evaluation.solved };
  }

  for (let update = progress.update + 1; ; update++) {
    while (update > run.config(update, 0).updates)
      yield { type: 'running', running: false, update: update - 1, finished: true };
    const changes = changedKnobs(config, run.config(update, 0));
    config = { ...config, ...changes };
    if (isNonEmpty(changes)) yield { type: 'configured', update, step: 0, changes };

    yield phase('sampling', update);
    const rolloutStart = now();
    const timer = { now, spentMs: 0 };
    const request = { ...trainingTasks(policy, config, update), timer };
    const { drawn: played, age } = await withStaleWeights(
      policy,
      run.weightQueue,
      { update, staleness: config.staleness },
      async (putCurrentBack) => {
        const afterFirstTurns = config.staleTurns === 'first' ? putCurrentBack : undefined;
        const drawn = await rollout(
          policy,
          env,
          { ...request, ...(afterFirstTurns && { afterFirstTurns }) },
          yieldToEvents,
          run.onPlayed,
        );
        const { informationReward: weight, temperature, rewardOnLastAction } = config;
        if (weight === 0) return drawn;
        const grammar = env.grammar(request.settings.grammar);
        const options = { weight, temperature, grammar, onLastAction: rewardOnLastAction === 'on' };
        return payInformationGain(policy, drawn, options);
      },
    );
    const rollouts = rewardModel ? await payRewardModelScores(played, rewardModel, config.preferenceReward) : played;
    const rolloutTime = now() - rolloutStart;

    yield phase('scoring', update);
    const scoreStart = now();
    const scoresReference = config.klCoef !== 0 || config.klRewardCoef !== 0;
    const expert = config.teacher === 'expert' ? rollouts.record : undefined;
    const teacher = config.teacher === 'none' ? undefined : (expert ?? 'reference');
    const wantsValues = usesCritic(config.estimator);
    await policy.score(config.temperature, {
      reference: scoresReference,
      values: wantsValues,
      ...(teacher && { teacher }),
    });
    await waitIfFenced();
    let learnTime = now() - scoreStart;

    yield phase('crediting', update);
    const creditStart = now();
    const filtered = filterGroups(scoresOf(rollouts, config), rollouts.groups, filterSettings(config));
    const klCoef = klController.coefficient(config);
    const credit = creditSettings(config, klCoef, filtered.scale);
    const { rewards, drawnLogprobs: behaviour } = rollouts.record;
    const { groups } = filtered;
    const marks = creditMarks({ ...rollouts.record, episodes: rollouts.episodes }, groups, credit);
    policy.credit({ rewards, groups, ...marks, behaviour }, credit);
    await waitIfFenced();
    learnTime += now() - creditStart;

    const minibatchRows = minibatches(config, policy.rows, filtered.groups, update);
    const stepsPerEpoch = minibatchRows.length / config.epochs;
    const takenSteps: LearnStep[] = [];
    for (const [step, rows] of minibatchRows.entries()) {
      yield phase('updating', update, step, minibatchRows.length);
      // If this batch has no reference log-probabilities, a KL coefficient raised now takes effect at the next batch.
      const newConfig = run.config(update, step + 1);
      const liveChanges = changedKnobs(
        config,
        newConfig,
        (name) => isLive(name) && (scoresReference || name !== 'klCoef'),
      );
      config = { ...config, ...liveChanges };
      if (isNonEmpty(liveChanges)) yield { type: 'configured', update, step: step + 1, changes: liveChanges };
      const stepStart = now();
      const objective = objectiveSettings(config);
      const optimizer = optimizerSettings(config, update);
      await policy.learn(rows, objective, optimizer, config.temperature);
      takenSteps.push({ rows, objective, optimizer, temperature: config.temperature });
      if (endsEpoch(step, minibatchRows.length, stepsPerEpoch)) policy.endEpoch();
      await waitIfFenced();
      await yieldToEvents();
      learnTime += now() - stepStart;
    }

    run.onLearned?.({ credit, steps: takenSteps });

    yield phase('reporting', update);
    const reportStart = now();
    const report = await policy.report();
    learnTime += now() - reportStart;
    const times = { rollout: rolloutTime, environment: timer.spentMs, learn: learnTime };
    const countersAfter = policy.counters();
    const { learningRate } = optimizerSettings(config, update);
    const values = summarize({
      rollouts,
      filtered,
      report,
      config,
      credit,
      learningRate,
      times,
      countersBefore,
      countersAfter,
    });
    if (config.staleness > 0) values['rollout/staleness'] = age;
    klController.observe(values, config, policy.rows);
    const view = batchView(update, rollouts, filtered, report, config);
    const views = epochViews(report, takenSteps, stepsPerEpoch, view);
    const corrected = correctionsOf({ rollouts, filtered, report, credit });
    yield {
      type: 'batch',
      batch: {
        ...view,
        ...(age > 0 && { age }),
        ...(corrected && { corrections: Float32Array.from(corrected.weights) }),
        epochViews: views,
      },
      config,
    };
    if (config.miEvery > 0 && update % config.miEvery === 0) {
      const { seed, temperature } = config;
      const { maxTurnTokens } = env;
      const options = { seed, update, temperature, maxTurnTokens, grammar: env.grammar(request.settings.grammar) };
      Object.assign(values, await measureInputDependence(policy, rollouts.record, options));
    }
    if (rewardModel) {
      rewardModel.observe(rollouts, config);
      const preferences = await rewardModel.fit();
      Object.assign(values, { 'reward_model/loss': preferences.loss });
      if (preferences.agreement !== null) Object.assign(values, { 'reward_model/agreement': preferences.agreement });
      yield { type: 'preferences', update, preferences };
    }
    let solved: ReadonlyMap<string, boolean> | undefined;
    if (evaluationDue(config, update)) {
      yield phase('evaluating', update);
      const evaluation = await evaluate(policy, env, config, update, { yieldToEvents, onPlayed: run.onPlayed });
      Object.assign(values, evaluation.values);
      ({ solved } = evaluation);
    }
    const skipped = explainSkips(update, report.steps);
    if (skipped) yield skipped;
    yield { type: 'health', update, health: monitor.observe(update, values, config) };
    const emptyUpdates = filtered.keptGroups === 0 ? progress.empty + 1 : 0;
    const isStuck = emptyUpdates === MAX_EMPTY_UPDATES;
    progress.empty = isStuck ? 0 : emptyUpdates;
    progress.update = update;
    // counts of the next update begin here, so a read-back of the weights after this update is counted in the next one
    countersBefore = policy.counters();
    yield { type: 'metrics', update, values, ...(solved && { solved }) };
    if (isStuck) {
      yield nothingKept(update);
      yield { type: 'running', running: false, update, finished: false };
    }
  }
}

function phase(name: Phase, update: number, done = 0, total = 0): TrainingEvent {
  return { type: 'phase', phase: name, update, done, total };
}

function nothingKept(update: number): TrainingEvent {
  return {
    type: 'error',
    message: `The last ${MAX_EMPTY_UPDATES} batches up to update ${update} had no prompt whose rollouts differ, so the group filter kept none and nothing was learned. The run is paused.`,
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
      return {
        seed,
        environmentSeed: config.randomness === 'own' ? trainEnvironmentSeed(config.seed, update, row) : seed,
      };
    }),
    groups,
    settings: envSettings(config),
    asksExpert: config.teacher === 'expert',
    ...rowsPerTurn(config),
    sampling: trainSampling(config, update),
    chunk: config.decodeChunk,
  };
}

/** The score of each rollout for the group filter: its reward before any KL penalty, or its success as 0 or 1. */
function scoresOf({ episodes }: Rollouts, { filterScore }: RunConfig): readonly number[] {
  return episodes.map(({ reward, success }) => (filterScore === 'reward' ? reward : Number(success)));
}

/**
 * The row indices of each optimizer step. Every epoch shuffles the rows that passed the group filter and splits them
 * into minibatches of equal size; the last may be smaller. If all rows passed there are `minibatches` of them per
 * epoch, otherwise at most as many.
 */
function minibatches(
  { seed, epochs, minibatches: parts }: RunConfig,
  rows: number,
  groups: Int32Array,
  update: number,
): Int32Array[] {
  const keptRows = Int32Array.from({ length: rows }, (_, row) => row).filter((row) => groups[row]! >= 0);
  const count = Math.ceil((keptRows.length * parts) / rows);
  const size = Math.ceil(keptRows.length / Math.max(1, count));
  return Array.from({ length: epochs }, (_, epoch) => {
    const order = keptRows.slice();
    random(seed, Purpose.shuffle, update, epoch).shuffle(order);
    return Array.from({ length: count }, (_part, part) => order.slice(part * size, (part + 1) * size));
  }).flat();
}

function evaluationDue({ evalEvery, updates }: RunConfig, update: number): boolean {
  return update === updates || (evalEvery > 0 && update % evalEvery === 0);
}
