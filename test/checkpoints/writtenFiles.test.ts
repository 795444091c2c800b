import { describe, expect, test } from 'vitest';
import { checksumOf } from '../../src/base/checksum.ts';
import { adapterFolderCard } from '../../src/checkpoints/peft.ts';
import { peftConfigFile } from '../../src/checkpoints/peftConfig.ts';
import { adapterCard, cardFile } from '../../src/checkpoints/modelCardFile.ts';
import { configFile } from '../../src/checkpoints/modelConfigFile.ts';
import { curvesFile } from '../../src/checkpoints/write.ts';
import { manifestFile, metricsFile, readMetrics } from '../../src/checkpoints/manifestFile.ts';
import { textModelCard } from '../../src/checkpoints/textModelFiles.ts';
import { tokenizerConfigFile, tokenizerFile, generationFile } from '../../src/checkpoints/tokenizer.ts';
import { parseConfig } from '../../src/config/config.ts';
import { FIELDS } from '../../src/config/fields.ts';
import type { MetricName } from '../../src/domain/metrics.ts';
import type { ModelConfig } from '../../src/model/architecture.ts';
import { type Checkpoint, CheckpointError } from '../../src/runs/checkpoint.ts';
import { readManifest } from '../../src/runs/manifest.ts';
import type { PackedRun } from '../../src/runs/packed.ts';
import { readStoredRun } from '../../src/runs/readStoredRun.ts';
import type { Points } from '../../src/runs/series.ts';
import { refusedAt } from '../formats/refusal.ts';

const MODEL: ModelConfig = {
  ...{ vocab_size: 11, hidden_size: 12, intermediate_size: 20, num_hidden_layers: 2, head_dim: 4 },
  ...{ num_attention_heads: 3, num_key_value_heads: 1, rms_norm_eps: 1e-5, rope_theta: 10000 },
  ...{ attention_bias: true, tie_word_embeddings: true, value_head: true },
};
const IDS = { pad: 0, bos: 1, turnEnds: [4, 3] };

