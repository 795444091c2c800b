import { createHash } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { BaseNeededError, checkBase, fullMark, quickMark } from '../../src/checkpoints/baseCheckpoint.ts';
import { type ByteSource, bytesInMemory } from '../../src/formats/byteSource.ts';
import { openBase } from '../../src/speaking/textCheckpoint.ts';
import { tinyGguf } from '../speaking/tinyGguf.ts';

afterEach(() => vi.unstubAllGlobals());

const MIB = 2 ** 20;
const SIZE = 17 * MIB; // hashed in two pieces
const SAMPLE = 65_536;
/** Weights after a config; `change` may touch them. */
function folder(change: ((weights: Uint8Array) => void) | null = null, size = SIZE) {
  const weights = new Uint8Array(size).fill(7);
  change?.(weights);
  const placed = (name: string, bytes: Uint8Array) => ({ path: `m/${name}`, source: bytesInMemory(name, bytes) });
  return [placed('model.safetensors', weights), placed('config.json', new Uint8Array([1, 2]))];
}
const wanted = await fullMark('m', folder());

test('a byte that is changed anywhere in the weights is another checkpoint, where samples are the same too', async () => {
  expect(() => checkBase(wanted, wanted)).not.toThrow();
  // the last byte, one between two samples, the first of the second piece
  for (const at of [100_000, 16 * MIB, SIZE - 1]) {
    const other = await fullMark(
      'm',
      folder((weights) => (weights[at]! ^= 1)),
    );
    expect(() => checkBase(wanted, other), `byte ${at}`).toThrow(BaseNeededError);
  }
  // samples are of 64 KiB each half a MiB here
  const between = folder((weights) => (weights[100_000]! ^= 1));
  expect((await quickMark('m', between)).sha256).toBe(wanted.sha256);
});

test('a checkpoint that a run is to learn beside is opened with the hash of all its bytes', async () => {
  const files = [{ path: 'tiny.gguf', source: bytesInMemory('tiny.gguf', tinyGguf()) }];
  const { mark } = await openBase('tiny.gguf', files);
  expect(mark.whole).toMatch(/^[0-9a-f]{64}$/);
  expect(mark).toEqual(await fullMark('tiny.gguf', files));
});

test('nine tenths of the bytes changed between the samples: other weights, the same samples, and the run does not go on', async () => {
  const step = Math.floor((SIZE - SAMPLE) / 32);
  const others = folder((weights) => {
    for (let at = 0; at < SIZE; at += step) weights.fill(8, at + SAMPLE, at + step);
  });
  const got = await fullMark('m', others);
  expect(got.sha256).toBe(wanted.sha256);
  expect(() => checkBase(wanted, got)).toThrow(/fingerprint ([0-9a-f]{12})….*fingerprint (?!\1)[0-9a-f]{12}…/);
});

test('a run that an older version saved has samples alone, and they are compared', () => {
  const { whole, ...older } = wanted;
  expect(whole).toMatch(/^[0-9a-f]{64}$/);
  expect(() => checkBase(older, { ...wanted, whole: 'f'.repeat(64) })).not.toThrow();
  expect(() => checkBase(older, { ...wanted, sha256: 'f'.repeat(64) })).toThrow(BaseNeededError);
});

test('the hash is that of names, sizes and pieces, with the browser’s SHA-256 or without, each byte read once', async () => {
  const read: number[] = [];
  const counting = folder().map(({ path, source }) => ({
    path,
    source: { ...source, read: (begin: number, end: number) => (read.push(end - begin), source.read(begin, end)) } satisfies ByteSource, // prettier-ignore
  }));
  const sha = (...parts: readonly (string | Uint8Array)[]) =>
    parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest();
  const [weights, config] = await Promise.all(folder().map(({ source }) => source.read(0, source.size)));
  const pieces = [weights!.subarray(0, 16 * MIB), weights!.subarray(16 * MIB)].map((piece) => sha(piece));
  const want = sha('config.json\n2\n', sha(config!), `model.safetensors\n${SIZE}\n`, ...pieces).toString('hex');
  expect((await fullMark('m', counting)).whole).toBe(want);
  const samples = 33 * SAMPLE + 2;
  expect(read.reduce((sum, bytes) => sum + bytes, 0)).toBe(SIZE + 2 + samples);
  const small = async () => (await fullMark('m', folder(null, MIB))).whole;
  const fast = await small();
  vi.stubGlobal('crypto', undefined); // plain http
  expect(await small()).toBe(fast);
});
