import { expect, test } from 'vitest';
import { parseConfig } from '../src/config/config.ts';
import { FIELDS, type RunConfig } from '../src/config/fields.ts';
import { ENGINES } from '../src/config/mappedKnob.ts';
import { PRESETS } from '../src/config/presets.ts';
import { createEnv, envSettings } from '../src/envs/index.ts';
import { counterpartText, COUNTERPARTS, mappedKnobs, overridesOf } from '../src/handover/mapping.ts';
import { BUILT_IN_PROGRAM } from '../src/handover/runFolder.ts';
import { rulesOf, type TaskRow, taskRows } from '../src/handover/taskRows.ts';
import { Purpose, random } from '../src/base/rng.ts';
import { Role } from '../src/domain/tokens.ts';
import { demonstrator } from '../src/envs/players.ts';
import { openEpisode } from '../src/envs/stepper.ts';
import { evaluatedReset } from '../src/rl/evaluatedTasks.ts';
import type { Declaration } from '../src/written/script/declaration.ts';
import { openSandbox, type Request } from '../src/written/script/sandbox.ts';
import type { Files } from '../src/formats/zip.ts';
import { answerFolder } from '../src/session/folderAnswers.ts';
import { handOver } from '../src/session/handOverRun.ts';
import { readCheckpointFiles } from '../src/checkpoints/read.ts';
import { open, packed, to } from './checkpoints/runs.ts';
import { servesBytes } from './text/bytesTokenizer.ts';
import { machine } from './written/machine.ts';

const text = (files: Files, name: string) => new TextDecoder().decode(files.get(name));

test('every knob has a row, with a setting of its own or a word on where it is or why it is nowhere', () => {
  expect(Object.keys(COUNTERPARTS).sort()).toEqual(Object.keys(FIELDS).sort());
  for (const engine of ENGINES) {
    const keys = Object.values(COUNTERPARTS).flatMap(({ [engine]: row }) => ('keys' in row ? row.keys : []));
    expect(new Set(keys).size).toBe(keys.length); // no knob is undone by another
    for (const row of Object.values(COUNTERPARTS)) expect(counterpartText(row[engine]).length).toBeGreaterThan(3);
  }
});

test('in every preset the settings that a row names are those it sets', () => {
  for (const { set } of Object.values(PRESETS)) {
    const config = parseConfig(set);
    for (const [knob, row] of Object.entries(COUNTERPARTS)) {
      for (const engine of ENGINES) {
        const { [engine]: counterpart } = row;
        if (!('keys' in counterpart)) continue;
        const made = Object.keys(counterpart.set(config));
        expect(counterpart.keys.filter((key) => made.includes(key)).length, `${knob}, ${engine}`).toBeGreaterThan(0);
      }
    }
  }
});

