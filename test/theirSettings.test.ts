import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ALGORITHMS } from '../src/config/algorithms.ts';
import { parseConfig } from '../src/config/config.ts';
import { ENGINES } from '../src/config/mappedKnob.ts';
import { overridesOf } from '../src/handover/mapping.ts';
import { theirSettings } from '../src/handover/theirSettings.ts';

const KNOBS = {
  groupSize: 5,
  klCoef: 0.07,
  entropyCoef: 0.02,
  temperature: 0.8,
  topK: 7,
  epochs: 3,
  gamma: 0.9,
} as const;
/** What learning rates, batch sizes and the length of a run are called; they aren't taken over. */
const SCALE =
  /lr|learning_rate|batch_size|steps|freq|seed|betas|beta[12]|eps$|eps_|epsilon$|optimizer_config|grad|weight_decay|dtype|fp16|rewards|critic_warmup|strategy|calculate_log_probs/;

test.each(ENGINES.flatMap((engine) => Object.keys(ALGORITHMS).map((name) => [engine, name] as const)))(
  'what the hand-over writes for %s and %s is read back into knobs that hand over the same',
  (engine, name) => {
    const config = parseConfig({ ...ALGORITHMS[name as keyof typeof ALGORITHMS].set, ...KNOBS, rewardModel: 'off' });
    const written = overridesOf(engine, config);
    const found = theirSettings(written)!;
    expect(found.engine).toBe(engine);
    const again = overridesOf(engine, { ...config, ...parseConfig({}), ...found.knobs });
    const ofLearning = Object.keys(written).filter((key) => !SCALE.test(key) || key === 'epsilon');
    for (const key of ofLearning) expect([key, again[key]]).toEqual([key, written[key]]);
    expect(found.knobs).toMatchObject({ groupSize: 5, temperature: 0.8, epochs: 3 });
  },
);

test('nested YAML, as verl writes it, and a list of overrides, as it is typed, are read alike', () => {
  const yaml = parse(`
algorithm: {adv_estimator: rloo, gamma: 0.5}
actor_rollout_ref:
  actor: {clip_ratio_high: 0.28, loss_agg_mode: seq-mean-token-mean, optim: {lr: 1.0e-6}}
  rollout: {n: 12}
`) as unknown;
  const typed = [
    ...['algorithm.adv_estimator=rloo', 'algorithm.gamma=0.5', '+actor_rollout_ref.actor.clip_ratio_high=0.28'],
    ...["actor_rollout_ref.actor.loss_agg_mode='seq-mean-token-mean'", 'actor_rollout_ref.rollout.n=12'],
  ];
  const wanted = { estimator: 'rloo', gamma: 0.5, clipHigh: 0.28, aggregation: 'seq-mean-token-mean', groupSize: 12 };
  expect(theirSettings(yaml)).toMatchObject({ engine: 'verl', knobs: wanted, different: [] });
  expect(theirSettings(typed)?.knobs).toEqual(theirSettings(yaml)?.knobs);
  expect(theirSettings(yaml)?.knobs).not.toHaveProperty('learningRate'); // one of a large model
});

test('a value that no knob stands for is named, and settings of another program are none', () => {
  const odd = theirSettings({ num_generations: 4, beta: 0.04, loss_type: 'sapo' });
  expect(odd).toMatchObject({ engine: 'trl', knobs: { groupSize: 4, klCoef: 0.04 }, different: ['loss_type'] });
  expect(theirSettings({ model: 'x' })).toBeNull();
  expect(theirSettings('text')).toBeNull();
});
