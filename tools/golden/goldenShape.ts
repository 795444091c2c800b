import { isCount, isRecord, type JsonRecord } from '../../src/base/jsonRecord.ts';
import { FIELDS } from '../../src/config/config.ts';
import { parameters, type ModelConfig } from '../../src/model/architecture.ts';
import type { Safetensors } from '../../src/formats/safetensors.ts';

/** Limits above any real fixture, so that the sizes in a damaged one are never allocated. */
const LIMITS = { size: 65_536, layers: 64, steps: 1000 };

const SIZE_KEYS = [
  ...['vocab_size', 'hidden_size', 'intermediate_size', 'num_hidden_layers', 'num_attention_heads'],
  ...['num_key_value_heads', 'head_dim'],
];
const SWITCH_KEYS = ['attention_bias', 'tie_word_embeddings', 'value_head'];
const KNOB_KEYS = [
  ...['clip_low', 'clip_high', 'dual_clip', 'kl_coef', 'entropy_coef', 'value_coef', 'value_clip', 'learning_rate'],
  ...['beta1', 'beta2', 'adam_eps', 'weight_decay', 'max_grad_norm'],
];

/** Parses a JSON object. Throws an Error that begins with `what` if the text is anything else. */
export function jsonObject(what: string, text: string): JsonRecord {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // no JSON: the error is thrown below
  }
  throw new Error(`${what} isn’t a JSON object. Make the fixture again.`);
}

/** The first deviation of a policy fixture from test/golden/README.md, in words; null if there is none. */
export function shapeProblem(
  { tensors }: Pick<Safetensors, 'tensors'>,
  config: JsonRecord,
  hyper: JsonRecord,
  steps: number,
): string | null {
  for (const name of SIZE_KEYS) {
    if (!isInRange(config[name], LIMITS.size))
      return `config.${name} is ${String(config[name])} and must be a whole number`;
  }
  const model = config as unknown as ModelConfig;
  if (model.num_hidden_layers > LIMITS.layers)
    return `config.num_hidden_layers is ${model.num_hidden_layers}, and the limit is ${LIMITS.layers}`;
  for (const name of SWITCH_KEYS) if (typeof config[name] !== 'boolean') return `config.${name} isn’t true or false`;
  for (const name of ['rms_norm_eps', 'rope_theta']) {
    if (!isNumber(config[name]) || !(config[name] > 0)) return `config.${name} isn’t a number above 0`;
  }
  if (model.num_attention_heads % model.num_key_value_heads !== 0 || model.head_dim % 2 !== 0 || model.head_dim > 64) {
    return 'config asks for heads that do not fit together';
  }
  for (const name of KNOB_KEYS) if (!isNumber(hyper[name])) return `hyper.${name} isn’t a number`;
  for (const [name, field] of [
    ['kl_estimator', FIELDS.klEstimator],
    ['loss_aggregation', FIELDS.aggregation],
  ] as const) {
    if (!field.choices.some((choice) => choice === hyper[name]))
      return `hyper.${name} isn’t one of ${field.choices.join(', ')}`;
  }
  if (!isInRange(steps, LIMITS.steps)) return `adamw_steps isn’t a whole number from 1 to ${LIMITS.steps}`;
  return tensorProblem(tensors, model);
}

function tensorProblem(tensors: Safetensors['tensors'], m: ModelConfig): string | null {
  for (const { name, shape } of parameters(m)) {
    const found = tensors.get(`param.${name}`);
    if (found?.shape.join() !== shape.join()) {
      return `param.${name} is ${found ? `[${found.shape.join()}]` : 'missing'} and must be [${shape.join()}]`;
    }
  }
  const [rows = 0, length = 0] = tensors.get('tokens')?.shape ?? [];
  if (rows < 1 || length < 1) return 'tokens is no table';
  for (const [name, max] of [
    ['tokens', m.vocab_size - 1],
    ['roles', 3],
  ] as const) {
    const found = tensors.get(name);
    if (found?.shape.join() !== `${rows},${length}`) return `${name} is not [${rows},${length}]`;
    for (const id of found.values)
      if (!(Number.isInteger(id) && id >= 0 && id <= max)) return `${name} holds ${id}, which is not from 0 to ${max}`;
  }
  for (const [name, { shape, values }] of tensors) {
    if (!name.startsWith('batch.') && !name.startsWith('param.')) continue;
    if (values instanceof Int32Array) return `${name} is I32 and must be F32`;
    if (name.startsWith('batch.') && shape.join() !== `${rows},${length}`) return `${name} is not [${rows},${length}]`;
    if (!values.every(Number.isFinite)) return `${name} has a value that isn’t a number`;
  }
  return null;
}

const isNumber = (x: unknown): x is number => typeof x === 'number' && Number.isFinite(x);
const isInRange = (x: unknown, max: number): x is number => isCount(x) && x >= 1 && x <= max;

/** Rows of numbers, which may have different lengths. */
export type NumberTable = readonly (readonly number[])[];

/**
 * Checks the cases of an `advantages` file. Throws an Error with the file and the case if one is not as
 * test/golden/README.md says.
 */
export function checkCases(file: string, cases: unknown): void {
  if (!Array.isArray(cases)) throw new Error(`${file}: cases isn’t a list. Make the fixture again.`);
  for (const [i, one] of (cases as unknown[]).entries()) {
    const problem = caseProblem(one);
    if (problem !== null) throw new Error(`${file}: case ${i}: ${problem}. Make the fixture again.`);
  }
}

function caseProblem(one: unknown): string | null {
  if (!isRecord(one)) return 'is no object';
  const { name, gamma, lambda, roles, rewards, values, groups, group_size: size, expect } = one;
  if (typeof name !== 'string' || !isNumber(gamma) || !isNumber(lambda)) return 'want a name, gamma and lambda';
  if (!isTable(roles) || roles.length < 1) return 'roles is no table';
  if (!roles.flat().every((role) => [0, 1, 2, 3].includes(role))) return 'roles has a value other than 0, 1, 2, 3';
  const hasShapeOfRoles = (table: unknown) =>
    isTable(table) && table.map((r) => r.length).join() === roles.map((r) => r.length).join();
  if (!hasShapeOfRoles(rewards) || !hasShapeOfRoles(values)) return 'rewards or values are not of the shape of roles';
  if (size !== undefined && !isInRange(size, LIMITS.size)) return 'group_size isn’t a whole number';
  if (
    groups !== undefined &&
    !(Array.isArray(groups) && groups.length === roles.length && groups.every(Number.isInteger))
  ) {
    return 'groups has not a number for each row';
  }
  if (!isRecord(expect)) return 'expect is no object';
  for (const [estimator, want] of Object.entries(expect)) {
    if (!isRecord(want) || !hasShapeOfRoles(want['advantages']))
      return `expect.${estimator}.advantages is not of the shape of roles`;
    for (const table of ['returns', 'rewards']) {
      if (want[table] !== undefined && !hasShapeOfRoles(want[table]))
        return `expect.${estimator}.${table} is not of the shape of roles`;
    }
    if (want['turn_gamma'] !== undefined && !isNumber(want['turn_gamma']))
      return `expect.${estimator}.turn_gamma isn’t a number`;
  }
  return null;
}

const isTable = (x: unknown): x is NumberTable =>
  Array.isArray(x) &&
  x.length <= LIMITS.size &&
  x.every((row: unknown) => Array.isArray(row) && row.length <= LIMITS.size && row.every(isNumber));
