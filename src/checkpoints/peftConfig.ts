import { field, isRecord, type JsonRecord, valueText } from '../base/jsonRecord.ts';
import { jsonText, readJson } from '../formats/jsonFile.ts';
import { type Problem, ProblemError } from '../base/problem.ts';
import { type AdapterConfig, LINEAR_NAMES } from '../model/loraAdapters.ts';

export const PEFT_CONFIG = 'adapter_config.json';

const MAX_RANK = 64;

/**
 * The text of PEFT's adapter_config.json (https://huggingface.co/docs/peft). `base` is the name on the hub or the
 * folder with which `from_pretrained` finds the base model; null if unknown. Defaults are written out, because they may
 * differ between versions of PEFT.
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

/** Keys that are read here, or that only say how the adapter was made and trained and don't change what it computes. */
const ACCEPTED_KEYS: ReadonlySet<string> = new Set([
  ...['peft_type', 'task_type', 'base_model_name_or_path', 'r', 'lora_alpha', 'target_modules', 'use_rslora', 'bias'],
  ...['init_lora_weights', 'auto_mapping', 'peft_version', 'revision', 'inference_mode', 'lora_dropout'],
  ...['eva_config', 'corda_config', 'loftq_config', 'megatron_core', 'qalora_group_size', 'layers_pattern'],
  ...['runtime_config'],
]);

/** The expected value of keys that change what an adapter computes, for messages. Other unknown keys must be off too. */
const EXPECTED_IF_SET: Readonly<Record<string, string>> = {
  use_dora: 'false: magnitudes (DoRA) are not learned here',
  modules_to_save: 'null: only the adapters are trained here',
  rank_pattern: '{}: one rank for all',
  alpha_pattern: '{}: one alpha for all',
  layers_to_transform: 'null: adapters in every layer',
  lora_bias: 'false: B has no bias here',
  fan_in_fan_out: 'false: weights are (out, in)',
  trainable_token_indices: 'null: the embedding is not trained here',
  layer_replication: 'null: layers are not repeated here',
};

/** Initializations that leave the base model unchanged. Others (PiSSA, OLoRA, LoftQ, …) change its weights. */
const HARMLESS_INITIALIZATIONS: readonly unknown[] = [undefined, null, true, false, 'gaussian', 'eva', 'orthogonal'];

export interface PeftConfig {
  readonly adapters: AdapterConfig;
  readonly base: string | null; // name of the base model, as the file has it
}

/**
 * Reads an adapter_config.json. Rank-stabilized scaling (`use_rslora`: alpha/√rank) is converted to the alpha that
 * gives the same scale. Throws ProblemError that lists every setting that is not supported here, and every key that is
 * missing or of the wrong type.
 */
export function readPeftConfig(bytes: Uint8Array): PeftConfig {
  const parsed = readJson(PEFT_CONFIG, bytes);
  const config: JsonRecord = isRecord(parsed) ? parsed : {};
  const problems: Problem[] = [];
  const report = (place: string, got: unknown, want: string) => {
    problems.push({ file: PEFT_CONFIG, place, got: valueText(got), want, remedy: REMEDY });
  };
  const requireOneOf = (name: string, ...allowed: readonly unknown[]) => {
    const value = field(config, name);
    if (!allowed.includes(value)) report(name, value, valueText(allowed.at(-1)));
  };
  requireOneOf('peft_type', 'LORA');
  requireOneOf('task_type', undefined, null, 'CAUSAL_LM');
  requireOneOf('bias', undefined, 'none');
  for (const [name, value] of Object.entries(config)) {
    if (!ACCEPTED_KEYS.has(name) && !isOff(value)) report(name, value, EXPECTED_IF_SET[name] ?? 'nothing of this name');
  }
  const initialization = field(config, 'init_lora_weights');
  if (!HARMLESS_INITIALIZATIONS.includes(initialization)) {
    report('init_lora_weights', initialization, 'true: other initializations change the base model');
  }
  const rank = field(config, 'r');
  const alpha = field(config, 'lora_alpha');
  if (!isRank(rank)) report('r', rank, `a whole number from 1 to ${MAX_RANK}`);
  if (!isPositive(alpha)) report('lora_alpha', alpha, 'a number above 0');
  const rankStabilized = field(config, 'use_rslora') ?? false;
  if (typeof rankStabilized !== 'boolean') report('use_rslora', rankStabilized, 'true or false');
  const targets = field(config, 'target_modules');
  const targetNames: readonly unknown[] =
    targets === 'all-linear' ? LINEAR_NAMES : Array.isArray(targets) ? targets : [];
  if (targetNames.length === 0) report('target_modules', targets, `some of ${LINEAR_NAMES.join(', ')}`);
  for (const name of targetNames) {
    if (!LINEAR_NAMES.some((linear) => linear === name))
      report('target_modules', name, `some of ${LINEAR_NAMES.join(', ')}`);
  }
  if (problems.length > 0 || !isRank(rank) || !isPositive(alpha)) throw new ProblemError(problems);
  const base = field(config, 'base_model_name_or_path');
  return {
    adapters: {
      rank,
      alpha: rankStabilized === true ? alpha * Math.sqrt(rank) : alpha,
      targets: LINEAR_NAMES.filter((linear) => targetNames.includes(linear)),
    },
    base: typeof base === 'string' && base !== '' ? base : null,
  };
}

const isRank = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= MAX_RANK;
const isPositive = (value: unknown): value is number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0;

/** Whether the value of a key is a default that switches it off. */
function isOff(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === null || value === false || (isRecord(value) && Object.keys(value).length === 0);
}
