import type { BlockFormat } from '../../../formats/blocks/blockFormats.ts';
import { narrowedHalves } from '../../../formats/half.ts';
import type { Kernel } from '../../../gpu/kernel.ts';
import * as kernels from '../../../gpu/kernels/index.ts';

/** A form in which weights lie on the device, and the kernels that read it. */
export interface DeviceFormat {
  readonly name: string; // as ggml and safetensors name it
  readonly weights: number; // of a block
  readonly bytes: number; // of a block
  readonly tiles: Kernel; // products of many rows
  readonly rows: Kernel; // of few
  readonly embed: Kernel;
}

const F32: DeviceFormat = {
  name: 'F32',
  weights: 1,
  bytes: 4,
  tiles: kernels.matmulTiles,
  rows: kernels.matmulRowsFloats,
  embed: kernels.embedFloats,
};
const F16: DeviceFormat = {
  name: 'F16',
  weights: 1,
  bytes: 2,
  tiles: kernels.matmulTilesPackedHalves,
  rows: kernels.matmulRowsPackedHalves,
  embed: kernels.embedPackedHalves,
};
const BF16: DeviceFormat = {
  name: 'BF16',
  weights: 1,
  bytes: 2,
  tiles: kernels.matmulTilesBf16,
  rows: kernels.matmulRowsBf16,
  embed: kernels.embedBf16,
};
const Q8_0: DeviceFormat = {
  name: 'Q8_0',
  weights: 32,
  bytes: 34,
  tiles: kernels.matmulTilesQ80,
  rows: kernels.matmulRowsQ80,
  embed: kernels.embedQ80,
};
const Q4_1: DeviceFormat = {
  name: 'Q4_1',
  weights: 32,
  bytes: 20,
  tiles: kernels.matmulTilesQ41,
  rows: kernels.matmulRowsQ41,
  embed: kernels.embedQ41,
};
const Q4_0: DeviceFormat = {
  name: 'Q4_0',
  weights: 32,
  bytes: 18,
  tiles: kernels.matmulTilesQ40,
  rows: kernels.matmulRowsQ40,
  embed: kernels.embedQ40,
};
const KEPT: ReadonlyMap<string, DeviceFormat> = new Map(
  [F32, F16, BF16, Q8_0, Q4_1, Q4_0].map((format) => [format.name, format]),
);

/** The form on the device of matrices that lie in one, one below the other: their own where they share it; else F16, or F32 with a wider one among them. */
export function deviceFormat(formats: readonly BlockFormat[]): DeviceFormat {
  const names = new Set(formats.map(({ name }) => name));
  const [only] = names;
  const own = names.size === 1 ? KEPT.get(only ?? '') : undefined;
  if (own) return own;
  return names.has('F32') || names.has('BF16') ? F32 : F16;
}

/** The weights in these blocks of a file as the device is to have them; the blocks themselves where that is the same. */
export function repacked(bytes: Uint8Array, format: BlockFormat, to: DeviceFormat): Uint8Array {
  if (format.name === to.name) return bytes;
  const wide = new Float32Array((bytes.length / format.bytes) * format.weights);
  format.widen(wide, bytes);
  return new Uint8Array(to === F32 ? wide.buffer : narrowedHalves(wide).buffer);
}
