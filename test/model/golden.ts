import { readdirSync, readFileSync } from 'node:fs';
import type { ModelConfig } from '../../src/model/architecture.ts';
import { decodeSafetensors } from '../../src/model/checkpoint.ts';
import type { GivenCredit, ObjectiveSettings, OptimizerSettings } from '../../src/model/policy.ts';
import type { TokenRecord } from '../../src/tokens.ts';

const FOLDER = new URL('../golden/', import.meta.url);

/** A policy fixture of test/golden, with its hyperparameters under this project's names. */
export interface Golden {
  readonly name: string;
  readonly model: ModelConfig;
  readonly rows: number;
  readonly length: number;
  readonly record: TokenRecord;
  readonly given: GivenCredit;
  readonly objective: ObjectiveSettings;
  readonly optimizer: OptimizerSettings;
  readonly adamwSteps: number;
  tensor(name: string): Float32Array;
  has(name: string): boolean;
  named(prefix: string): Map<string, Float32Array>;
}

/** Every policy fixture in test/golden. */
export function goldens(): Golden[] {
  return readdirSync(FOLDER)
    .filter((file) => file.endsWith('.safetensors'))
    .sort()
    .map(readGolden);
}

function readGolden(file: string): Golden {
  const bytes = readFileSync(new URL(file, FOLDER));
  const { tensors, metadata } = decodeSafetensors(new Uint8Array(bytes).buffer);
  const [rows = 0, length = 0] = tensors.get('tokens')!.shape;
  const hyper = JSON.parse(metadata['hyper']!) as Record<string, never>;
  const tensor = (name: string) => {
    const found = tensors.get(name);
    if (!found || found.values instanceof Int32Array) throw new Error(`${file} has no float tensor ${name}`);
    return found.values;
  };
  const optional = (name: string) => (tensors.has(name) ? tensor(name) : new Float32Array(rows * length));
  return {
    name: file.replace('.safetensors', ''),
    model: JSON.parse(metadata['config']!) as ModelConfig,
    rows,
    length,
    record: {
      tokens: Int32Array.from(tensors.get('tokens')!.values),
      roles: Uint8Array.from(tensors.get('roles')!.values),
      states: new Uint8Array(rows * length),
    },
    given: {
      oldLogprobs: optional('batch.old_logprobs'),
      refLogprobs: optional('batch.ref_logprobs'),
      advantages: optional('batch.advantages'),
      lossMask: optional('batch.loss_mask'),
      valueMask: optional('batch.value_mask'),
      oldValues: optional('batch.old_values'),
      returns: optional('batch.returns'),
    },
    objective: {
      surrogate: 'clipped',
      clipLow: hyper['clip_low']!,
      clipHigh: hyper['clip_high']!,
      dualClip: hyper['dual_clip']!,
      klEstimator: hyper['kl_estimator']!,
      klCoef: hyper['kl_coef']!,
      entropyCoef: hyper['entropy_coef']!,
      valueCoef: hyper['value_coef']!,
      valueClip: hyper['value_clip']!,
      aggregation: hyper['loss_aggregation']!,
    },
    optimizer: {
      learningRate: hyper['learning_rate']!,
      criticLearningRate: hyper['learning_rate']!,
      beta1: hyper['beta1']!,
      beta2: hyper['beta2']!,
      eps: hyper['adam_eps']!,
      weightDecay: hyper['weight_decay']!,
      maxGradNorm: hyper['max_grad_norm']!,
    },
    adamwSteps: Number(metadata['adamw_steps']),
    tensor,
    has: (name) => tensors.has(name),
    named: (prefix) =>
      new Map([...tensors.keys()].filter((n) => n.startsWith(prefix)).map((n) => [n.slice(prefix.length), tensor(n)])),
  };
}

/** ‖got − want‖ / ‖want‖; the plain norm of `got` where `want` is all zero. */
export function relativeError(got: ArrayLike<number>, want: ArrayLike<number>): number {
  if (got.length !== want.length) return Infinity;
  let difference = 0;
  let size = 0;
  for (let i = 0; i < want.length; i++) {
    difference += (got[i]! - want[i]!) ** 2;
    size += want[i]! ** 2;
  }
  return Math.sqrt(size > 0 ? difference / size : difference);
}
