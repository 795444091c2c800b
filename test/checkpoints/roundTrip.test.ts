import { describe, expect, it } from 'vitest';
import { FILE_NAMES, WRITTEN_FILES } from '../../src/checkpoints/checkpointFolder.ts';
import { readCheckpointFiles } from '../../src/checkpoints/read.ts';
import { checkpointFiles } from '../../src/checkpoints/write.ts';
import { filesOfZip, zipOf } from '../../src/formats/zip.ts';
import type { PackedRun } from '../../src/runs/packed.ts';
import { BYTES_FILES } from '../text/bytesTokenizer.ts';
import { open, packed, to } from './runs.ts';

/** Each kind of state that training carries along. */
const KINDS: readonly Readonly<Record<string, unknown>>[] = [
  { estimator: 'grpo', critic: 'none' },
  { estimator: 'grpo', critic: 'none', staleness: 2, correction: 'rejected' },
  { estimator: 'gae', critic: 'shared', attentionBias: 'on', tieEmbeddings: 'off' },
  { estimator: 'gae', critic: 'separate', criticWarmup: 1, klCoef: 0.1, klRewardCoef: 0.1, klTarget: 0.001 },
  { estimator: 'grpo', rewardModel: 'on', preferenceReward: 1, kvHeads: 1 },
  { estimator: 'reinforce++', filter: 'top-fraction', env: 'frozen-lake', think: 'on' },
  { estimator: 'grpo', critic: 'none', language: 'text', maxTurns: 2, prompts: 2 },
];

const ours = (files: ReturnType<typeof checkpointFiles>): PackedRun => {
  const read = readCheckpointFiles(files);
  if (read.kind !== 'ours') throw new Error('want a run of this project');
  return read.run;
};

describe.each(KINDS)('a run with %j', (knobs) => {
  it('comes back bit for bit from its folder and from its zip, and goes on with the same next update', async () => {
    const running = await open(knobs);
    await to(running, 3);
    running.session.configure({ learningRate: 0.01 });
    const run = await packed(running);
    const files = checkpointFiles(run);
    const read = ours(files);
    expect(read).toEqual({ ...run, health: [] });
    expect([...read.checkpoint.networks.policy.weights.keys()]).toEqual([...run.checkpoint.networks.policy.weights.keys()]); // prettier-ignore
    const zipped = filesOfZip('run.zip', zipOf(files));
    expect(ours(zipped)).toEqual(read);
    expect(checkpointFiles(read)).toEqual(files); // exported again: the same bytes

    await to(running, 4);
    const resumed = await open({}, ours(zipped));
    await to(resumed, 4);
    expect(await resumed.session.parametersHash()).toBe(await running.session.parametersHash());
    expect((await packed(resumed)).checkpoint).toEqual((await packed(running)).checkpoint);
  });
});

it('a run in text carries its tokenizer and its chat template, and names the ids that end its turns', async () => {
  const running = await open({ critic: 'none', language: 'text', maxTurns: 2, prompts: 2 });
  await to(running, 2);
  const files = checkpointFiles(await packed(running));
  const text = (name: string) => new TextDecoder().decode(files.get(name));
  expect(text(FILE_NAMES.tokenizer)).toBe(BYTES_FILES.tokenizer);
  expect(text(FILE_NAMES.template)).toBe(BYTES_FILES.template);
  expect(JSON.parse(text(FILE_NAMES.generation))).toMatchObject({
    eos_token_id: [2, 0],
    pad_token_id: 0,
    bos_token_id: null,
  });
  expect(JSON.parse(text(FILE_NAMES.tokenizerConfig))).toMatchObject({
    eos_token: '<|im_end|>',
    pad_token: '<|endoftext|>',
  });
  expect(text(FILE_NAMES.manifest)).not.toContain('"merges"'); // the texts stand once in the folder
  expect(text(FILE_NAMES.card)).toContain('apply_chat_template');
  const without = new Map([...files].filter(([name]) => name !== FILE_NAMES.template));
  expect(() => readCheckpointFiles(without)).toThrow(/chat_template\.jinja/);
});

it('a folder has the files of a Hugging Face model, and says in its card what it is', async () => {
  const running = await open({ critic: 'shared' });
  await to(running, 2);
  const files = checkpointFiles(await packed(running));
  expect([...files.keys()].sort()).toEqual(
    [...WRITTEN_FILES]
      .filter((name) => name !== FILE_NAMES.environment && name !== FILE_NAMES.pythonEnvironment)
      .sort(),
  );
  const card = new TextDecoder().decode(files.get(FILE_NAMES.card));
  expect(card).toContain('# a \\<b\\>run\\</b\\> \\| of \\*tests\\*'); // a name is text, never markup
  expect(card).toMatch(/greedy \| [\d.]+ % \| all 16 tasks, seed 7 \| 2 \|/); // none is sampled: no interval
  expect(card).toContain('AutoModelForCausalLM.from_pretrained(".")');
  const config = new TextDecoder().decode(files.get(FILE_NAMES.config));
  expect(config).toMatch(/"rope_theta": 10000\.0,\n/); // a float: Transformers 5 asks for one
});
