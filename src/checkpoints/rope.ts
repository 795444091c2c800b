import { field, isRecord, type JsonRecord } from '../base/jsonRecord.ts';
import type { ModelConfig } from '../model/architecture.ts';

/** Reports a setting of config.json that the network cannot compute: where it is, its value, and what it should be. */
export type ReportProblem = (place: string, got: unknown, want: string) => void;

/** The largest head dimension that is accepted. It is far above what published models have. */
export const MAX_HEAD_DIM = 1024;

/** A setting above 0; `fallback` if it is missing. Any other value is reported, and gives `fallback`, or 1 without one. */
export function positiveNumber(
  config: JsonRecord,
  name: string,
  fallback: number | undefined,
  report: ReportProblem,
  place = name,
): number {
  const value = field(config, name) ?? fallback;
  if (typeof value === 'number' && Number.isFinite(value) && value > 0) return value;
  report(place, value, 'a number above 0');
  return fallback ?? 1;
}

/** Settings of rotary positions: `rope_parameters` of Transformers 5, or `rope_theta` and `rope_scaling` of 4. */
export function readRope(
  config: JsonRecord,
  headDim: number,
  report: ReportProblem,
): Pick<ModelConfig, 'rope_theta' | 'rope_factors'> {
  const parameters = field(config, 'rope_parameters');
  const scaling = field(config, 'rope_scaling') ?? undefined;
  if (isRecord(parameters)) {
    const theta = positiveNumber(parameters, 'rope_theta', 10000, report);
    const legacyTheta = field(config, 'rope_theta') ?? theta;
    if (legacyTheta !== theta) report('rope_theta', legacyTheta, `${theta}, as in rope_parameters`);
    const ropeType = ropeTypeOf(parameters);
    if (scaling !== undefined && (!isRecord(scaling) || ropeTypeOf(scaling) !== ropeType)) {
      report('rope_scaling', scaling, `${shownType(ropeType)}, as in rope_parameters`);
    }
    return scaledRope(theta, parameters, 'rope_parameters', headDim, report);
  }
  const theta = positiveNumber(config, 'rope_theta', 10000, report);
  if (scaling !== undefined && !isRecord(scaling)) report('rope_scaling', scaling, 'null or an object');
  return isRecord(scaling) ? scaledRope(theta, scaling, 'rope_scaling', headDim, report) : { rope_theta: theta };
}

/** Older files call `rope_type` just `type`. */
const ropeTypeOf = (settings: JsonRecord): unknown =>
  field(settings, 'rope_type') ?? field(settings, 'type') ?? 'default';
const shownType = (type: unknown) => (typeof type === 'string' ? type : 'its type');

function scaledRope(
  theta: number,
  settings: JsonRecord,
  place: string,
  headDim: number,
  report: ReportProblem,
): Pick<ModelConfig, 'rope_theta' | 'rope_factors'> {
  const type = ropeTypeOf(settings);
  const factorAt = (name: string) => positiveNumber(settings, name, undefined, report, `${place}.${name}`);
  const partial = field(settings, 'partial_rotary_factor') ?? 1;
  if (partial !== 1) report(`${place}.partial_rotary_factor`, partial, '1: whole heads are rotated');
  switch (type) {
    case 'default':
      return { rope_theta: theta };
    case 'linear': {
      const factor = factorAt('factor');
      return { rope_theta: theta, rope_factors: Array.from({ length: headDim / 2 }, () => factor) };
    }
    case 'llama3': {
      const factor = factorAt('factor');
      const low = factorAt('low_freq_factor');
      const high = factorAt('high_freq_factor');
      const positions = factorAt('original_max_position_embeddings');
      if (!(high > low)) report(`${place}.high_freq_factor`, high, `more than low_freq_factor, ${low}`);
      return { rope_theta: theta, rope_factors: llama3Factors(theta, headDim, factor, low, high, positions) };
    }
  }
  report(`${place}.rope_type`, type, 'default, linear or llama3');
  return { rope_theta: theta };
}

/**
 * The divisor of each rotary frequency in Llama 3.1, (headDim/2). The wavelength is the number of tokens in which a
 * pair rotates once. A wavelength below `positions`/`high` gives 1, one above `positions`/`low` gives `factor`. Between
 * them the frequency is a mixture of the original and the divided one, linear in the rotations that fit into
 * `positions` tokens.
 */
function llama3Factors(
  theta: number,
  headDim: number,
  factor: number,
  low: number,
  high: number,
  positions: number,
): readonly number[] {
  return Array.from({ length: headDim / 2 }, (_, i) => {
    const rotations = (positions * theta ** ((-2 * i) / headDim)) / (2 * Math.PI);
    if (rotations > high) return 1;
    if (rotations < low) return factor;
    const smooth = (rotations - low) / (high - low);
    return 1 / ((1 - smooth) / factor + smooth);
  });
}