// by hand, from verl's and TRL's documentation of what each of their settings means
test.each([
  [{ clipLow: 0.1, clipHigh: 0.28 }, 'verl', { 'actor_rollout_ref.actor.clip_ratio_low': 0.1, 'actor_rollout_ref.actor.clip_ratio_high': 0.28 }], // prettier-ignore
  [{ prompts: 12, groupSize: 4, minibatches: 3 }, 'verl', { 'data.train_batch_size': 12, 'actor_rollout_ref.rollout.n': 4, 'actor_rollout_ref.actor.ppo_mini_batch_size': 4 }], // prettier-ignore
  // 12 prompts in 5 parts of 60 rollouts are no whole prompts: verl asserts a divisor
  [{ prompts: 12, groupSize: 5, minibatches: 5 }, 'verl', { 'actor_rollout_ref.actor.ppo_mini_batch_size': 3 }],
  [{ prompts: 4, groupSize: 8, minibatches: 8 }, 'verl', { 'actor_rollout_ref.actor.ppo_mini_batch_size': 1 }],
  // verl's policy learns where critic_warmup <= step, steps counted from 1, with a critic or without
  [
    { rateWarmup: 5 },
    'verl',
    { 'actor_rollout_ref.actor.optim.lr_warmup_steps': 5, 'critic.optim.lr_warmup_steps': 5 },
  ],
  [
    { rateWarmup: 5, epochs: 3, minibatches: 2 },
    'trl',
    { lr_scheduler_type: 'constant_with_warmup', warmup_steps: 30 },
  ],
  [{}, 'trl', { lr_scheduler_type: 'constant', warmup_steps: 0 }],
  [{ estimator: 'gae', critic: 'separate', criticWarmup: 5 }, 'verl', { 'trainer.critic_warmup': 6 }],
  [{ estimator: 'gae', critic: 'separate', criticWarmup: 0 }, 'verl', { 'trainer.critic_warmup': 0 }],
  [{ estimator: 'grpo', critic: 'separate', criticWarmup: 5 }, 'verl', { 'trainer.critic_warmup': 0 }],
  // GRPOConfig throws below two generations, and where they do not divide the rollouts
  [{ estimator: 'gae', critic: 'separate', prompts: 9, groupSize: 1, minibatches: 3 }, 'trl', { num_generations: 2, generation_batch_size: 18, per_device_train_batch_size: 6 }], // prettier-ignore
  [{ dualClip: 0 }, 'verl', { 'actor_rollout_ref.actor.clip_ratio_c': 1e9 }],
  [{ topK: 0 }, 'verl', { 'actor_rollout_ref.rollout.top_k': -1 }],
  [{ estimator: 'gae', critic: 'shared', learningRate: 0.004 }, 'verl', { 'critic.enable': true, 'critic.optim.lr': 0.004 }], // prettier-ignore
  [{ prompts: 12, groupSize: 4, minibatches: 3, epochs: 2, updates: 10 }, 'trl', { generation_batch_size: 48, per_device_train_batch_size: 16, num_iterations: 2, max_steps: 60 }], // prettier-ignore
  [{ aggregation: 'seq-mean-token-mean' }, 'trl', { loss_type: 'grpo' }],
  [{ divideByStd: 'off' }, 'trl', { scale_rewards: 'none' }],
  // verl rejects by 1/r, and Hydra would read 0.5_2 as a number
  [{ correction: 'truncated', correctionHigh: 3 }, 'verl', { 'algorithm.rollout_correction.rollout_is': 'token', 'algorithm.rollout_correction.rollout_is_threshold': 3, 'algorithm.rollout_correction.rollout_rs': null }], // prettier-ignore
  [{ correction: 'masked', correctionLevel: 'sequence' }, 'verl', { 'algorithm.rollout_correction.rollout_is': 'sequence', 'algorithm.rollout_correction.rollout_is_threshold': '0.5_2.0' }], // prettier-ignore
  [{ correction: 'rejected', correctionLevel: 'sequence', correctionLow: 0.8, correctionHigh: 2 }, 'verl', { 'algorithm.rollout_correction.rollout_is': null, 'algorithm.rollout_correction.rollout_rs': 'seq_mean_k1', 'algorithm.rollout_correction.rollout_rs_threshold': '0.5_1.25' }], // prettier-ignore
  [{ correction: 'masked', correctionHigh: 3 }, 'trl', { vllm_importance_sampling_correction: true, vllm_importance_sampling_mode: 'token_mask', vllm_importance_sampling_clip_max: 3, vllm_importance_sampling_clip_min: 0.5 }], // prettier-ignore
  // vLLM isn't the learner, so TRL's own correction stays
  [{}, 'trl', { vllm_importance_sampling_correction: true, vllm_importance_sampling_mode: 'sequence_mask', vllm_importance_sampling_clip_max: 3, vllm_importance_sampling_clip_min: null }], // prettier-ignore
  [{ klCoef: 0.1 }, 'trl', { beta: 0.1, use_bias_correction_kl: false }],
] as const)('%o becomes, in %s, %o', (knobs, engine, settings) => {
  expect(overridesOf(engine, parseConfig(knobs))).toMatchObject(settings);
});

test('a table of a run leaves out the knobs that do nothing in it', () => {
  const knobs = mappedKnobs(parseConfig({ env: 'number-hunt', estimator: 'grpo' })).map(({ knob }) => knob);
  expect(knobs).toContain('range');
  expect(knobs).not.toContain('hops');
  expect(knobs).not.toContain('valueClip');
});

const host = { shippedFile: servesBytes, quickjsWasm: () => Promise.resolve(machine) };
const FACTS = { source: 'mine.csv', triples: [['Ada', 'teacher', 'Ben'], ['Ben', 'city', 'Lima'], ['Cy', 'teacher', 'Ben'], ['Dee', 'teacher', 'Ben']] } as const; // prettier-ignore

