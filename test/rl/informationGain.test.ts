import { describe, expect, test } from 'vitest';
import { tokenLogprobs } from '../../src/analysis/tokenDistribution.ts';
import { parseConfig } from '../../src/config/config.ts';
import { ENV_NAMES, ENVIRONMENTS, RIGHT_ANSWER_ENVS } from '../../src/config/environments.ts';
import { NO_REWARD_SETTINGS } from '../../src/envs/env.ts';
import { createEnv } from '../../src/envs/index.ts';
import type { BatchView } from '../../src/domain/batch.ts';
import type { EpisodeView } from '../../src/domain/episode.ts';
import type { Metrics } from '../../src/domain/metrics.ts';
import { noProgress } from '../../src/domain/progress.ts';
import { freeGrammar, Role, type TokenRecord } from '../../src/domain/tokens.ts';
import { modelConfig } from '../../src/model/architecture.ts';
import { createCpuPolicy } from '../../src/model/cpu/cpuPolicy.ts';
import type { Policy } from '../../src/model/policy.ts';
import { episodeRecord } from '../../src/rl/episodeRecord.ts';
import { type Turn, turnsOf } from '../../src/rl/inputDependence.ts';
import { payInformationGain } from '../../src/rl/informationGain.ts';
import { learningMath } from '../../src/rl/plainLearningMath.ts';
import { rollout } from '../../src/rl/rollout.ts';
import { train, trainingTasks } from '../../src/rl/trainer.ts';

const NOTHING = { outcome: 1, process: 0, call: 0, format: 0, think: 0, turnCost: 0, preference: 0, information: 0 };

describe('information gain, by hand', () => {
  /** Two equal rows of three turns: prompt of 2, a turn of 3, an observation, a turn of 3, an observation, a turn of 3. */
  function rolled(length = 13) {
    const record = episodeRecord(2, length);
    for (const row of [0, 1]) {
      const roles = [1, 1, 2, 2, 2, 3, 2, 2, 2, 3, 2, 2, 2] as Role[];
      roles.forEach((role, t) => record.push(row, 10 + t, { role, turn: 1, grammarState: 0, logprob: 0 }));
    }
    const episodes = [0, 1].map((row) => ({ row, reward: 1, parts: NOTHING }) as EpisodeView);
    const rightAnswers = [{ tokens: [1, 2, 3], given: 1 }, null];
    return { record, groups: Int32Array.of(0, 0), episodes, rightAnswers };
  }
  /** The token at index t of a row has the probability (t + 1) / 20, whatever it is. */
  function policyOf(length = 13) {
    const loaded: TokenRecord[] = [];
    const logprobs = Float64Array.from({ length: 2 * length }, (_, at) => Math.log(((at % length) + 1) / 20));
    const policy = {
      ...{ rows: 2, length, load: (record: TokenRecord) => loaded.push(record), score: () => undefined },
      report: () => Promise.resolve({ logprobs }),
    } as unknown as Policy;
    return { policy, loaded };
  }
  const options = { weight: 0.5, temperature: 1, grammar: freeGrammar(30), onLastAction: true };

  test('a turn is paid what it adds to the log-probability of the answer; the tag is given, the last turn gets nothing', async () => {
    const { policy, loaded } = policyOf();
    const batch = rolled();
    const { episodes } = await payInformationGain(policy, batch, options);
    // the answer's two words would be tokens 3 and 4, 7 and 8, 11 and 12: probabilities 4·5, 8·9 and 12·13 of 400
    const [first, second] = [0.5 * Math.log(72 / 20), 0.5 * Math.log(156 / 72)];
    const paid = [...batch.record.parts.information];
    expect(paid).toEqual([...paid.keys()].map((at) => (at === 4 ? Math.fround(first) : at === 8 ? Math.fround(second) : 0))); // prettier-ignore
    expect(episodes[0]!.parts.information).toBeCloseTo(0.5 * Math.log(156 / 20), 12); // telescopes, in float64
    expect(episodes.map(({ reward }) => reward)).toEqual([1 + episodes[0]!.parts.information, 1]); // the second has no answer
    expect([...batch.record.rewards]).toEqual(paid);
    // three contexts need two passes of two rows; then the batch is there again
    expect(loaded.length).toBe(3);
    expect([...loaded[0]!.tokens.subarray(0, 5)]).toEqual([10, 11, 1, 2, 3]);
    expect([...loaded[0]!.roles.subarray(0, 5)]).toEqual([Role.prompt, Role.prompt, Role.prompt, Role.action, Role.action]); // prettier-ignore
    expect(loaded.at(-1)!.tokens).toBe(batch.record.tokens);
  });

  test('off the last action, the gain is paid where it was read; equal contexts are scored once', async () => {
    const { policy, loaded } = policyOf();
    const batch = { ...rolled(), rightAnswers: [0, 1].map(() => ({ tokens: [1, 2, 3], given: 1 })) };
    await payInformationGain(policy, batch, { ...options, onLastAction: false });
    const places = [...batch.record.parts.information.keys()].filter((at) => batch.record.parts.information[at] !== 0);
    expect(places).toEqual([5, 9, 18, 22]);
    expect(loaded.length).toBe(3);
  });

  test('an answer that no longer fits into the row ends the gains', async () => {
    const batch = rolled();
    batch.rightAnswers[0] = { tokens: [1, 2, 3, 4], given: 1 };
    const { episodes } = await payInformationGain(policyOf().policy, batch, options);
    expect(episodes[0]!.parts.information).toBeCloseTo(0.5 * Math.log((8 * 9 * 10) / (4 * 5 * 6)), 12);
  });
});

