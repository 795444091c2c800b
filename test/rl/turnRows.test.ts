import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Role } from '../../src/domain/tokens.ts';
import { random } from '../../src/base/rng.ts';
import { noProgress } from '../../src/domain/progress.ts';
import { parseConfig } from '../../src/config/config.ts';
import { createEnv } from '../../src/envs/index.ts';
import { rowLength } from '../../src/envs/rowsPerTurn.ts';
import type { ObjectiveBatch } from '../../src/model/learningMath.ts';
import type { Lesson } from '../../src/rl/lesson.ts';
import { objective } from '../../src/rl/objective.ts';
import { train } from '../../src/rl/trainer.ts';
import { fakePolicy } from './fakePolicy.ts';
import { AGGREGATIONS, gradients, plainBatch, PPO, randomBatch } from './objectiveBatches.ts';
import { close, creditOf, MASK, off, REWARDS, ROW, VALUES } from './worked.ts';

const STEP_ROWS = JSON.parse(readFileSync('test/fixtures/stepRows.json', 'utf8')) as {
  readonly steps: readonly (readonly number[])[]; // agent tokens of each step of each trajectory
  readonly groups: readonly number[];
  readonly scores: readonly number[];
  readonly cases: readonly {
    readonly estimator: 'grpo' | 'rloo' | 'maxrl';
    readonly divideByStd: boolean;
    readonly advantages: readonly (readonly number[])[]; // by step
  }[];
};

/** Two episodes, each of whose turns begins with a prompt that shows the past again: 2 turns, then 3 of other lengths. */
const { prompt, action, observation, pad } = Role;
const SHOWN = [
  [prompt, action, action, prompt, prompt, observation, action, pad, pad, pad, pad, pad, pad],
  [prompt, action, prompt, observation, action, action, action, prompt, prompt, observation, action, action, pad],
];
/** The places of the agent's tokens, turn by turn. */
const TURNS = [
  { row: 0, places: [[1, 2], [6]] },
  { row: 1, places: [[1], [4, 5, 6], [10, 11]] },
];

describe('GAE over whole turns', () => {
  it('takes the value before a turn, the sum of its rewards, and gives one advantage to all of its tokens', () => {
    const got = creditOf(ROW, REWARDS, { estimator: 'turn-gae', whiten: false }, { values: VALUES });
    // turn 3: 1 − .7; turn 2: .7 − .5 + .3; turn 1: .1 + .5 − .2 + .5
    close(got.advantages, [0.9, 0.9, 0.9, 0, 0, 0, 0.5, 0.5, 0, 0, 0.3, 0.3], 1e-12);
    close(got.returns, [1.1, 1.1, 1.1, 0, 0, 0, 1, 1, 0, 0, 1, 1], 1e-12);
    const discounted = { estimator: 'turn-gae', whiten: false, turnGamma: 0.5, lambda: 0.5, gamma: 0.1 } as const;
    const { advantages } = creditOf(ROW, REWARDS, discounted, { values: VALUES });
    // turn 3: .3; turn 2: .5·.7 − .5 + .25·.3; turn 1: .1 + .5·.5 − .2 + .25·(−.075)
    close(advantages, [0.13125, 0.13125, 0.13125, 0, 0, 0, -0.075, -0.075, 0, 0, 0.3, 0.3], 1e-12);
  });

  it('whitens over turns, so that a long turn counts once', () => {
    const got = creditOf(ROW, REWARDS, { estimator: 'turn-gae' }, { values: VALUES });
    expect([...got.masks.whiten]).toEqual([1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0]);
    // .9, .5 and .3: mean .566667, standard deviation (n − 1) .305505
    const [a, b, c] = [1.091089, -0.218218, -0.872872] as const;
    close(got.advantages, [a, a, a, 0, 0, 0, b, b, 0, 0, c, c]);
  });

  it('equals Agent-R1’s formula with one row a step, whatever a row shows again', () => {
    const draw = random(11, 3);
    const size = SHOWN.flat().length;
    const [rewards, values] = [0, 1].map(() => Array.from({ length: size }, () => 2 * draw.next() - 1));
    const [turnGamma, lambda] = [0.9, 0.8];
    const got = creditOf(SHOWN, rewards!, { estimator: 'turn-gae', turnGamma, lambda }, { values: values! });
    const want = agentR1(rewards!, values!, turnGamma, lambda);
    close(got.advantages, want.advantages, 1e-7); // Agent-R1 divides by std + 1e-8
    close(got.returns, want.returns, 1e-12);
  });

  it('leaves forced tokens out: the turn begins at its first choice, and their rewards stay in the episode', () => {
    const singles = MASK.map((_, at) => (at === 0 || at === 6 ? 1 : 0));
    const rewards = REWARDS.map((r, at) => (at === 6 ? 0.25 : r));
    const settings = { estimator: 'turn-gae', whiten: false, choicesOnly: true } as const;
    const { advantages } = creditOf(ROW, rewards, settings, { values: VALUES, singles });
    // turn 2 begins at 7 (V .6), turn 1 at 1 (V .3); the forced token at 6 pays the choice before it, in turn 1
    close(advantages, [0, 1.05, 1.05, 0, 0, 0, 0, 0.4, 0, 0, 0.3, 0.3], 1e-12);
  });

  it('with the advantage mask off gives an observation the advantage of the turn before it, with its reward', () => {
    const rewards = REWARDS.map((r, at) => (at === 4 ? 0.5 : r));
    const settings = { estimator: 'turn-gae', whiten: false, masks: off('advantage') } as const;
    const { advantages } = creditOf(ROW, rewards, settings, { values: VALUES });
    close(advantages, [1.4, 1.4, 1.4, 1.4, 1.4, 1.4, 0.5, 0.5, 0.5, 0.5, 0.3, 0.3], 1e-12);
  });
});