// the others play the same way: test/python/test_handover.py has all of them
test.each(['world-facts', 'sokoban'] as const)(
  '%s goes out with its own program, which plays as the page does',
  async (name) => {
    const config = parseConfig({ env: name, failureRate: 0.3, latency: 0.5, distractors: 1, turnCost: 0.1 });
    const env = createEnv(config, FACTS);
    const rules = rulesOf(env, config, FACTS);
    const code = `(${BUILT_IN_PROGRAM})(exports, ${JSON.stringify(JSON.stringify(rules))});`;
    const sandbox = await openSandbox(machine, { code } as Declaration, rules.limits);
    const word = (token: number) => env.vocabulary[token] ?? '';
    for (let id = 0; id < 6; id++) {
      const seeds = { seed: 40 + id, environmentSeed: 9 * id };
      const draw = random(3, Purpose.demonstration, id);
      const settings = { ...envSettings(config), grammar: id % 2 === 0 };
      const [split, begin] = id < 3 ? (['train', env.reset] as const) : (['val', evaluatedReset(env)] as const);
      const stepper = openEpisode({ env, settings, begin }, seeds);
      const open = { op: 'open', id, split, index: seeds, chance: [0, 0, 0] } as unknown as Request;
      sandbox.serve([open]);
      while (stepper.stop === null) {
        const { turn } = stepper;
        const [first, ...rest] = demonstrator(0.5, draw)(stepper);
        for (const token of [first, ...rest].map((each) => each ?? 0)) {
          if (stepper.turn !== turn || stepper.budget === 0) break;
          stepper.take(stepper.allows(token) ? token : draw.pick(stepper.allowed()));
        }
        while (stepper.turn === turn && stepper.budget > 0) stepper.take(draw.pick(stepper.allowed()));
        const said = (role: Role) => stepper.tokens.filter((t) => t.turn === turn && t.role === role).map((t) => word(t.token)); // prettier-ignore
        const [reply] = sandbox.serve([{ op: 'call', id, tool: 'step', values: [said(Role.action)] }]);
        const { stop, success, budget } = stepper;
        const { process: _, ...parts } = stepper.finishedTurns.at(-1)?.parts ?? {}; // a logarithm, whose last bit may differ
        expect(JSON.parse(reply?.text ?? String(reply?.problem)), `episode ${id}, turn ${turn}`).toMatchObject({
          ...{ stop, success, budget },
          turn: { ...stepper.finishedTurns.at(-1), parts, observation: said(Role.observation) },
        });
      }
    }
    sandbox.dispose();
  },
);

test('a turn that is cut off pays as a malformed one and ends the episode; an end between turns pays nothing', () => {
  const env = createEnv(parseConfig({ env: 'number-hunt' }));
  const settings = { ...envSettings(parseConfig({ invalidPenalty: 0.1 })), grammar: false };
  const [cut, between] = [0, 0].map(() => openEpisode({ env, settings }, { seed: 1, environmentSeed: 1 }));
  cut?.take(env.vocabulary.indexOf('<call>'));
  for (const stepper of [cut, between]) stepper?.cut();
  expect(cut).toMatchObject({ stop: 'tokens', budget: 0, rewardSums: { format: -0.1 } });
  expect(cut?.finishedTurns).toMatchObject([{ valid: false, toolCall: false }]);
  expect(between).toMatchObject({ stop: 'tokens', finishedTurns: [], rewardSums: { format: 0 } });
  expect(() => cut?.cut()).toThrow(RangeError);
});

test('the right answers of evaluation tasks are in the rows, of an environment without answers as its last call', async () => {
  const running = await open({ env: 'frozen-lake' });
  const files = await handOver('verl', await packed(running), host);
  const rows = text(files, 'val.jsonl').trimEnd().split('\n').map((line) => JSON.parse(line) as TaskRow); // prettier-ignore
  expect(rows).toHaveLength(8);
  expect(new Set(rows.map(({ reward_model: { ground_truth: truth } }) => truth)).size).toBeGreaterThan(1);
  running.session.dispose();
});

test('a run in text is refused for every engine, by what is got, what is wanted and what to do', async () => {
  const running = await open({ env: 'calculator', language: 'text', critic: 'none', estimator: 'grpo' });
  const run = await packed(running);
  const why = /^calculator with language=text can’t be handed over.*Hugging Face folder/;
  for (const engine of ENGINES) await expect(handOver(engine, run, host)).rejects.toThrow(why);
  const asked = await answerFolder({ kind: 'handover', run, engine: null }, { shippedFile: servesBytes });
  expect(asked).toEqual({ kind: 'refused', message: expect.stringMatching(why) as unknown });
  running.session.dispose();
});

