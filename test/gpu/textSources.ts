import { random, Purpose } from '../../src/base/rng.ts';
import { type BlockFormat, GGML_FORMATS } from '../../src/formats/blocks/blockFormats.ts';
import { parameters, type ModelConfig } from '../../src/model/architecture.ts';
import type { StoredTensor, WeightSource } from '../../src/model/weightSource.ts';

/** A format by ggml's name. */
export function formatOf(name: string): BlockFormat {
  return [...GGML_FORMATS.values()].find((format) => format.name === name)!;
}

/** Bits of a positive or negative number as a half, cut; exponents from 2^-14 on. */
function half(value: number): number {
  if (value === 0) return 0;
  const exponent = Math.max(-14, Math.floor(Math.log2(Math.abs(value))));
  const fraction = Math.floor((Math.abs(value) / 2 ** exponent - 1) * 1024);
  return (value < 0 ? 0x8000 : 0) | ((exponent + 15) << 10) | Math.max(0, fraction);
}

/** How numbers are packed; what is lost does not matter, as the oracle reads the same bytes. */
const PACKERS: Readonly<Record<string, (out: DataView, values: Float32Array) => void>> = {
  F32: (out, [value]) => out.setFloat32(0, value!, true),
  F16: (out, [value]) => out.setUint16(0, half(value!), true),
  BF16: (out, [value]) => {
    out.setUint16(0, new Uint32Array(Float32Array.of(value!).buffer)[0]! >>> 16, true);
  },
  Q8_0: (out, values) => {
    const d = Math.max(...values.map(Math.abs)) / 120;
    out.setUint16(0, half(d), true);
    values.forEach((value, i) => out.setInt8(2 + i, Math.round(value / d)));
  },
  Q4_0: (out, values) => {
    const d = Math.max(...values.map(Math.abs)) / 7;
    out.setUint16(0, half(d), true);
    const q = (i: number) => Math.round(values[i]! / d) + 8;
    for (let i = 0; i < 16; i++) out.setUint8(2 + i, q(i) | (q(i + 16) << 4));
  },
  Q4_1: (out, values) => {
    const least = Math.min(...values);
    const d = (Math.max(...values) - least) / 15.5;
    out.setUint16(0, half(d), true);
    out.setUint16(2, half(least), true);
    const q = (i: number) => Math.min(15, Math.round((values[i]! - least) / d));
    for (let i = 0; i < 16; i++) out.setUint8(4 + i, q(i) | (q(i + 16) << 4));
  },
  Q5_0: (out, values) => {
    const d = Math.max(...values.map(Math.abs)) / 15;
    out.setUint16(0, half(d), true);
    const q = (i: number) => Math.round(values[i]! / d) + 16;
    let high = 0;
    for (let i = 0; i < 32; i++) high |= (q(i) >> 4) << i;
    out.setUint32(2, high >>> 0, true);
    for (let i = 0; i < 16; i++) out.setUint8(6 + i, (q(i) & 15) | ((q(i + 16) & 15) << 4));
  },
};

/** Random weights of a model as a file has them: matrices in the format that `nameOf` names, norms and biases in F32. */
export function packedSource(model: ModelConfig, seed: number, nameOf: (tensor: string) => string): WeightSource {
  return new Map(
    parameters(model).map(({ name, shape, size, std }, index): [string, StoredTensor] => {
      const draw = random(seed, Purpose.weights, index);
      const norm = name.endsWith('norm.weight');
      const values = Float32Array.from({ length: size }, () => (norm ? 1 : 0) + (std || 0.1) * draw.normal());
      const format = formatOf(shape.length > 1 ? nameOf(name) : 'F32');
      const count = size / format.blockWeights;
      const packed = new Uint8Array(count * format.blockBytes);
      for (let b = 0; b < count; b++) {
        const view = new DataView(packed.buffer, b * format.blockBytes, format.blockBytes);
        PACKERS[format.name]!(view, values.subarray(b * format.blockWeights, (b + 1) * format.blockWeights));
      }
      const read = (out: Uint8Array) => {
        out.set(packed);
        return Promise.resolve();
      };
      return [name, { shape, format, bytes: packed.length, read }];
    }),
  );
}
