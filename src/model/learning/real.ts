/**
 * Row-major array of the CPU backend: float32 to train, float64 for tests that need the precision. Loops in TypeScript
 * always sum in float64.
 */
export type Real = Float32Array | Float64Array;

export type Precision = 'f32' | 'f64';

export function reals(precision: Precision, size: number): Real {
  return precision === 'f32' ? new Float32Array(size) : new Float64Array(size);
}

export function bytesPer(precision: Precision): number {
  return precision === 'f32' ? 4 : 8;
}