test('a run beside a checkpoint is refused before anybody is asked for the checkpoint, and the answer says what to take instead', async () => {
  const running = await open({ env: 'calculator' });
  const run = await packed(running);
  const { checkpoint } = run;
  const beside = { ...checkpoint, begun: { ...checkpoint.begun, model: 'checkpoint' as const } };
  const asked = { kind: 'handover', run: { ...run, checkpoint: beside }, engine: null } as const;
  expect(await answerFolder(asked, { shippedFile: servesBytes })).toEqual({
    kind: 'refused',
    message: expect.stringMatching(/^A run with model=checkpoint can’t be handed over.*PEFT/) as unknown,
  });
  running.session.dispose();
});

test('a row is the task that its seed draws: the words of its prompt, its answer, its seeds', () => {
  const config = parseConfig({ env: 'calculator' });
  const env = createEnv(config);
  const [row] = taskRows({ env, config }, 'train', [{ seed: 5, environmentSeed: 5 }]);
  const episode = env.reset(5, envSettings(config));
  const question = episode.question.replace(/^What is (.*), from left to right\?$/, '$1');
  const asked = /^(\d+) (.) (\d+) (.) (\d+)$/.exec(question)?.slice(1) ?? [];
  const words = asked.flatMap((word) => (/\d/.test(word) ? word.padStart(2, '0').split(/(?=\d$)/) : [word]));
  expect(row?.prompt[0]?.content).toBe(`compute ${words.join(' ')} ?`);
  const value = asked.reduce((all, word, i) => {
    if (i === 0) return Number(word);
    const operator = asked[i - 1];
    return i % 2
      ? all
      : operator === '+'
        ? all + Number(word)
        : operator === '-'
          ? all - Number(word)
          : all * Number(word);
  }, 0);
  expect(row?.reward_model.ground_truth.replace(' ', '')).toBe(String(value).padStart(2, '0'));
  expect(row?.extra_info).toMatchObject({ split: 'train', seed: 5, environment_seed: 5 });
});

test('a run is handed over after its last update, with the tasks it would go on with and a checkpoint that opens again', async () => {
  const running = await open({ env: 'number-hunt', range: 8 });
  await to(running, 2);
  const run = await packed(running);
  for (const engine of ENGINES) {
    const files = await handOver(engine, run, host);
    const rows = text(files, 'train.jsonl').trimEnd().split('\n').map((line) => JSON.parse(line) as { extra_info: { seed: number } }); // prettier-ignore
    expect(rows).toHaveLength(9 * 4); // updates, prompts
    expect(text(files, 'val.jsonl').trimEnd().split('\n')).toHaveLength(8); // every number
    const own = [...files].flatMap(([name, bytes]) =>
      name.startsWith('model/') ? [[name.slice(6), bytes] as const] : [],
    );
    const back = readCheckpointFiles(new Map(own));
    expect(back.kind === 'ours' && back.run.checkpoint.sum).toBe(run.checkpoint.sum);
    expect(text(files, 'README.md')).toContain('after update 2');
  }
  const [first] = text(await handOver('trl', run, host), 'train.jsonl').split('\n');
  await to(running, 3);
  const { seed } = (JSON.parse(first ?? '') as { extra_info: { seed: number } }).extra_info;
  const third = running.session.history.batch(3)?.batch.episodes[0]?.seed; // of the update after
  expect(seed).toBe(third);
  running.session.dispose();
});

test('every setting of the table stands in run.sh, one a line, quoted for the shell', async () => {
  const running = await open({ env: 'multi-hop', estimator: 'gae', critic: 'separate' });
  const run = await packed(running);
  const script = text(await handOver('verl', run, host), 'run.sh');
  const config: RunConfig = run.checkpoint.config;
  for (const name of Object.keys(overridesOf('verl', config))) expect(script).toContain(`\n  "${name}=`);
  expect(script.match(/^ {2}(?!"[^"]*" \\$|"\$@"$).*/gm)).toBeNull();
  running.session.dispose();
});

test('the script has the knobs that the run trained with: one turned since its last update counts once an update has used it', async () => {
  const running = await open({ clipHigh: 0.2 });
  await to(running, 1);
  running.session.configure({ clipHigh: 0.05 });
  const written = async () => text(await handOver('verl', await packed(running), host), 'run.sh');
  expect(await written()).toContain('clip_ratio_high=0.2"');
  await to(running, 2);
  expect(await written()).toContain('clip_ratio_high=0.05"');
  running.session.dispose();
});
