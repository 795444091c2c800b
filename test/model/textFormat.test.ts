import { expect, test } from 'vitest';
import { BF16, F16, F32 } from '../../src/formats/blocks/floats.ts';
import { Q5_0, Q5_1, Q4_0, Q4_1, Q6_K, Q8_0 } from '../../src/formats/blocks/blockFormats.ts';
import { deviceFormat, toDeviceFormat } from '../../src/model/gpu/matrices.ts';

const bytesOf = (array: Float32Array | Uint16Array) => new Uint8Array(array.buffer);
const toHalves = (values: Float32Array) =>
  new Uint16Array(toDeviceFormat(bytesOf(values), F32, deviceFormat([Q6_K])).buffer);

test('six formats stay as they are, others become halves, and mixed ones what holds both', () => {
  for (const format of [F32, F16, BF16, Q8_0, Q4_1, Q4_0])
    expect(deviceFormat([format, format]).name).toBe(format.name);
  for (const format of [Q5_0, Q5_1, Q6_K]) expect(deviceFormat([format]).name).toBe('F16');
  expect(deviceFormat([Q8_0, F16]).name).toBe('F16');
  expect(deviceFormat([F16, BF16]).name).toBe('F32');
});

test('every half comes back as its own bits, and what lies between two goes to the nearer, to the even one on a tie', () => {
  const bits = Uint16Array.from({ length: 0x7c01 }, (_, i) => i); // zero to infinity
  const values = new Float32Array(bits.length);
  F16.toFloat32(values, bytesOf(bits));
  expect(toHalves(values)).toEqual(bits);
  expect(toHalves(values.map((value) => -value))).toEqual(bits.map((bit) => bit | 0x8000));
  const finite = values.subarray(0, 0x7c00);
  const between = (share: number) =>
    finite.map((value, i) => value + share * ((i < 0x7bff ? values[i + 1]! : 65536) - value));
  expect(toHalves(between(0.25))).toEqual(bits.subarray(0, 0x7c00));
  expect(toHalves(between(0.75))).toEqual(bits.subarray(1));
  expect(toHalves(between(0.5))).toEqual(bits.subarray(0, 0x7c00).map((bit) => bit + (bit & 1)));
});

test('blocks that stay are the same bytes', () => {
  const bytes = Uint8Array.from({ length: 34 }, (_, i) => i);
  expect(toDeviceFormat(bytes, Q8_0, deviceFormat([Q8_0]))).toBe(bytes);
});