describe('a group estimator with rows per turn', () => {
  it('gives an episode’s advantage to each of its rows through that row’s own mask, and counts episodes, not turns', () => {
    const rewards = SHOWN.flat().map(() => 0);
    rewards[2] = 0.5; // a reward in the first turn of episode 1
    rewards[6] = 1.5; // and at its end: score 2
    rewards[13 + 11] = 1; // episode 2: score 1
    const { advantages } = creditOf(SHOWN, rewards, { estimator: 'rloo' }, { groups: [0, 0] });
    // two members, not five: each is compared with the one other
    const want = SHOWN.flatMap((roles, b) => roles.map((role) => (role === action ? (b === 0 ? 1 : -1) : 0)));
    expect([...advantages]).toEqual(want);
  });

  // SkyRL's trainer itself, called by test/python/write_step_rows_fixture.py
  it.each(STEP_ROWS.cases)('spreads $estimator (divided by std: $divideByStd) over rows as SkyRL does', (skyrl) => {
    const episodes = STEP_ROWS.steps.map((counts) =>
      counts.flatMap((count) => [prompt, prompt, ...Array<number>(count).fill(action)]),
    );
    const length = Math.max(...episodes.map((roles) => roles.length));
    const rows = episodes.map((roles) => [...roles, ...Array<number>(length - roles.length).fill(pad)]);
    const rewards = episodes.flatMap((roles, t) =>
      Array.from({ length }, (_, at) => (at === roles.length - 1 ? STEP_ROWS.scores[t]! : 0)),
    );
    const { estimator, divideByStd } = skyrl;
    const { advantages } = creditOf(rows, rewards, { estimator, divideByStd }, { groups: STEP_ROWS.groups });
    const got = episodes.flatMap((roles, t) => roles.map((_, at) => advantages[t * length + at]!));
    const spread = STEP_ROWS.steps.flat().flatMap((count, row) => skyrl.advantages[row]!.slice(0, 2 + count));
    close(got, spread, 1e-9);
    expect(new Set(spread).size).toBeGreaterThan(3);
  });
});

describe('the loss of rows that hold several contexts', () => {
  // one row of a turn of 1 token and one of 3; advantages 1 and 2
  const plain = plainBatch(4, [[1, 2, 2, 2]]);
  const turns: ObjectiveBatch = { ...plain, contextStarts: [0, 1, 1, 1] };
  const weights = (batch: ObjectiveBatch, aggregation: (typeof AGGREGATIONS)[number]) => {
    const out = gradients(4);
    const { policyLoss } = objective(batch, Int32Array.of(0), { ...PPO, valueCoef: 0, aggregation }, out);
    return [policyLoss, ...out.policyWeights];
  };

  it.each([
    // one sequence of four tokens → two of one and three
    ['token-mean', [-7 / 4, -1 / 4, -2 / 4, -2 / 4, -2 / 4], [-7 / 4, -1 / 4, -2 / 4, -2 / 4, -2 / 4]],
    ['seq-mean-token-sum', [-7, -1, -2, -2, -2], [-7 / 2, -1 / 2, -1, -1, -1]],
    ['seq-mean-token-mean', [-7 / 4, -1 / 4, -2 / 4, -2 / 4, -2 / 4], [-3 / 2, -1 / 2, -1 / 3, -1 / 3, -1 / 3]],
    ['seq-mean-token-sum-norm', [-7 / 4, -1 / 4, -2 / 4, -2 / 4, -2 / 4], [-7 / 8, -1 / 8, -1 / 4, -1 / 4, -1 / 4]],
  ] as const)('%s counts turns as sequences', (aggregation, asEpisode, asTurns) => {
    close(weights(plain, aggregation), asEpisode, 1e-12);
    close(weights(turns, aggregation), asTurns, 1e-12);
  });

  // three rows of three contexts, of which one begins at 4 and one at 9
  const [rows, length] = [3, 12];
  const batch = randomBatch(rows, length);
  const starts = Array.from({ length: rows * length }, (_, at) => [0, 4, 9].findLast((start) => at % length >= start)!);
  // the same tokens with a row for each context
  const places = [...new Set(starts.map((start, at) => at - (at % length) + start))].map((first) =>
    starts.flatMap((start, at) => (at - (at % length) + start === first ? [at] : [])),
  );
  const split = Object.fromEntries(
    Object.entries(batch).map(([name, list]) => [
      name,
      typeof list === 'number'
        ? list
        : places.flatMap((own) => Array.from({ length }, (_, t) => (own[t] === undefined ? 0 : list[own[t]]!))),
    ]),
  ) as unknown as ObjectiveBatch;

  it.each(
    AGGREGATIONS.flatMap((aggregation) => (['clipped', 'gspo'] as const).map((name) => [aggregation, name] as const)),
  )('%s with %s is that of one row per turn', (aggregation, surrogate) => {
    const settings = { ...PPO, aggregation, surrogate, klCoef: 0.2, entropyCoef: 0.1 };
    const [inRows, apart] = [gradients(rows * length), gradients(places.length * length)];
    const got = objective({ ...batch, contextStarts: starts }, Int32Array.of(0, 1, 2), settings, inRows);
    const want = objective(
      split,
      Int32Array.from(places, (_, row) => row),
      settings,
      apart,
    );
    close(Object.values(got), Object.values(want), 1e-12);
    for (const name of ['policyWeights', 'dlogprobs', 'dentropies', 'dvalues'] as const) {
      const back = new Float64Array(rows * length);
      places.forEach((own, row) => own.forEach((at, t) => (back[at] = apart[name][row * length + t]!)));
      close(inRows[name], [...back], 1e-12);
      expect(back.some((x) => x !== 0)).toBe(true);
    }
    const asEpisodes = objective(batch, Int32Array.of(0, 1, 2), settings, gradients(rows * length));
    const differs = Math.abs(asEpisodes.policyLoss - got.policyLoss) > 1e-3;
    expect(differs).toBe(aggregation !== 'token-mean' || surrogate === 'gspo');
  });
});

