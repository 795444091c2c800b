import { encodeSafetensors, type SafeTensor } from '../formats/safetensors.ts';
import { criticConfig } from '../model/policy.ts';
import { type ModelConfig, parameters, type Weights } from '../model/architecture.ts';
import type { PackedRun } from '../runs/packed.ts';
import { cardFile, adapterCard } from './modelCardFile.ts';
import { configFile, type Form, MAX_POSITIONS, modelOf, outputBiases } from './modelConfigFile.ts';
import { utf8Bytes, FILE_NAMES, type Files } from './checkpointFolder.ts';
import { environmentFiles, manifestFile, metricsFile } from './manifestFile.ts';
import { textTokenizerConfig, textSpecialIds } from './textModelFiles.ts';
import { tokenizerConfigFile, tokenizerFile, wordSpecialIds, generationFile, CHAT_TEMPLATE } from './tokenizer.ts';
import { adapterConfig } from '../model/adapterKnobs.ts';
import type { BaseMark } from '../domain/baseMark.ts';
import { peftFilesFromTensors } from './peft.ts';
import { type Checkpoint, checkpointTensors, POLICY_WEIGHTS_PREFIX } from '../runs/checkpoint.ts';
import { METRICS, type MetricName } from '../domain/metrics.ts';
import { mergeToCount } from '../runs/buckets.ts';
import { Series } from '../runs/series.ts';

/** The curves in the picture, with their colours. Their values are from 0 to 1. */
const CURVES: readonly (readonly [MetricName, string])[] = [
  ['rollout/success', '#2f6fde'],
  ['eval/success', '#d9480f'],
];
const SIZE = { width: 640, height: 280, left: 44, right: 16, top: 16, bottom: 56 };

