import type { ModelConfig } from '../../src/model/architecture.ts';
import { decodeSafetensors, type Safetensors } from '../../src/model/weightsFile.ts';
import type { SuppliedCredit } from '../../src/model/policy.ts';
import type { Aggregation, ObjectiveSettings, OptimizerSettings } from '../../src/model/learningSettings.ts';
import type { TokenRecord } from '../../src/domain/tokens.ts';
import { jsonObject, shapeProblem } from './goldenShape.ts';

/** A policy fixture (test/golden/README.md), with its knobs under this project's names. */
export interface Golden {
  readonly name: string;
  readonly model: ModelConfig;
  readonly rows: number;
  readonly length: number;
  readonly record: TokenRecord;
  readonly givenCredit: SuppliedCredit;
  readonly objective: ObjectiveSettings;
  readonly optimizer: OptimizerSettings;
  readonly adamwSteps: number;
  /** Returns the float tensor of this name. Throws if the file has none. */
  readonly tensor: (name: string) => Float32Array;
  readonly has: (name: string) => boolean;
  /** The tensors whose names begin with `prefix`, by the rest of their names. */
  readonly tensorsUnder: (prefix: string) => Map<string, Float32Array>;
}

/** Knobs under the names that fixtures use. */
interface FixtureKnobs {
  readonly clip_low: number;
  readonly clip_high: number;
  readonly dual_clip: number;
  readonly kl_estimator: ObjectiveSettings['klEstimator'];
  readonly kl_coef: number;
  readonly entropy_coef: number;
  readonly value_coef: number;
  readonly value_clip: number;
  readonly loss_aggregation: Aggregation;
  readonly entropy_aggregation?: Aggregation;
  readonly value_aggregation?: Aggregation;
  readonly learning_rate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly adam_eps: number;
  readonly weight_decay: number;
  readonly max_grad_norm: number;
}

/** Reads a fixture. Throws an Error with the file's name if it is malformed. */
export function parseGolden(name: string, file: ArrayBuffer): Golden {
  const { tensors, metadata } = decoded(name, file);
  const tokens = tensors.get('tokens');
  const roles = tensors.get('roles');
  const { config, hyper: hyperText, adamw_steps: steps } = metadata;
  if (!tokens || !roles || config === undefined || hyperText === undefined) {
    throw new Error(
      `${name}: the tensors tokens and roles or the metadata config and hyper are missing. Make the fixture again, as test/golden/README.md says.`,
    );
  }
  const model = jsonObject(`${name}: config`, config);
  const hyper = jsonObject(`${name}: hyper`, hyperText);
  const problem = shapeProblem({ tensors }, model, hyper, Number(steps));
  if (problem !== null) throw new Error(`${name}: ${problem}. Make the fixture again, as test/golden/README.md says.`);
  const [rows = 0, length = 0] = tokens.shape;
  const h = hyper as unknown as FixtureKnobs;
  const tensor = (key: string) => {
    const found = tensors.get(key)?.values;
    if (!(found instanceof Float32Array)) throw new Error(`${name}: has no float tensor ${key}.`);
    return found;
  };
  const optional = (key: string) => (tensors.has(key) ? tensor(key) : new Float32Array(rows * length));
  return {
    name,
    model: model as unknown as ModelConfig,
    rows,
    length,
    record: {
      tokens: Int32Array.from(tokens.values),
      roles: Uint8Array.from(roles.values),
      states: new Uint8Array(rows * length),
    },
    givenCredit: {
      oldLogprobs: optional('batch.old_logprobs'),
      refLogprobs: optional('batch.ref_logprobs'),
      advantages: optional('batch.advantages'),
      lossMask: optional('batch.loss_mask'),
      valueMask: optional('batch.value_mask'),
      oldValues: optional('batch.old_values'),
      returns: optional('batch.returns'),
    },
    objective: objectiveOf(h),
    optimizer: optimizerOf(h),
    adamwSteps: Number(steps),
    tensor,
    has: (key) => tensors.has(key),
    tensorsUnder: (prefix) =>
      new Map([...tensors.keys()].filter((n) => n.startsWith(prefix)).map((n) => [n.slice(prefix.length), tensor(n)])),
  };
}

function objectiveOf(h: FixtureKnobs): Golden['objective'] {
  return {
    surrogate: 'clipped',
    clipLow: h.clip_low,
    clipHigh: h.clip_high,
    dualClip: h.dual_clip,
    klEstimator: h.kl_estimator,
    klTimesRatio: 'off',
    observationLoss: 0,
    teacherCoef: 0,
    klCoef: h.kl_coef,
    entropyCoef: h.entropy_coef,
    valueCoef: h.value_coef,
    valueClip: h.value_clip,
    aggregation: h.loss_aggregation,
    // older fixtures don't name these: they were made with means over tokens
    entropyAggregation: h.entropy_aggregation ?? 'token-mean',
    valueAggregation: h.value_aggregation ?? 'token-mean',
  };
}

function optimizerOf(h: FixtureKnobs): Golden['optimizer'] {
  return {
    learningRate: h.learning_rate,
    criticLearningRate: h.learning_rate,
    beta1: h.beta1,
    beta2: h.beta2,
    eps: h.adam_eps,
    weightDecay: h.weight_decay,
    maxGradNorm: h.max_grad_norm,
    criticOnly: false,
  };
}

function decoded(name: string, file: ArrayBuffer): Safetensors {
  try {
    return decodeSafetensors(file);
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The supervised loss of a fixture as credit and objective: the mean negative log-likelihood of the action tokens. */
export function supervisedLoss(golden: Golden): {
  readonly givenCredit: SuppliedCredit;
  readonly objective: ObjectiveSettings;
} {
  const tokenCount = golden.record.roles.length;
  return {
    givenCredit: {
      ...golden.givenCredit,
      advantages: new Float32Array(tokenCount).fill(1),
      lossMask: Float32Array.from(golden.record.roles, (role) => (role === 2 ? 1 : 0)),
      valueMask: new Float32Array(tokenCount),
    },
    objective: { ...golden.objective, surrogate: 'plain', klCoef: 0, entropyCoef: 0, aggregation: 'token-mean' },
  };
}

/**
 * ‖got − want‖ / ‖want‖. If `want` is all zero, the norm of `got`. Infinity if the lengths differ or a number is not
 * finite.
 */
export function relativeError(got: ArrayLike<number>, want: ArrayLike<number>): number {
  if (got.length !== want.length) return Infinity;
  let difference = 0;
  let size = 0;
  for (let i = 0; i < want.length; i++) {
    difference += (got[i]! - want[i]!) ** 2;
    size += want[i]! ** 2;
  }
  const error = Math.sqrt(size > 0 ? difference / size : difference);
  return Number.isNaN(error) ? Infinity : error;
}