describe('training with a row for each turn', () => {
  const steps = async (maxTurns: number, rows: 'turn' | 'episode') => {
    const config = parseConfig({ prompts: 4, groupSize: 4, updates: 1, evalEvery: 0, evalTasks: 4, maxTurns, rows });
    const env = createEnv(config);
    const lessons: Lesson[] = [];
    const events = train({
      ...{ policy: fakePolicy(16, rowLength(config, env), env.vocabulary.length), env, rewardModel: null },
      ...{ config: () => config, now: () => 0, yieldToEvents: () => Promise.resolve(), lastConfig: null },
      ...{ progress: noProgress(), weightQueue: { earlier: [] }, onLearned: (lesson: Lesson) => lessons.push(lesson) },
    });
    let turns = 0;
    for await (const event of events) {
      if (event.type === 'batch') turns = event.batch.episodes.reduce((sum, episode) => sum + episode.turns, 0);
      if (event.type === 'running') break;
    }
    return { turns, steps: lessons[0]!.steps.map(({ rows: taken }) => [...taken]) };
  };

  it('takes the same optimizer steps over the same episodes, however many turns these have', async () => {
    const [few, many, episodes] = [await steps(2, 'turn'), await steps(6, 'turn'), await steps(6, 'episode')];
    expect(many.turns).toBeGreaterThan(1.5 * few.turns);
    expect(few.steps).toHaveLength(4); // two epochs of two minibatches
    expect(few.steps.every((rows) => rows.length === 8)).toBe(true);
    expect(many.steps).toEqual(few.steps);
    expect(many.steps).toEqual(episodes.steps);
  });
});

/** `compute_gae_advantage_return` of Agent-R1 0.1.0 in plain float64, with a row for each turn. */
function agentR1(rewards: readonly number[], values: readonly number[], gamma: number, lambda: number) {
  const width = SHOWN[0]!.length;
  const steps = TURNS.flatMap(({ row, places }) =>
    places.map((turn, k) => {
      const at = turn.map((t) => row * width + t);
      return { row, k, at, reward: at.reduce((sum, i) => sum + rewards[i]!, 0), value: values[at[0]!]! };
    }),
  );
  const advantageOf = (row: number, k: number): number => {
    const step = steps.find((each) => each.row === row && each.k === k);
    if (!step) return 0;
    const next = steps.find((each) => each.row === row && each.k === k + 1);
    return step.reward + gamma * (next?.value ?? 0) - step.value + gamma * lambda * advantageOf(row, k + 1);
  };
  const raw = steps.map(({ row, k }) => advantageOf(row, k));
  const mean = raw.reduce((a, b) => a + b, 0) / raw.length;
  const std = Math.sqrt(raw.reduce((sum, a) => sum + (a - mean) ** 2, 0) / (raw.length - 1));
  const advantages = SHOWN.flat().map(() => 0);
  const returns = SHOWN.flat().map(() => 0);
  for (const [i, { at, value }] of steps.entries())
    for (const place of at) {
      advantages[place] = (raw[i]! - mean) / (std + 1e-8);
      returns[place] = raw[i]! + value;
    }
  return { advantages, returns };
}