/** The share of solved tasks over updates, in training and in evaluation. Readable on light and dark backgrounds. */
export function curvesFile({ points, update }: PackedRun): string {
  const { width, height, left, right, top, bottom } = SIZE;
  const lastUpdate = Math.max(1, update);
  const x = (at: number) => (left + (at / lastUpdate) * (width - left - right)).toFixed(1);
  const y = (value: number) => (top + (1 - value) * (height - top - bottom)).toFixed(1);
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (value) =>
      `<line x1="${left}" x2="${width - right}" y1="${y(value)}" y2="${y(value)}" stroke="#8888" stroke-width="0.5"/>` +
      `<text x="${left - 6}" y="${Number(y(value)) + 4}" text-anchor="end">${value * 100} %</text>`,
  );
  const lines = CURVES.map(([name, colour], i) => {
    const curve = points.get(name);
    const buckets = curve ? mergeToCount(Series.of(curve).buckets, 300) : [];
    const path = buckets.map(({ last, sum, count }) => `${x(last)},${y(sum / count)}`).join(' ');
    const legendX = left + i * 260;
    return (
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>` +
      `<line x1="${legendX}" x2="${legendX + 18}" y1="${height - 12}" y2="${height - 12}" stroke="${colour}" stroke-width="3"/>` +
      `<text x="${legendX + 24}" y="${height - 8}">${METRICS[name].label}</text>`
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="sans-serif" font-size="12" fill="#777">`,
    '<title>Share of tasks solved, update by update</title>',
    ...grid,
    `<text x="${left}" y="${height - bottom + 18}">0</text>`,
    `<text x="${width - right}" y="${height - bottom + 18}" text-anchor="end">update ${update}</text>`,
    ...lines,
    '</svg>\n',
  ].join('\n');
}

/**
 * Writes a run as the folder of a Hugging Face model, which `AutoModelForCausalLM` and `AutoTokenizer` can open. The
 * folder also has everything needed to continue training bit for bit: `readCheckpointFiles` gives the same run back.
 * `packedRun` makes the argument from any Run with a checkpoint. A run that trains adapters for a base checkpoint
 * becomes a folder of adapters, see `adapterFiles`. Throws RangeError if `form` is qwen2 but the model has no biases on
 * q, k and v.
 */
export function checkpointFiles(run: PackedRun, form: Form = 'llama'): Files {
  const { checkpoint } = run;
  if (checkpoint.base) return adapterFiles(run, checkpoint.base);
  const { vocabulary, networks, chatTokenizer } = checkpoint;
  const ids = chatTokenizer ? textSpecialIds(chatTokenizer) : wordSpecialIds(vocabulary);
  const model = modelOf(checkpoint);
  const { weights } = networks.policy;
  if (form === 'qwen2' && !model.attention_bias) {
    throw new RangeError(
      'form: qwen2 needs biases on q, k and v, and this model has none. Use llama, or attentionBias on.',
    );
  }
  const shapes = new Map([...parameters(criticConfig(model)), ...parameters(model)].map((p) => [p.name, p.shape]));
  const valueHead = parameters(model).filter(({ name }) => name.startsWith('value_head.'));
  const metrics = metricsFile(run.points);
  const files: [string, string | ArrayBuffer][] = [
    [FILE_NAMES.card, cardFile(run, form)],
    [FILE_NAMES.curves, curvesFile(run)],
    [FILE_NAMES.config, configFile(model, ids, form)],
    [FILE_NAMES.generation, generationFile(ids)],
    [FILE_NAMES.weights, modelFile(model, weights, form)],
    [FILE_NAMES.tokenizer, chatTokenizer?.tokenizer ?? tokenizerFile(vocabulary)],
    [
      FILE_NAMES.tokenizerConfig,
      chatTokenizer ? textTokenizerConfig(chatTokenizer) : tokenizerConfigFile(MAX_POSITIONS),
    ],
    [FILE_NAMES.template, chatTokenizer?.template ?? CHAT_TEMPLATE],
    [FILE_NAMES.manifest, manifestFile(run, metrics)],
    [FILE_NAMES.metrics, metrics],
    ...environmentFiles(run).map(([name, text]): [string, string] => [name, text]),
    [FILE_NAMES.training, trainingStateFile(checkpoint, shapes)],
  ];
  if (valueHead.length > 0) {
    const tensors = valueHead.map(({ name, shape }) => {
      return [name, { shape, values: weights.get(name) ?? new Float32Array() }] as const;
    });
    files.push([FILE_NAMES.valueHead, encodeSafetensors(new Map(tensors), { format: 'pt' })]);
  }
  return new Map(
    files.map(([name, content]) => [name, typeof content === 'string' ? utf8Bytes(content) : new Uint8Array(content)]),
  );
}

/** model.safetensors. For a Llama with biases it includes those of o_proj, which are 0. */
function modelFile(model: ModelConfig, weights: Weights, form: Form): ArrayBuffer {
  const tensors = new Map<string, SafeTensor>();
  for (const { name, shape, size } of parameters({ ...model, value_head: false })) {
    tensors.set(name, { shape, values: weights.get(name) ?? new Float32Array(size) });
  }
  for (const name of model.attention_bias && form === 'llama' ? outputBiases(model) : []) {
    tensors.set(name, { shape: [model.hidden_size], values: new Float32Array(model.hidden_size) });
  }
  return encodeSafetensors(tensors, { format: 'pt' }); // Transformers requires `pt`
}

/**
 * Writes a run that trains adapters for `base` as a folder: adapters in PEFT's format, their moments, and everything
 * else needed to continue bit for bit. Of `base` itself it has only the name and the fingerprint. `readCheckpointFiles`
 * gives the same run back.
 */
function adapterFiles(run: PackedRun, base: BaseMark): Files {
  const { checkpoint } = run;
  const { networks } = checkpoint;
  const adapters = adapterConfig(checkpoint.begun);
  const trainedTensors = new Map(
    Array.from(networks.policy.weights, ([name, values]) => {
      return [name, { shape: shapeOf(name, values.length, adapters.rank), values }];
    }),
  );
  const shapes = new Map(Array.from(trainedTensors, ([name, { shape }]) => [name, shape]));
  const metrics = metricsFile(run.points);
  return new Map<string, Uint8Array>([
    ...peftFilesFromTensors(trainedTensors, adapters, base.name),
    [FILE_NAMES.card, utf8Bytes(adapterCard(run, base))],
    [FILE_NAMES.curves, utf8Bytes(curvesFile(run))],
    [FILE_NAMES.manifest, utf8Bytes(manifestFile(run, metrics))],
    [FILE_NAMES.metrics, utf8Bytes(metrics)],
    ...environmentFiles(run).map(([name, text]) => [name, utf8Bytes(text)] as const),
    [FILE_NAMES.training, new Uint8Array(trainingStateFile(checkpoint, shapes))],
  ]);
}

/** A is (rank, in), B is (out, rank), a value head's weight is one row and its bias one number. */
function shapeOf(name: string, size: number, rank: number): readonly number[] {
  if (name.endsWith('.lora_A.weight')) return [rank, size / rank];
  if (name.endsWith('.lora_B.weight')) return [size / rank, rank];
  return name === 'value_head.weight' ? [1, size] : [size];
}

/**
 * training_state.safetensors: the arrays of a checkpoint, named as in `checkpointTensors`. The policy's weights are
 * left out, because the model's file has them, unless they are adapters. `shapes` has the shapes of weights by name;
 * all other arrays are written as lists.
 */
function trainingStateFile(checkpoint: Checkpoint, shapes: ReadonlyMap<string, readonly number[]>): ArrayBuffer {
  const tensors = [...checkpointTensors(checkpoint)]
    .filter(([name]) => checkpoint.base !== undefined || !name.startsWith(POLICY_WEIGHTS_PREFIX))
    .map(([name, values]) => {
      const shape = shapes.get(name.replace(/^\w+\.\w+\./, '')); // without the prefix, such as `policy.adamM.`
      return [name, { shape: shape?.reduce((a, b) => a * b, 1) === values.length ? shape : [values.length], values }] as const; // prettier-ignore
    });
  return encodeSafetensors(new Map(tensors), { format: 'pt' });
}
