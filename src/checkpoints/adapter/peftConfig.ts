import { field, isRecord, jsonText, type JsonRecord, readJson, shown } from '../../formats/jsonFile.ts';
import { type Problem, ProblemError } from '../../base/problem.ts';
import { type AdapterConfig, LINEARS } from '../../model/loraAdapters.ts';

/** The file of a PEFT adapter's folder that says what it is. */
export const PEFT_CONFIG = 'adapter_config.json';

/** Largest rank of an adapter. */
const MOST_RANK = 64;

/**
 * adapter_config.json of PEFT (https://huggingface.co/docs/peft). `base` is what `from_pretrained` finds the model by: a name on the hub or a folder; null where
 * that is not known. Defaults are written out where a reader of another version may have another.
 */
export function peftConfigFile({ rank, alpha, targets }: AdapterConfig, base: string | null): string {
  return jsonText({
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: base,
    revision: null,
    inference_mode: true,
    r: rank,
    lora_alpha: alpha,
    target_modules: targets,
    exclude_modules: null,
    lora_dropout: 0,
    bias: 'none',
    lora_bias: false,
    fan_in_fan_out: false,
    init_lora_weights: true,
    use_rslora: false,
    use_dora: false,
    modules_to_save: null,
    layers_to_transform: null,
    layers_pattern: null,
    rank_pattern: {},
    alpha_pattern: {},
  });
}

const REMEDY =
  'Train it anew with a LoraConfig of r, lora_alpha and target_modules alone, or merge it into its model with PEFT.';

/** Read here, or nothing that changes what the adapter computes: how it was made and trained. */
const TAKEN: ReadonlySet<string> = new Set([
  ...['peft_type', 'task_type', 'base_model_name_or_path', 'r', 'lora_alpha', 'target_modules', 'use_rslora', 'bias'],
  ...['init_lora_weights', 'auto_mapping', 'peft_version', 'revision', 'inference_mode', 'lora_dropout'],
  ...['eva_config', 'corda_config', 'loftq_config', 'megatron_core', 'qalora_group_size', 'layers_pattern'],
  ...['runtime_config'],
]);

/** What is wanted of keys that change what an adapter computes; of others that are not known here, nothing too. */
const WANTED: Readonly<Record<string, string>> = {
  use_dora: 'false: magnitudes (DoRA) are not learned here',
  modules_to_save: 'null: all but the adapters stays as it is',
  rank_pattern: '{}: one rank for all',
  alpha_pattern: '{}: one alpha for all',
  layers_to_transform: 'null: adapters in every layer',
  lora_bias: 'false: B has no bias here',
  fan_in_fan_out: 'false: weights are (out, in)',
  trainable_token_indices: 'null: the embedding stays as it is',
  layer_replication: 'null: layers as they are in the model',
};

/** First weights that leave the model as it is; others (PiSSA, OLoRA, LoftQ, …) belong to a model that they changed. */
const FIRST_WEIGHTS: readonly unknown[] = [undefined, null, true, false, 'gaussian', 'eva', 'orthogonal'];

/** What an adapter_config.json says. */
export interface PeftConfig {
  readonly adapters: AdapterConfig;
  readonly base: string | null; // the model it was trained beside, as it was called there
}

/**
 * An adapter_config.json as adapters of this project. Rank-stabilized scaling (`use_rslora`: alpha/√rank) becomes the alpha that scales as much. Throws
 * ProblemError with everything that its adapters would need and that there is not here, and with keys that are missing or of another type.
 */
export function readPeftConfig(bytes: Uint8Array): PeftConfig {
  const read = readJson(PEFT_CONFIG, bytes);
  const config: JsonRecord = isRecord(read) ? read : {};
  const problems: Problem[] = [];
  const wrong = (place: string, got: unknown, want: string) => {
    problems.push({ file: PEFT_CONFIG, place, got: shown(got), want, remedy: REMEDY });
  };
  const only = (name: string, ...allowed: readonly unknown[]) => {
    const value = field(config, name);
    if (!allowed.includes(value)) wrong(name, value, shown(allowed.at(-1)));
  };
  only('peft_type', 'LORA');
  only('task_type', undefined, null, 'CAUSAL_LM');
  only('bias', undefined, 'none');
  for (const [name, value] of Object.entries(config)) {
    if (!TAKEN.has(name) && !asksNothing(value)) wrong(name, value, WANTED[name] ?? 'nothing of this name');
  }
  const first = field(config, 'init_lora_weights');
  if (!FIRST_WEIGHTS.includes(first)) {
    wrong('init_lora_weights', first, 'true: other first weights belong to a model that was changed with them');
  }
  const rank = field(config, 'r');
  const alpha = field(config, 'lora_alpha');
  if (!isRank(rank)) wrong('r', rank, `a whole number from 1 to ${MOST_RANK}`);
  if (!isPositive(alpha)) wrong('lora_alpha', alpha, 'a number above 0');
  const stabilized = field(config, 'use_rslora') ?? false;
  if (typeof stabilized !== 'boolean') wrong('use_rslora', stabilized, 'true or false');
  const named = field(config, 'target_modules');
  const list: readonly unknown[] = named === 'all-linear' ? LINEARS : Array.isArray(named) ? named : [];
  if (list.length === 0) wrong('target_modules', named, `some of ${LINEARS.join(', ')}`);
  for (const name of list) {
    if (!LINEARS.some((linear) => linear === name)) wrong('target_modules', name, `some of ${LINEARS.join(', ')}`);
  }
  if (problems.length > 0 || !isRank(rank) || !isPositive(alpha)) throw new ProblemError(problems);
  const base = field(config, 'base_model_name_or_path');
  return {
    adapters: {
      rank,
      alpha: stabilized === true ? alpha * Math.sqrt(rank) : alpha,
      targets: LINEARS.filter((linear) => list.includes(linear)),
    },
    base: typeof base === 'string' && base !== '' ? base : null,
  };
}

const isRank = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MOST_RANK;
const isPositive = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;

/** Whether a key is there for its name alone. */
function asksNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === null || value === false || (isRecord(value) && Object.keys(value).length === 0);
}
