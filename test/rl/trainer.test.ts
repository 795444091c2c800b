import { describe, expect, it } from 'vitest';
import { noProgress } from '../../src/domain/progress.ts';
import { parseConfig, type RunConfig } from '../../src/config/config.ts';
import { createEnv } from '../../src/envs/index.ts';
import { isMetricName } from './metricNames.ts';
import type { TrainingEvent } from '../../src/domain/trainingEvent.ts';
import type { Lesson } from '../../src/rl/lesson.ts';
import { train } from '../../src/rl/trainer.ts';
import { fakePolicy } from './fakePolicy.ts';

function setUp(knobs: Record<string, unknown> = {}, more: Partial<Parameters<typeof train>[0]> = {}) {
  let config: RunConfig = parseConfig({ prompts: 4, groupSize: 4, updates: 3, evalEvery: 0, evalTasks: 20, ...knobs });
  const env = createEnv(config);
  const policy = fakePolicy(config.prompts * config.groupSize, env.maxTokens, env.vocabulary.length);
  let clock = 0;
  const events = train({
    policy,
    env,
    rewardModel: null,
    config: () => config,
    now: () => (clock += 5),
    yieldToEvents: () => Promise.resolve(),
    lastConfig: null,
    weightQueue: { earlier: [] },
    progress: noProgress(),
    ...more,
  });
  const until = async (wanted: (event: TrainingEvent) => boolean) => {
    const seen: TrainingEvent[] = [];
    for (;;) {
      const { value } = await events.next();
      seen.push(value);
      if (wanted(value)) return seen;
    }
  };
  return {
    policy,
    until,
    untilMetrics: (update: number) => until((event) => event.type === 'metrics' && event.update === update),
    configure: (changes: Record<string, unknown>) => (config = parseConfig({ ...config, ...changes })),
  };
}

