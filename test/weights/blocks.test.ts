import { expect, it } from 'vitest';
import { GGML_FORMATS } from '../../src/formats/blocks/blockFormats.ts';
import { expected } from './fixtures.ts';

const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));

it.each([...GGML_FORMATS.values()])('$name widens to the bits the gguf package widens it to', (format) => {
  const { bytes, values } = expected.blocks[format.name]!;
  const packed = bytesOf(bytes);
  const out = new Float32Array((packed.length / format.blockBytes) * format.blockWeights);
  format.toFloat32(out, packed);
  expect(format.allFinite(packed)).toBe(true);
  expect(new Uint8Array(out.buffer)).toEqual(bytesOf(values));
});

it.each([...GGML_FORMATS.values()])('$name with a weight that is not finite is known', (format) => {
  const packed = bytesOf(expected.blocks[format.name]!.bytes);
  const scale = { Q6_K: 208 }[format.name] ?? 0; // of the second block
  packed.fill(0xff, format.blockBytes + scale, format.blockBytes + scale + Math.min(4, format.blockBytes));
  expect(format.allFinite(packed)).toBe(false);
});
