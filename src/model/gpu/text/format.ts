import type { BlockFormat } from '../../../formats/blocks/blockFormats.ts';
import { narrowedHalves } from '../../../formats/half.ts';
import type { Kernel } from '../../../gpu/kernel.ts';
import * as kernels from '../../../gpu/kernels/index.ts';

/** A format of weights on the device, and the kernels that read it. */
export interface DeviceFormat {
  readonly name: string; // as ggml and safetensors name it
  readonly weights: number; // per block
  readonly bytes: number; // per block
  readonly tiles: Kernel; // products of many rows
  readonly rows: Kernel; // products of few rows
  readonly embed: Kernel; // rows of an embedding table
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
const DEVICE_FORMATS: ReadonlyMap<string, DeviceFormat> = new Map(
  [F32, F16, BF16, Q8_0, Q4_1, Q4_0].map((format) => [format.name, format]),
);

/**
 * The device format for matrices that are stacked into one. It is their own format if all have the same one and kernels
 * read it; otherwise F16, or F32 if one of them is F32 or BF16.
 */
export function deviceFormat(formats: readonly BlockFormat[]): DeviceFormat {
  const names = new Set(formats.map(({ name }) => name));
  const [only] = names;
  const common = names.size === 1 ? DEVICE_FORMATS.get(only ?? '') : undefined;
  if (common) return common;
  return names.has('F32') || names.has('BF16') ? F32 : F16;
}

/** Converts weights from blocks of a file to the device format. Returns the same bytes if the format is the same. */
export function repacked(bytes: Uint8Array, format: BlockFormat, to: DeviceFormat): Uint8Array {
  if (format.name === to.name) return bytes;
  const floats = new Float32Array((bytes.length / format.bytes) * format.weights);
  format.widen(floats, bytes);
  return new Uint8Array(to === F32 ? floats.buffer : narrowedHalves(floats).buffer);
}
