import { setFlagsFromString } from 'node:v8';

/** The first major version of Node with relaxed SIMD for WebAssembly by default. */
const RELAXED_SIMD_VERSION = 22;

/** Turns on relaxed SIMD in older versions of Node. Call it before any WebAssembly is compiled. */
export function allowFusedProducts(): void {
  const [major = '0'] = process.versions.node.split('.');
  if (Number(major) < RELAXED_SIMD_VERSION) setFlagsFromString('--experimental-wasm-relaxed-simd');
}
