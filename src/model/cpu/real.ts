/**
 * Row-major numbers of the CPU backend: float32 in the product, float64 where tests need digits. Sums are always float64.
 * A process that uses one of the two keeps every hot loop monomorphic; mixing them costs speed, never correctness.
 */
export type Real = Float32Array | Float64Array;

/** What a backend computes in. */
export type Precision = 'f32' | 'f64';

/** Zeros of the given precision. */
export function reals(precision: Precision, size: number): Real {
  return precision === 'f32' ? new Float32Array(size) : new Float64Array(size);
}

/** Bytes of one number. */
export function bytesPer(precision: Precision): number {
  return precision === 'f32' ? 4 : 8;
}
