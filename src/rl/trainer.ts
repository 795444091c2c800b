import type { RunConfig } from '../config.ts';
import type { ToolEnv } from '../envs/env.ts';
import { envSettings } from '../envs/index.ts';
import type { Policy } from '../model/policy.ts';
import type { Phase, RunEvent } from '../protocol.ts';
import { Purpose, random } from '../rng.ts';
import { evaluate } from './evaluate.ts';
import { changedKnobs, isLive } from './knobs.ts';
import { rollout, type RolloutRequest } from './rollout.ts';
import { creditSettings, objectiveSettings, optimizerSettings, trainSampling, trainTaskSeed } from './settings.ts';
import { explainSkips } from './skips.ts';
import { batchView, summarize } from './summarize.ts';

/** What a training run is made of. */
export interface Run {
  readonly policy: Policy;
  readonly env: ToolEnv;
  readonly config: () => RunConfig; // read anew before every batch and every optimizer step
  readonly now: () => number; // ms
  readonly breathe: () => Promise<void>; // lets the event loop run
}

/**
 * Trains for ever: rollout, score, credit, learn, report. To pause, stop pulling; to step, pull until `metrics`. When
 * `updates` is reached it says so at every pull until there are more. Live knobs count from the next optimizer step,
 * others from the next batch. One awaited read-back per decode chunk and one per update. An optimizer step that would
 * not be finite changes nothing and yields an `error`; the run is unharmed.
 */
export async function* train(run: Run): AsyncGenerator<RunEvent, never> {
  const { policy, env, now, breathe } = run;
  let config = run.config();
  yield phase('evaluating', 0);
  yield { type: 'metrics', update: 0, values: await evaluate(policy, env, config, 0, breathe) };

  for (let update = 1; ; update++) {
    while (update > run.config().updates) yield { type: 'running', running: false, update: update - 1, finished: true };
    const changes = changedKnobs(config, run.config());
    config = { ...config, ...changes };
    if (isSome(changes)) yield { type: 'configured', update, changes };
    const before = policy.counters();

    // 1 rollout
    yield phase('sampling', update);
    const began = now();
    const rolled = await rollout(policy, env, trainingTasks(policy, config, update), breathe);
    const rolloutTime = now() - began;

    // 2 score
    yield phase('scoring', update);
    const resumed = now();
    const hasReference = config.klCoef !== 0;
    policy.score(config.temperature, hasReference);

    // 3 credit
    policy.credit(rolled.record.rewards, rolled.groups, creditSettings(config));
    let learnTime = now() - resumed;

    // 4 learn
    for (const [step, rows] of minibatches(config, policy.rows, update).entries()) {
      yield phase('updating', update, step, config.epochs * config.minibatches);
      // without reference log-probabilities a KL turned up now has to wait for the next batch
      const live = changedKnobs(config, run.config(), (name) => isLive(name) && (hasReference || name !== 'klCoef'));
      config = { ...config, ...live };
      if (isSome(live)) yield { type: 'configured', update, changes: live };
      const started = now();
      policy.learn(rows, objectiveSettings(config), optimizerSettings(config), config.temperature);
      await breathe();
      learnTime += now() - started;
    }

    // 5 report
    const waited = now();
    const report = await policy.report();
    learnTime += now() - waited;
    const times = { rollout: rolloutTime, learn: learnTime };
    const values = summarize({ rolled, report, config, times, before, after: policy.counters() });
    if (evaluationDue(config, update)) {
      yield phase('evaluating', update);
      Object.assign(values, await evaluate(policy, env, config, update, breathe));
    }
    const skipped = explainSkips(update, report.steps);
    if (skipped) yield skipped;
    yield { type: 'batch', batch: batchView(update, rolled, report) };
    yield { type: 'metrics', update, values };
  }
}

function phase(name: Phase, update: number, done = 0, total = 0): RunEvent {
  return { type: 'phase', phase: name, update, done, total };
}

function isSome(changes: Partial<RunConfig>): boolean {
  return Object.keys(changes).length > 0;
}

/** The batch of an update: `prompts` tasks, each rolled out `groupSize` times. */
function trainingTasks(policy: Policy, config: RunConfig, update: number): RolloutRequest {
  const groups = Int32Array.from({ length: policy.rows }, (_, row) => Math.floor(row / config.groupSize));
  return {
    seeds: Array.from(groups, (group) => trainTaskSeed(config.seed, update, group)),
    groups,
    settings: envSettings(config),
    sampling: trainSampling(config, update),
    chunk: config.decodeChunk,
  };
}

/** Each epoch deals the rows anew into minibatches of equal size. */
function minibatches({ seed, epochs, minibatches: parts }: RunConfig, rows: number, update: number): Int32Array[] {
  const size = rows / parts;
  return Array.from({ length: epochs }, (_, epoch) => {
    const order = Int32Array.from({ length: rows }, (_, row) => row);
    random(seed, Purpose.shuffle, update, epoch).shuffle(order);
    return Array.from({ length: parts }, (_, part) => order.slice(part * size, (part + 1) * size));
  }).flat();
}

function evaluationDue({ evalEvery, updates }: RunConfig, update: number): boolean {
  return update === updates || (evalEvery > 0 && update % evalEvery === 0);
}
