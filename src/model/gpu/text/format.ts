import type { BlockFormat } from '../../../formats/blocks/blockFormats.ts';
import { toFloat16 } from '../../../formats/float16.ts';
import type { Kernel } from '../../../gpu/kernel.ts';
import * as kernels from '../../../gpu/kernels/index.ts';

/** A format of weights on the device, and the kernels that read it. */
export interface DeviceFormat {
  readonly name: string; // as ggml and safetensors name it
  readonly weightsPerBlock: number; // per block
  readonly bytesPerBlock: number; // per block
  readonly tilesKernel: Kernel; // products of many rows
  readonly fewRowsKernel: Kernel; // products of few rows
  readonly embedKernel: Kernel; // rows of an embedding table
}

const F32: DeviceFormat = {
  name: 'F32',
  weightsPerBlock: 1,
  bytesPerBlock: 4,
  tilesKernel: kernels.matmulTiles,
  fewRowsKernel: kernels.matmulRowsFloats,
  embedKernel: kernels.embedFloats,
};
const F16: DeviceFormat = {
  name: 'F16',
  weightsPerBlock: 1,
  bytesPerBlock: 2,
  tilesKernel: kernels.matmulTilesPackedHalves,
  fewRowsKernel: kernels.matmulRowsPackedHalves,
  embedKernel: kernels.embedPackedHalves,
};
const BF16: DeviceFormat = {
  name: 'BF16',
  weightsPerBlock: 1,
  bytesPerBlock: 2,
  tilesKernel: kernels.matmulTilesBf16,
  fewRowsKernel: kernels.matmulRowsBf16,
  embedKernel: kernels.embedBf16,
};
const Q8_0: DeviceFormat = {
  name: 'Q8_0',
  weightsPerBlock: 32,
  bytesPerBlock: 34,
  tilesKernel: kernels.matmulTilesQ80,
  fewRowsKernel: kernels.matmulRowsQ80,
  embedKernel: kernels.embedQ80,
};
const Q4_1: DeviceFormat = {
  name: 'Q4_1',
  weightsPerBlock: 32,
  bytesPerBlock: 20,
  tilesKernel: kernels.matmulTilesQ41,
  fewRowsKernel: kernels.matmulRowsQ41,
  embedKernel: kernels.embedQ41,
};
const Q4_0: DeviceFormat = {
  name: 'Q4_0',
  weightsPerBlock: 32,
  bytesPerBlock: 18,
  tilesKernel: kernels.matmulTilesQ40,
  fewRowsKernel: kernels.matmulRowsQ40,
  embedKernel: kernels.embedQ40,
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
  const [firstName] = names;
  const common = names.size === 1 ? DEVICE_FORMATS.get(firstName ?? '') : undefined;
  if (common) return common;
  return names.has('F32') || names.has('BF16') ? F32 : F16;
}

/** Converts weights from blocks of a file to the device format. Returns the same bytes if the format is the same. */
export function toDeviceFormat(bytes: Uint8Array, format: BlockFormat, target: DeviceFormat): Uint8Array {
  if (format.name === target.name) return bytes;
  const floats = new Float32Array((bytes.length / format.blockBytes) * format.blockWeights);
  format.toFloat32(floats, bytes);
  return new Uint8Array(target === F32 ? floats.buffer : toFloat16(floats).buffer);
}
