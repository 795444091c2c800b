import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { meteredWasm } from '../../src/written/script/meteredMachine.ts';

const text = (said: string) => [said.length, ...new TextEncoder().encode(said)];
const section = (id: number, bytes: readonly number[]) => [id, bytes.length, ...bytes];
/** A machine that goes round a loop so often, then copies a megabyte that often. */
const machine = (imported = 'fd_close', instruction = 0x01) => {
  const loop = (local: number, code: readonly number[]) => [
    ...[0x03, 0x40, ...code, 0x20, local, 0x41, 1, 0x6b, 0x22, local, 0x0d, 0, 0x0b],
  ];
  const copy = [0x41, 0, 0x41, 0, 0x41, 0x80, 0x80, 0xc0, 0, 0xfc, 10, 0, 0];
  const body = [0, instruction, ...loop(0, []), ...loop(1, copy), 0x0b];
  return new Uint8Array([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [2, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 2, 0x7f, 0x7f, 0]),
    ...section(2, [1, ...text('wasi'), ...text(imported), 0, 0]),
    ...section(3, [1, 1]),
    ...section(5, [1, 0, 32]),
    ...section(6, [0]),
    ...section(7, [1, ...text('run'), 0, 1]),
    ...section(10, [1, body.length, ...body]),
  ]);
};

function asked(turns: number, copies: number): number {
  let count = 0;
  const module = new WebAssembly.Module(meteredWasm(machine()));
  const { exports } = new WebAssembly.Instance(module, { wasi: { fd_close: () => (count++, 0) } });
  (exports['run'] as (turns: number, copies: number) => void)(turns, copies);
  return count;
}

test('the host is asked after each million of turns of loops, and copied bytes count a sixty-fourth', () => {
  expect(asked(999_000, 1)).toBe(1); // a megabyte is 16,384
  expect(asked(980_000, 1)).toBe(0);
  expect(asked(2_999_000, 1)).toBe(3);
  expect(asked(1, 611)).toBe(10); // 611 · 16,385
});

test('QuickJS with its work counted is valid, and a tenth longer at most', () => {
  const whole = readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));
  const metered = meteredWasm(whole);
  expect(WebAssembly.validate(metered)).toBe(true);
  expect(metered.length / whole.length).toBeLessThan(1.1);
});

test('a machine that cannot be counted is refused', () => {
  expect(() => meteredWasm(machine('fd_read'))).toThrow(/fd_close/);
  expect(() => meteredWasm(machine('fd_close', 0xfe))).toThrow(/instruction 254/);
});