describe('train', () => {
  it('goes through rollout, score, credit, learn and report, in that order', async () => {
    const { policy, untilMetrics } = setUp();
    await untilMetrics(0);
    policy.calls.length = 0;
    const seen = await untilMetrics(1);
    const stages = policy.calls.filter((call, i) => call !== policy.calls[i - 1]);
    expect(stages).toEqual(['begin', 'decode', 'score', 'credit', 'learn', 'endEpoch', 'learn', 'report']);
    expect(policy.learned).toHaveLength(4);
    const phases = seen.flatMap((event) => (event.type === 'phase' ? [event.phase] : []));
    expect(phases).toEqual(['sampling', 'scoring', 'crediting', ...Array<string>(4).fill('updating'), 'reporting']);
    expect(seen.slice(-3).map(({ type }) => type)).toEqual(['batch', 'health', 'metrics']);
  });

  it('times a rollout, the environment’s part of it, and what follows without the evaluation', async () => {
    const { untilMetrics } = setUp({ evalEvery: 1 });
    await untilMetrics(0);
    const metrics = (await untilMetrics(1)).at(-1)!;
    const values = metrics.type === 'metrics' ? metrics.values : {};
    // 16 episodes are begun, and each turn is answered
    const asked = 16 * (1 + values['num_turns/mean']!);
    // the clock goes on 5 ms with each look, and is looked at before and after each
    expect(values['time/environment']).toBeCloseTo(0.005 * asked, 9); // sums of floating-point seconds
    expect(values['time/rollout']).toBeCloseTo(0.005 * (2 * asked + 1), 9);
    expect(values['time/learn']).toBeCloseTo(0.035, 9); // scoring, crediting, four steps and the report
    expect(values['time/update']).toBeCloseTo(values['time/rollout']! + 0.035, 9);
  });

  it('waits for the device after each stage where stages are fenced, and nowhere else', async () => {
    for (const fenced of [true, false]) {
      const { policy, untilMetrics } = setUp({}, { fenced: () => fenced });
      let waits = 0;
      policy.whenIdle = () => {
        waits++;
        return Promise.resolve();
      };
      await untilMetrics(1);
      expect(waits).toBe(fenced ? 6 : 0); // score, credit, four steps
    }
  });

  it('notes the credit and the steps of an update for those who ask later', async () => {
    const noted: Lesson[] = [];
    const { policy, untilMetrics } = setUp({}, { onLearned: (lesson) => noted.push(lesson) });
    await untilMetrics(2);
    expect(noted).toHaveLength(2);
    expect(noted[0]!.steps.map(({ rows }) => [...rows])).toEqual(
      policy.learned.slice(0, 4).map(({ rows }) => [...rows]),
    );
    expect(noted[0]!.credit.estimator).toBe('grpo');
  });

  it('says which tasks an evaluation solved, and only where there was one', async () => {
    const { until } = setUp({ evalEvery: 2, updates: 3 });
    const said: [number, boolean][] = [];
    await until((event) => {
      if (event.type === 'metrics') said.push([event.update, event.solved !== undefined && event.solved.size > 0]);
      return said.length === 4;
    });
    expect(said).toEqual([
      [0, true],
      [1, false],
      [2, true],
      [3, true],
    ]);
  });

  it('asks for a reference where there is a KL, in the loss or in the reward', async () => {
    for (const [knobs, reference] of [
      [{ klCoef: 0 }, false],
      [{ klCoef: 0.1 }, true],
      [{ klCoef: 0, klRewardCoef: 0.1 }, true],
    ] as const) {
      const { policy, untilMetrics } = setUp(knobs);
      await untilMetrics(1);
      expect(policy.scored.at(-1)!.reference).toBe(reference);
    }
  });

  it('measures input dependence every so many updates, and never where that is 0', async () => {
    for (const [miEvery, want] of [
      [0, []],
      [2, [2]],
    ] as const) {
      const { until } = setUp({ miEvery });
      const measured: number[] = [];
      await until((event) => {
        if (event.type === 'metrics' && 'collapse/mi_seq_estimate' in event.values) measured.push(event.update);
        return event.type === 'metrics' && event.update === 3;
      });
      expect(measured).toEqual(want);
    }
  });

  it('pauses after five batches in a row from which the filter kept nothing, and says what to do', async () => {
    const { policy, until } = setUp({ filter: 'drop-uniform', filterScore: 'success', temperature: 0.1, updates: 20 });
    // the fake policy plays all rollouts of a prompt alike where it plays greedily
    const begin = policy.begin.bind(policy);
    policy.begin = (sampling) => begin({ ...sampling, greedy: true });
    const seen = await until((event) => event.type === 'running' && !event.running);
    const at = seen.findIndex((event) => event.type === 'error');
    expect(seen[at]).toMatchObject({ fatal: false, fields: ['filter', 'temperature'] });
    const { message, hint } = seen[at] as Extract<TrainingEvent, { type: 'error' }>;
    expect(message).toMatch(/^The last 5 batches up to update 5 had no prompt whose rollouts differ/);
    expect(hint).toMatch(/group filter to none/);
    expect(seen.at(-1)).toEqual({ type: 'running', running: false, update: 5, finished: false });
    expect(policy.learned).toHaveLength(0);
    // the count begins anew
    const again = await until((event) => event.type === 'running' && !event.running);
    expect(again.at(-1)).toMatchObject({ update: 10 });
  });

  it('deals what a filter left into fewer minibatches of about the same size', async () => {
    const { policy, untilMetrics } = setUp({ filter: 'top-fraction', filterShare: 0.5, minibatches: 4, epochs: 1 });
    await untilMetrics(1);
    expect(policy.learned.map(({ rows }) => rows.length)).toEqual([4, 4]);
    expect(new Set(policy.learned.flatMap(({ rows }) => [...rows])).size).toBe(8);
  });

  it('deals every row once per epoch', async () => {
    const { policy, untilMetrics } = setUp();
    await untilMetrics(1);
    const [a, b, c, d] = policy.learned.map(({ rows }) => [...rows]);
    const all = Array.from({ length: 16 }, (_, row) => row);
    const sorted = (rows: number[]) => [...rows].sort((x, y) => x - y);
    expect(sorted([...a!, ...b!])).toEqual(all);
    expect(sorted([...c!, ...d!])).toEqual(all);
    expect(a).not.toEqual(c);
  });

  it('awaits one read-back per chunk and one per update', async () => {
    const { policy, untilMetrics } = setUp();
    await untilMetrics(0);
    const before = policy.calls.length;
    const seen = await untilMetrics(1);
    const metrics = seen.at(-1)!;
    const decodes = policy.calls.slice(before).filter((call) => call === 'decode').length;
    expect(metrics.type === 'metrics' && metrics.values['engine/readbacks']).toBe(decodes + 1);
  });

  it('reports metrics that are defined, finite and named in the table', async () => {
    const { untilMetrics } = setUp({ evalEvery: 1 });
    const last = (await untilMetrics(1)).at(-1)!;
    if (last.type !== 'metrics') throw new Error('want metrics');
    for (const [name, value] of Object.entries(last.values)) {
      expect(isMetricName(name), name).toBe(true);
      expect(value, name).toSatisfy(Number.isFinite);
    }
    expect(last.values).toMatchObject({
      'actor/grad_norm': 2,
      'rollout/invalid_turns': 0,
      'rollout/truncated': 0,
      'actor/lr': 0.002,
    });
    // the fake recomputes what it drew from the same numbers
    expect(last.values['rollout/logprob_mismatch']).toBeLessThan(1e-6);
    expect(last.values['eval/success']).toBeTypeOf('number');
  });

  it('evaluates before, every evalEvery and after, on its own streams', async () => {
    const { policy, until } = setUp({ evalEvery: 2, updates: 3 });
    const seen = await until((event) => event.type === 'running');
    const evaluated = seen.flatMap((e) => (e.type === 'metrics' && 'eval/success' in e.values ? [e.update] : []));
    expect(evaluated).toEqual([0, 2, 3]);
    const trained = seen.filter((event) => event.type === 'batch').length;
    expect(trained).toBe(3);
    const keys = new Set(policy.samplings.map(({ key }) => key));
    expect(keys.size).toBe(2);
    const draws = policy.samplings.map(({ key, update, greedy }) => `${key} ${update} ${greedy}`);
    expect(new Set(draws).size).toBe(draws.length);
  });

  it('says that it is finished, and goes on when there are more updates', async () => {
    const { until, untilMetrics, configure } = setUp({ updates: 1 });
    const finished = (event: TrainingEvent) => event.type === 'running' && event.finished && event.update === 1;
    await until(finished);
    await until(finished);
    configure({ updates: 2 });
    await untilMetrics(2);
  });

  it('applies live knobs at the next optimizer step and others at the next batch', async () => {
    const { policy, until, untilMetrics, configure } = setUp();
    const updating = (done: number) => (e: TrainingEvent) =>
      e.type === 'phase' && e.phase === 'updating' && e.done === done;
    await until(updating(1));
    configure({ learningRate: 0.01, temperature: 0.5 });
    const [first, ...rest] = await untilMetrics(1);
    expect(first).toEqual({ type: 'configured', update: 1, step: 2, changes: { learningRate: 0.01 } });
    expect(rest.filter(({ type }) => type === 'configured')).toEqual([]);
    expect(policy.learned.map(({ optimizer }) => optimizer.learningRate)).toEqual([0.002, 0.01, 0.01, 0.01]);
    expect(policy.samplings.at(-1)!.temperature).toBe(1);
    const next = await untilMetrics(2);
    expect(next[0]).toEqual({ type: 'configured', update: 2, step: 0, changes: { temperature: 0.5 } });
    expect(policy.samplings.at(-1)!.temperature).toBe(0.5);
  });

  it.each([0.5, 1, 1.7])('draws, scores and learns at one temperature: %f', async (temperature) => {
    const { policy, untilMetrics } = setUp({ temperature });
    await untilMetrics(0);
    policy.samplings.length = 0;
    const last = (await untilMetrics(2)).at(-1)!;
    expect(policy.samplings.map((sampling) => sampling.temperature)).toEqual([temperature, temperature]);
    expect(policy.scored.map((scored) => scored.temperature)).toEqual([temperature, temperature]);
    expect(policy.learned.map((learned) => learned.temperature)).toEqual(new Array(8).fill(temperature));
    // float32 rounding of log-probabilities of a few nats
    expect(last.type === 'metrics' && last.values['rollout/logprob_mismatch']).toBeLessThan(1e-6);
  });

  it('measures input dependence at the temperature of training', async () => {
    const { policy, untilMetrics } = setUp({ temperature: 0.6, miEvery: 1 });
    await untilMetrics(1);
    expect(policy.scored.map(({ temperature }) => temperature)).toEqual([0.6, 0.6]);
  });

  it('waits with a KL turned up inside a batch until there are reference log-probabilities', async () => {
    const { policy, until, untilMetrics, configure } = setUp();
    await until((event) => event.type === 'phase' && event.phase === 'updating');
    configure({ klCoef: 0.1 });
    await untilMetrics(2);
    expect(policy.learned.slice(0, 4).map(({ objective }) => objective.klCoef)).toEqual([0, 0, 0, 0]);
    expect(policy.learned.slice(4).map(({ objective }) => objective.klCoef)).toEqual([0.1, 0.1, 0.1, 0.1]);
  });

  it('names the step and the tensor of a skipped step, and can be pulled on', async () => {
    const { policy, until, untilMetrics } = setUp();
    await untilMetrics(1);
    policy.breakNextStep('gradient model.norm.weight');
    const error = (await until(({ type }) => type === 'error')).at(-1)!;
    if (error.type !== 'error') throw new Error('want an error');
    expect(error).toMatchObject({ fatal: false, fields: ['learningRate', 'maxGradNorm'] });
    expect(error.message).toContain('Update 2, optimizer step 1 of 4: gradient model.norm.weight');
    await untilMetrics(3);
  });

  it('trains the same whatever the decode chunk', async () => {
    const trained = async (decodeChunk: number) => {
      const { untilMetrics } = setUp({ decodeChunk });
      const told = (await untilMetrics(2)).find((event) => event.type === 'batch');
      return told?.batch;
    };
    const short = await trained(3);
    expect(short?.rows).toBeGreaterThan(0);
    expect(short).toEqual(await trained(16));
  });
});