test.each(ENV_NAMES.filter((env) => !ENVIRONMENTS[env].facts))(
  '%s: its right answer solves the task, or it has none',
  (env) => {
    const toolEnv = createEnv(parseConfig({ env }));
    for (let seed = 1; seed <= 20; seed++) {
      const episode = toolEnv.reset(seed, NO_REWARD_SETTINGS);
      const answer = episode.rightAnswer?.() ?? null;
      expect(answer !== null).toBe(RIGHT_ANSWER_ENVS.includes(env));
      if (answer) expect(episode.step(answer.tokens, NO_REWARD_SETTINGS)).toMatchObject({ success: true, valid: true });
    }
  },
);

describe('information gain of a network', () => {
  test.each([
    ['number-hunt', { rows: 'episode' }],
    ['number-hunt', { rows: 'turn', temperature: 0.7 }],
    ['multi-hop', { rows: 'episode', temperature: 0.7 }],
    ['calculator', { rows: 'episode', grammar: 'off' }],
    ['document-search', { rows: 'turn' }],
  ] as const)(
    '%s, %o: adds up to log p(answer) at the end − at the start, worked out word by word',
    async (env, set) => {
      const small = { prompts: 4, groupSize: 4, layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 32 };
      const config = parseConfig({ env, ...small, ...set });
      const toolEnv = createEnv(config);
      const model = modelConfig(config, toolEnv.vocabulary.length, false);
      const request = trainingTasks({ rows: 16 }, config, 1);
      const length = 600;
      const policy = createCpuPolicy({ model, critic: 'none', rows: 16, length, minibatchRows: 16 }, learningMath, { seed: 5, reason: '' }); // prettier-ignore
      const played = await rollout(policy, toolEnv, request, () => Promise.resolve());
      const grammar = toolEnv.grammar(request.settings.grammar);
      const { temperature } = config;
      const options = { weight: 2, temperature, grammar, onLastAction: true };
      const { episodes, record, rightAnswers } = await payInformationGain(policy, played, options);
      await policy.score(temperature, { reference: false, values: false });
      const { logprobs } = await policy.report();
      for (const [at, role] of record.roles.entries())
        if (role === Role.action) expect(Math.abs(logprobs[at]! - record.logprobs[at]!)).toBeLessThan(1e-5); // the batch is back

      const logprobOfAnswer = async ({ context, states }: Turn, row: number) => {
        const { tokens, given } = rightAnswers![row]!;
        let [sum, state] = [0, states[0]!];
        for (const [i, token] of tokens.entries()) {
          const read = [...Array.from(context), ...tokens.slice(0, i)];
          const list = new Int32Array(16 * length);
          list.set(read);
          policy.load({ tokens: list, roles: new Uint8Array(list.length).fill(Role.prompt, 0, read.length), states: new Uint8Array(list.length) }); // prettier-ignore
          if (i >= given) sum += (await tokenLogprobs(policy, grammar, state, read.length, temperature))[token]!;
          state = grammar.next[state * grammar.vocabulary + token]!;
        }
        return sum;
      };
      const longest = episodes.filter(({ row }) => turnsOf(record, row).length > 1).slice(0, 4);
      expect(longest.length).toBe(4);
      for (const { row, parts } of longest) {
        const turns = turnsOf(record, row);
        const want = 2 * ((await logprobOfAnswer(turns.at(-1)!, row)) - (await logprobOfAnswer(turns[0]!, row)));
        const own = record.parts.information.subarray(row * length, (row + 1) * length);
        expect(Math.abs(own.reduce((sum, paid) => sum + paid, 0) - parts.information)).toBeLessThan(1e-6); // float32
        expect(Math.abs(parts.information - want)).toBeLessThan(2e-5); // a float32 network, in two orders of summing
        expect(own.filter((paid) => paid !== 0).length).toBeLessThan(turns.length);
      }
      expect(longest.some(({ parts }) => Math.abs(parts.information) > 1e-3)).toBe(true);
      policy.destroy();
    },
  );
});

