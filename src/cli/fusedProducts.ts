import { setFlagsFromString } from 'node:v8';

/** The first Node whose WebAssembly has relaxed SIMD without being asked. */
const HAS_IT = 22;

/** Lets WebAssembly fuse products and sums in an older Node, too. To be called before any WebAssembly is compiled. */
export function allowFusedProducts(): void {
  const [major = '0'] = process.versions.node.split('.');
  if (Number(major) < HAS_IT) setFlagsFromString('--experimental-wasm-relaxed-simd');
}