describe('what Transformers reads of a folder', () => {
  const json = (text: string) => JSON.parse(text) as Record<string, unknown>;

  test('is a config.json with every size, under the names of its versions 4 and 5', () => {
    const both = {
      ...{ vocab_size: 11, hidden_size: 12, intermediate_size: 20, num_hidden_layers: 2, num_attention_heads: 3 },
      ...{ num_key_value_heads: 1, head_dim: 4, hidden_act: 'silu', max_position_embeddings: 4096 },
      ...{ initializer_range: 0.02, rms_norm_eps: 1e-5, use_cache: true, pad_token_id: 0, bos_token_id: 1 },
      ...{
        eos_token_id: [4, 3],
        tie_word_embeddings: true,
        attention_dropout: 0,
        rope_theta: 10000,
        rope_scaling: null,
      },
      rope_parameters: { rope_type: 'default', rope_theta: 10000 },
    };
    const float = { torch_dtype: 'float32', dtype: 'float32' };
    const llama = { architectures: ['LlamaForCausalLM'], model_type: 'llama', attention_bias: true, mlp_bias: false, pretraining_tp: 1 }; // prettier-ignore
    const qwen = { architectures: ['Qwen2ForCausalLM'], model_type: 'qwen2', use_sliding_window: false };
    expect(json(configFile(MODEL, IDS, 'llama'))).toEqual({ ...both, ...llama, ...float });
    expect(json(configFile(MODEL, IDS, 'qwen2'))).toEqual({ ...both, ...qwen, ...float });
    const half = { torch_dtype: 'float16', dtype: 'float16' };
    expect(json(configFile(MODEL, IDS, 'llama', 'float16'))).toMatchObject(half);
    // Python tells floats by their point
    const text = configFile({ ...MODEL, rope_theta: 500_000 }, IDS, 'llama');
    expect(text.match(/"\w+": \d+\.0(?=[,\n])/g)).toEqual(['"attention_dropout": 0.0', '"rope_theta": 500000.0', '"rope_theta": 500000.0']); // prettier-ignore
  });

  test('says how a turn is written', () => {
    const written = { bos_token_id: 1, eos_token_id: [4, 3], pad_token_id: 0, do_sample: false, max_new_tokens: 64 };
    expect(json(generationFile(IDS))).toEqual(written);
  });

  test('is a tokenizer of words, whose special ones are no part of a text', () => {
    const added = (id: number, content: string) => ({
      ...{ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true },
    });
    expect(json(tokenizerFile(['<pad>', 'a', '<bos>']))).toEqual({
      ...{ version: '1.0', truncation: null, padding: null, normalizer: null, post_processor: null, decoder: null },
      added_tokens: [added(0, '<pad>'), added(2, '<bos>')],
      pre_tokenizer: { type: 'WhitespaceSplit' },
      model: { type: 'WordLevel', vocab: { '<pad>': 0, a: 1, '<bos>': 2 }, unk_token: '<pad>' },
    });
    const { chat_template, ...config } = json(tokenizerConfigFile(77));
    expect(config).toEqual({
      ...{ tokenizer_class: 'PreTrainedTokenizerFast', bos_token: '<bos>', eos_token: '<pad>', pad_token: '<pad>' },
      ...{ unk_token: '<pad>', padding_side: 'left', model_max_length: 77, clean_up_tokenization_spaces: false },
      response_template: {
        defaults: { role: 'assistant' },
        start_anchor_pattern: '\\Z',
        fields: {
          content: {},
          tool_calls: {
            ...{ open: '<call>', close: '</call>', repeats: true, content: 'text' },
            transform: { type: 'function', function: { name: 'call', arguments: { words: '{content}' } } },
          },
        },
      },
    });
    expect(chat_template).toMatch(/^<bos>\n/);
  });

  test('is an adapter_config.json with every default that a version of PEFT may have otherwise', () => {
    const adapters = { rank: 3, alpha: 8, targets: ['q_proj', 'up_proj'] } as const;
    expect(json(peftConfigFile(adapters, 'org/m'))).toEqual({
      ...{ peft_type: 'LORA', task_type: 'CAUSAL_LM', base_model_name_or_path: 'org/m', revision: null },
      ...{ inference_mode: true, r: 3, lora_alpha: 8, target_modules: ['q_proj', 'up_proj'], exclude_modules: null },
      ...{ lora_dropout: 0, bias: 'none', lora_bias: false, fan_in_fan_out: false, init_lora_weights: true },
      ...{ use_rslora: false, use_dora: false, modules_to_save: null, layers_to_transform: null, layers_pattern: null },
      ...{ rank_pattern: {}, alpha_pattern: {} },
    });
    expect(json(peftConfigFile(adapters, null))['base_model_name_or_path']).toBeNull();
    const card = adapterFolderCard(adapters, 'org/"m"');
    expect(card).toMatch(
      /^---\nlibrary_name: peft\nbase_model: "org\/\\"m\\""\npipeline_tag: text-generation\ntags: \[/,
    );
    expect(card).toMatch(/rank 3, alpha 8, beside q_proj, up_proj of every layer.*2\.6666/);
    expect(card).toContain('from_pretrained("org/\\"m\\"")');
    expect(adapterFolderCard(adapters, null)).toMatch(
      /^---\nlibrary_name: peft\npipeline_tag.*from_pretrained\("THE MODEL/s,
    );
  });
});

const curve = (...pairs: readonly (readonly [number, number])[]): Points => ({
  x: Uint32Array.from(pairs, ([x]) => x),
  y: Float64Array.from(pairs, ([, y]) => y),
});

/** A run as it can be exported, without weights that anything here reads. */
function runOf(
  knobs: Readonly<Record<string, unknown>>,
  points: readonly (readonly [MetricName, Points])[],
  more: Partial<Checkpoint> = {},
): PackedRun {
  // prettier-ignore
  const begun = parseConfig({ width: 16, heads: 2, kvHeads: 2, layers: 1, ffn: 16, seed: 7, env: 'calculator', ...knobs });
  const none = { weights: new Map(), adamM: new Map(), adamV: new Map(), steps: 2 };
  const checkpoint = {
    ...{ begun, config: begun, vocabulary: ['<pad>', '<bos>', 'a'], networks: { policy: none, critic: null } },
    ...{ rewardModel: null, progress: { update: 8 }, ...more },
  } as unknown as Checkpoint;
  const empty = { changes: [], health: [], solved: null, skipped: 0, facts: null, environment: null };
  const backend = { kind: 'gpu', adapter: 'Some <GPU>' } as const;
  return { ...{ id: 3, name: 'n|*m*', started: '2026-01-02T03:04:05.000Z', backend, update: 8 }, begun, config: begun, ...empty, checkpoint, points: new Map(points) }; // prettier-ignore
}
const EVALUATED = [
  ['eval/success', curve([0, 0.25], [8, 0.5])],
  ['eval/tasks', curve([0, 256], [8, 256])],
] as const;

describe('a card', () => {
  test('has the last evaluation with its interval, greedy and sampled', () => {
    // Clopper–Pearson of 128 of 256, as scipy.stats.binomtest(128, 256).proportion_ci() has it: .4371 to .5629
    const lines = cardFile(runOf({ evalTasks: 256, temperature: 0.5 }, [...EVALUATED, ['eval/success_sampled', curve([4, 0.125])]]), 'llama').split('\n'); // prettier-ignore
    expect(lines).toContain('| greedy | 50.0 % (95 %: 43.7 to 56.3 %) | 256 tasks, seed 7 | 8 |');
    expect(lines).toContain('| sampled, temperature 0.5 | 12.5 % | 256 tasks, seed 7 | 4 |');
    const whole = cardFile(runOf({ evalTasks: 512 }, EVALUATED), 'llama');
    expect(whole).toContain('| greedy | 50.0 % | all 256 tasks, seed 7 | 8 |');
    const exactly = cardFile(runOf({ evalTasks: 256 }, [...EVALUATED, ['eval/all_tasks', curve([0, 1])]]), 'llama');
    expect(exactly).toContain('| greedy | 50.0 % | all 256 tasks, seed 7 | 8 |');
    expect(whole).not.toContain('sampled, temperature');
    for (const lacking of [
      [],
      EVALUATED.slice(0, 1),
      EVALUATED.slice(1),
      [['eval/success', curve()], EVALUATED[1]],
    ] as const) {
      expect(cardFile(runOf({}, lacking), 'llama')).toContain('## Measured\n\nThe run has no evaluation.\n');
    }
  });

  test('names the network, the run, what it was trained on, and what no reader may take for markup', () => {
    const card = cardFile(runOf({ estimator: 'rloo' }, EVALUATED), 'llama');
    expect(card).toMatch(
      /^---\nlibrary_name: transformers\npipeline_tag: text-generation\ntags: \[.*\]\n---\n\n# n\\\|\\\*m\\\*\n/,
    );
    expect(card).toMatch(/A word-level agent of [\d,]+ parameters \(Llama, 1 layers, width 16\)/);
    expect(card).toMatch(/environment `calculator`, algorithm `rloo`, 8 updates, seed 7, on .*Some \\<GPU\\>\./);
    expect(card).toContain('](curves.svg)');
    expect(card).toContain('import AutoModelForCausalLM, AutoTokenizer');
    expect(card).toMatch(/The tokenizer knows 3 words/);
    expect(card).toContain('prefix_allowed_tokens_fn');
    expect(cardFile(runOf({ grammar: 'off' }, []), 'llama')).not.toContain('prefix_allowed_tokens_fn');
    expect(card.endsWith('every curve.\n')).toBe(true);
    // the parts are apart by one empty line each
    expect(card.includes('\n\n\n')).toBe(false);
    expect([...card.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual(['Measured', 'Load it', 'Continue training', 'Settings', 'Files']); // prettier-ignore
  });

  test('of a Qwen2 loads the tokenizer by its own class, and of text asks for a chat template', () => {
    const qwen = cardFile(runOf({ attentionBias: 'on' }, []), 'qwen2');
    expect(qwen).toContain('(Qwen2, 1 layers');
    expect(qwen).toContain('import AutoModelForCausalLM, PreTrainedTokenizerFast');
    expect(qwen).toMatch(/For a Qwen2, `AutoTokenizer`/);
    // the first line about the model, how it is loaded, and the note are all that differs
    const paragraphs = (form: 'llama' | 'qwen2') => cardFile(runOf({}, []), form).split('\n\n');
    const [llama, asQwen] = [paragraphs('llama'), paragraphs('qwen2')];
    expect(llama.filter((each) => !asQwen.includes(each))).toHaveLength(2);
    expect(asQwen.filter((each) => !llama.includes(each))).toHaveLength(3);
    const text = cardFile(runOf({}, [], { chatTokenizer: { tokenizer: '', template: '', stops: [] } }), 'llama');
    expect(text).toMatch(/A text agent of/);
    expect(text).toContain('apply_chat_template');
    expect(text).toMatch(/The tokenizer knows 3 tokens of bytes/);
    expect(text).not.toMatch(/A turn ends at `<\/call>`/);
  });

  test('warns of heads whose size servers may not take', () => {
    const sized = (width: number) => cardFile(runOf({ width, heads: 2, kvHeads: 2 }, []), 'llama');
    expect(sized(16)).toMatch(/^Heads have 8 dimensions\./m);
    expect(sized(128)).not.toMatch(/^Heads have/m); // 64 each, the largest that a run can have
  });

  test('lists knobs that are not at their defaults, and what they began with', () => {
    const run = runOf({ learningRate: 0.05 }, []);
    const config = { ...run.checkpoint.begun, learningRate: 0.025, prompts: 3 };
    const card = cardFile({ ...run, checkpoint: { ...run.checkpoint, config } }, 'llama');
    const row = (name: 'learningRate' | 'prompts' | 'width', value: string) =>
      `| \`${name}\` | ${FIELDS[name].label} | ${value} | ${FIELDS[name].default} |`;
    const lines = card.split('\n');
    const rows = [row('learningRate', '0.025 (began with 0.05)'), row('prompts', `3 (began with ${FIELDS.prompts.default})`), row('width', '16')]; // prettier-ignore
    for (const each of rows) expect(lines).toContain(each);
    expect(card).not.toContain('| `groupSize` |');
    // one that went back to its default is told, for it began otherwise
    const back = { ...run.checkpoint.begun, learningRate: FIELDS.learningRate.default };
    expect(cardFile({ ...run, checkpoint: { ...run.checkpoint, config: back } }, 'llama')).toContain(
      '(began with 0.05)',
    );
  });

  test('of adapters names what they are beside, by the hash of every byte or of samples', () => {
    const policy = { weights: new Map([['a', new Float32Array(1500)], ['b', new Float32Array(9)]]), adamM: new Map(), adamV: new Map(), steps: 1 }; // prettier-ignore
    const run = runOf({ adapterRank: 4, adapterAlpha: 6 }, EVALUATED, { networks: { policy, critic: null } });
    const base = { name: 'a*b', bytes: 12345, sha256: 'ab'.repeat(32) };
    const sampled = adapterCard(run, base);
    expect(sampled).toMatch(
      /rank 4, alpha 6\) of 1,509 parameters beside a\\\*b \(12,345 bytes, fingerprint `(ab){32}` of headers and samples\)/,
    );
    expect(sampled).toMatch(/environment `calculator`.*8 updates, seed 7, on .*Some \\<GPU\\>/);
    expect(adapterCard(run, { ...base, whole: 'cd'.repeat(32) })).toMatch(/fingerprint `(cd){32}` of every byte/);
    expect([...sampled.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual(['Measured', 'Continue training', 'Settings', 'Files']); // prettier-ignore
    expect(sampled).toContain('| `adapterRank` |');
    expect(sampled.includes('\n\n\n')).toBe(false);
  });

  test('of the text model has its size, its lessons and the quality of each', () => {
    const card = textModelCard(MODEL, { steps: 1200, rows: 8, learningRate: 0.003, warmUp: 10 }, { a: 0.5, b: 1 });
    expect(card).toMatch(/\(2 layers, width 12\) over a byte-level BPE of 11 tokens/);
    expect(card).toMatch(
      /one of 2 environments: `a` \(0\.5\), `b` \(1\);.*1,200 AdamW steps of 8 conversations, learning rate 0\.003/,
    );
    expect(card).toMatch(/^---\nlicense: mit\n/);
    expect(card.includes('\n\n\n')).toBe(false);
    expect(card.endsWith('Licence: MIT.\n')).toBe(true);
  });
});

test('the picture of the curves has each point where its update and its share lie', () => {
  const svg = curvesFile(runOf({}, [['rollout/success', curve([1, 0], [4, 0.5], [8, 1])], ['eval/success', curve([0, 0.25])]])); // prettier-ignore
  // 580 wide from 44 for 8 updates, 208 high from 16 for shares of 1
  expect(
    [...svg.matchAll(/<polyline points="([^"]*)" fill="none" stroke="(#\w+)"/g)].map(([, points]) => points),
  ).toEqual(['116.5,224.0 334.0,120.0 624.0,16.0', '44.0,172.0']);
  const grid = [
    ...svg.matchAll(/y1="([\d.]+)" y2="\1" stroke="#8888".*?x="([\d.]+)" y="([\d.]+)" text-anchor="end">([\d.]+) %</g),
  ];
  expect(grid.map(([, ...numbers]) => numbers.map(Number))).toEqual([[224, 38, 228, 0], [172, 38, 176, 25], [120, 38, 124, 50], [68, 38, 72, 75], [16, 38, 20, 100]]); // prettier-ignore
  expect(svg).toMatch(/<text x="44" y="242">0<.*<text x="624" y="242" text-anchor="end">update 8</s);
  const keys = [
    ...svg.matchAll(/<line x1="(\d+)" x2="(\d+)" y1="268" y2="268" stroke="(#\w+)" .*?<text x="(\d+)" y="272">(.+?)</g),
  ];
  expect(keys.map(([, from, to, , label]) => [from, to, label])).toEqual([['44', '62', '68'], ['304', '322', '328']]); // prettier-ignore
  expect(svg.startsWith('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 280"')).toBe(true);
  expect(svg.endsWith('</svg>\n')).toBe(true);
  // a run that has not begun has a picture too
  expect(curvesFile({ ...runOf({}, [['eval/success', curve([0, 0.5])]]), update: 0 })).toContain('points="44.0,120.0"');
});

describe('playground.json', () => {
  const METRICS = metricsFile(new Map([['eval/success', curve([2, 0.5])], ['rollout/success', curve([1, 0.25], [2, 0.75])]])); // prettier-ignore
  const bytes = (text: string) => new TextEncoder().encode(text);
  const whole = JSON.parse(manifestFile(runOf({}, []), METRICS)) as { run: Record<string, unknown> } & Record<string, unknown>; // prettier-ignore
  /** Reads a manifest without tensors: what is wrong with it is said before they are missed. */
  const read = (manifest: unknown, metrics = METRICS) =>
    readStoredRun({ manifest, tensors: new Map(), points: new Map(), texts: {} }, bytes(metrics));
  /** The place and what was found there of what is refused. */
  const placeOf = (refuse: () => unknown): string => {
    try {
      refuse();
    } catch (error) {
      const [problem] = error instanceof CheckpointError ? error.problems : [];
      if (problem?.got) return `${problem.place}: ${problem.got}`;
      return problem ? problem.what : String(error);
    }
    return 'nothing was refused';
  };
  const READ = 'It is of version undefined; this page reads version 3.'; // its made-up checkpoint

  /** The same for a manifest with these fields, whose checksum is right. */
  const refused = (changes: Readonly<Record<string, unknown>>, run: Readonly<Record<string, unknown>> = {}) => {
    const changed = JSON.parse(JSON.stringify({ ...whole, run: { ...whole.run, ...run }, ...changes })) as object;
    const sum = checksumOf({ ...changed, sum: null, metrics: bytes(METRICS) });
    return placeOf(() => read({ ...changed, sum }));
  };

  test('is read back, with the curves beside it as they were', () => {
    const manifest = readManifest(whole.run);
    expect(manifest).toMatchObject({ id: 3, name: 'n|*m*', update: 8, changes: [] });
    expect(whole).toMatchObject({ rewardModel: null, steps: { policy: 2, critic: null }, run: { skipped: 0, solved: null, facts: null } }); // prettier-ignore
    expect(refused({})).toBe(READ);
    expect(METRICS).toBe(
      '{"update":1,"rollout/success":0.25}\n{"update":2,"eval/success":0.5,"rollout/success":0.75}\n',
    );
    const curves = readMetrics(bytes(METRICS));
    expect(curves.get('rollout/success')).toEqual(curve([1, 0.25], [2, 0.75]));
    expect(readMetrics(bytes(METRICS.slice(0, -1)))).toEqual(curves); // without its last end
    const more = {
      solved: [['a', true]],
      kernels: { set: 'x' },
      fork: { run: 1, update: 0 },
      changes: [{ update: 1, text: 't' }],
    };
    expect(refused({}, more)).toBe(READ);
  });

  const fields: Readonly<Record<string, readonly unknown[]>> = {
    ...{ id: [-1, 0.5, '3'], update: [-1, null], skipped: [null, 2 ** 53], name: [3, null], started: ['yesterday', 3] },
    backend: [null, { kind: 'tpu', adapter: 'x' }, { kind: 'cpu' }, { kind: 'gpu', adapter: 3 }],
    solved: [
      3,
      [['a']],
      [[1, true]],
      [
        ['a', true],
        ['b', 1],
      ],
      ['ab'],
      {},
    ],
    changes: [null, [{}], [{ update: 1 }], [{ text: 't', update: -1 }], [{ update: 1, text: 3 }], [null]],
    kernels: [3, null, { set: 1 }, [1]],
    fork: [3, null, {}, { run: 1 }, { update: 1 }, { run: -1, update: 1 }, { run: 1, update: 'x' }],
    facts: [3, {}, { source: 'x' }],
    begun: [3, null, { width: 'x' }, { learningRate: -1 }],
    config: [3, [], { env: 'none' }],
  };
  test.each(Object.entries(fields))('is refused where the run’s %s is of another kind', (field, values) => {
    for (const value of values) expect(refused({}, { [field]: value })).toMatch(new RegExp(`^run\\.${field}: `));
  });

  test('is refused by the field where it is another program’s, damaged, or without a part', () => {
    expect(refused({ format: 'x' })).toBe('format: x');
    expect(refused({ version: 2 })).toBe('version: 2');
    for (const part of ['run', 'checkpoint', 'steps']) expect(refused({ [part]: [] })).toBe(`${part}: a list`);
    expect(refused({ rewardModel: 3 })).toBe('rewardModel: 3');
    expect(placeOf(() => read({ ...whole, more: 1 }))).toMatch(/^sum: /);
    expect(placeOf(() => read(whole, `${METRICS} `))).toMatch(/^sum: /);
    expect(placeOf(() => read([]))).toBe(': a list');
  });

  test.each([
    ['{"update":1}\n[]\n', 'line 2: nothing'],
    ['{"update":2}\n{"update":2}\n', 'line 2: 2'],
    ['{"update":-1}', 'line 1: -1'],
    ['{"update":0,"rollout/success":null}', 'line 1, rollout/success: null'],
    ['{"update":1}\n\n', 'line 2: invalid JSON (Unexpected end of JSON input)'],
  ])('with curves %j is refused by their line', async (lines, found) => {
    expect(await refusedAt(() => readMetrics(bytes(lines)))).toBe(found);
  });

  test('has curves of metrics that are no longer known left out', () => {
    const read = readMetrics(bytes('{"update":0,"toString":1,"old/one":2,"eval/success":0.5}\n'));
    expect([...read]).toEqual([['eval/success', curve([0, 0.5])]]);
  });
});