test('training pays it, with the weights that drew, and turn-credit shares it as progress', async () => {
  const knobs = { prompts: 2, groupSize: 4, layers: 1, width: 16, heads: 2, kvHeads: 2, ffn: 32, evalEvery: 0, miEvery: 0, evalTasks: 4 }; // prettier-ignore
  const config = parseConfig({ ...knobs, informationReward: 0.5, estimator: 'turn-credit', critic: 'none', updates: 2, staleness: 1, correction: 'truncated' }); // prettier-ignore
  const env = createEnv(config);
  const spec = { model: modelConfig(config, env.vocabulary.length, false), critic: 'none', rows: 8, length: env.maxTokens, minibatchRows: 8 } as const; // prettier-ignore
  const policy = createCpuPolicy(spec, learningMath, { seed: 5, reason: '' });
  const first = await policy.readState();
  const batches: BatchView[] = [];
  const values: Metrics[] = [];
  for await (const event of train({
    ...{ policy, env, rewardModel: null, config: () => config, now: () => 0, lastConfig: null },
    ...{ yieldToEvents: () => Promise.resolve(), progress: noProgress(), weightQueue: { earlier: [] } },
  })) {
    if (event.type === 'batch') batches.push(event.batch);
    if (event.type === 'metrics') values.push(event.values);
    if (event.type === 'running') break;
  }
  const gains = batches.map(({ episodes }) => episodes.map(({ parts }) => parts.information));
  expect(values.at(-1)!['reward/information']).toBeCloseTo(gains[1]!.reduce((sum, gain) => sum + gain, 0) / 8, 6);
  expect(batches[1]!.age).toBe(1);
  policy.writeState(first); // which drew the second batch
  const request = trainingTasks(policy, config, 2);
  const options = { weight: 0.5, temperature: 1, grammar: env.grammar(true), onLastAction: true };
  const again = await payInformationGain(policy, await rollout(policy, env, request, () => Promise.resolve()), options);
  expect(again.episodes.map(({ parts }) => parts.information)).toEqual(gains[1]);
  expect(gains[1]!.some((gain) => gain !== 0)).toBe(true);
  const { advantages, lossMask, episodes, length } = batches[1]!;
  const ofRow = (row: number) => [...advantages.keys()].filter((at) => Math.floor(at / length) === row && lossMask[at]);
  const { row } = episodes.find(({ parts, turns }) => turns > 2 && parts.information !== 0)!;
  expect(new Set(ofRow(row).map((at) => advantages[at])).size).toBeGreaterThan(1); // turns differ
  policy.destroy();
});
