import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mergedGguf } from '../../src/checkpoints/adapter/mergedGguf.ts';
import { fullMark } from '../../src/checkpoints/baseCheckpoint.ts';
import { openGgufCheckpoint } from '../../src/checkpoints/openCheckpoint.ts';
import { bytesInMemory } from '../../src/formats/byteSource.ts';
import { openGguf } from '../../src/formats/gguf.ts';
import { ggufFiles, partNames } from '../../src/base/ggufFiles.ts';
import { openTextCheckpoint } from '../../src/speaking/textCheckpoint.ts';
import { wholeOf } from '../adapters/made.ts';
import { ggufFile, text, type Typed, u32 } from './gguf.ts';
import { refusalOf, refusedAt } from './refusal.ts';

// a model of two layers that llama-gguf-split would have left in three files, 8, 8 and 4 tensors
const NAMES = partNames('split-00001-of-00003.gguf');
const part = (name: string) => {
  const file = new URL(`../fixtures/split-gguf/${name}`, import.meta.url);
  return { path: name, source: bytesInMemory(name, readFileSync(file)) };
};
const parts = NAMES.map(part);

test('the parts of a split model are read together, in any order and beside another model', async () => {
  const { opened, template } = await openTextCheckpoint([parts[2]!, parts[0]!, part(NAMES[1]!)]);
  expect(opened.gguf!.tensors.size).toBe(20);
  expect(opened.model.num_hidden_layers).toBe(2);
  expect(opened.weights.size).toBe(20);
  expect(template).not.toBeNull();
  const beside = { path: 'b/other.gguf', source: bytesInMemory('other.gguf', new Uint8Array(9)) };
  expect(ggufFiles([parts[1]!, beside, parts[0]!])).toEqual([parts[0], parts[1]]);
});

test.each([
  [[0], 'split-00002-of-00003.gguf, split-00003-of-00003.gguf'],
  [[1], 'split-00001-of-00003.gguf, split-00003-of-00003.gguf'],
  [[2, 0], 'split-00002-of-00003.gguf'],
])('of parts %j alone it is said which are missing, and how to join them', async (given, without) => {
  const files = given.map((i) => parts[i]!);
  await expect(openTextCheckpoint(files)).rejects.toThrow(
    `split.count: found 3 parts, without ${without}, expected all 3. Choose all of them together. Or join them first: llama-gguf-split --merge split-00001-of-00003.gguf joined.gguf`,
  );
});

test('parts of other models, the same part twice and a tensor in two parts are refused by file', async () => {
  const split = (no: number, count: number) => {
    const keys = { 'split.no': u32(no), 'split.count': u32(count), 'split.tensors.count': u32(2) };
    return ggufFile(keys, [{ name: 'a', shape: [1], type: 0, offset: 0 }], 4);
  };
  const open = (...files: readonly Uint8Array[]) => {
    const [first, ...others] = files.map((bytes, i) => bytesInMemory(`${i}.gguf`, bytes));
    return openGguf(first!, others);
  };
  await expect(open(split(0, 2), split(1, 3))).rejects.toThrow(
    /^1\.gguf: split\.count: found 3, expected 2, as in 0\.gguf/,
  );
  await expect(open(split(0, 2), split(0, 2))).rejects.toThrow(/^1\.gguf: split\.no: found 0, which 0\.gguf is too/);
  await expect(open(split(0, 2), split(2, 2))).rejects.toThrow(/^1\.gguf: split\.no: found 2, expected 0 … 1/);
  await expect(open(split(0, 2), split(1, 2))).rejects.toThrow(/^1\.gguf: a: found a tensor that 0\.gguf has too/);
  await expect(open(split(0, 4e9))).rejects.toThrow(/split\.count: found 4000000000 parts, without part 2/);
  for (const files of [
    [split(0, 2), split(1, 3)],
    [split(0, 2), split(0, 2)],
    [split(0, 2), split(1, 2)],
    [split(0, 4e9)],
  ]) {
    await refusalOf(() => open(...files)); // says what to do
  }
});

test('keys of parts count where they are whole numbers from 0, and the tensors of all parts are counted', async () => {
  const file = (no: number, keys: Readonly<Record<string, Typed>>, name = `t${no}`) =>
    ggufFile(keys, [{ name, shape: [1], type: 0, offset: 0 }], 4);
  const open = (...files: readonly Uint8Array[]) => {
    const [first, ...others] = files.map((bytes, i) => bytesInMemory(`${i}.gguf`, bytes));
    return openGguf(first!, others);
  };
  for (const count of [
    text('2'),
    { type: 5, value: -2 },
    { type: 6, value: 1.5 },
    { type: 10, value: 2n ** 60n },
    u32(1),
    u32(0),
  ]) {
    expect((await open(file(0, { 'split.count': count }), new Uint8Array())).tensors.size).toBe(1); // nothing else is read
  }
  const part = (no: Typed, more: Readonly<Record<string, Typed>> = {}) => ({
    'split.no': no,
    'split.count': u32(2),
    ...more,
  });
  const two = (said: number) =>
    [file(0, part(u32(0), { 'split.tensors.count': u32(said) })), file(1, part(u32(1)))] as const;
  expect((await open(...two(2))).tensors.size).toBe(2);
  for (const said of [1, 3]) {
    expect(await refusedAt(() => open(...two(said)))).toBe(`split.tensors.count: ${said}, but 2 tensors in all parts`);
  }
  expect(await refusedAt(() => open(file(0, part(u32(0))), file(1, part(text('1')))))).toBe('split.no: nothing');
  expect(await refusedAt(() => open(file(0, part(u32(0))), file(1, {})))).toBe('split.count: nothing');
});

test('of many missing parts four are named, and the rest counted', async () => {
  const keys = (count: number) => ({ 'split.no': u32(0), 'split.count': u32(count) });
  const without = async (count: number) => {
    const name = `m-00001-of-${String(count).padStart(5, '0')}.gguf`;
    return refusedAt(() => openGguf(bytesInMemory(name, ggufFile(keys(count)))));
  };
  const names = [2, 3, 4, 5].map((no) => `m-0000${no}-of-0000`);
  expect(await without(5)).toBe(`split.count: 5 parts, without ${names.map((name) => `${name}5.gguf`).join(', ')}`);
  expect(await without(6)).toBe(
    `split.count: 6 parts, without ${names.map((name) => `${name}6.gguf`).join(', ')} and 1 more`,
  );
});

test('a merged model is one file without keys of parts, and the mark of a base is that of all parts', async () => {
  const opened = await openGgufCheckpoint(
    parts[0]!.source,
    parts.slice(1).map(({ source }) => source),
  );
  const bytes = await wholeOf(await mergedGguf(opened, opened.weights, 'F32', 'merged.gguf'));
  const again = await openGgufCheckpoint(bytesInMemory('merged.gguf', bytes));
  expect([...again.gguf!.header.metadata.keys()].filter((key) => key.startsWith('split.'))).toEqual([]);
  expect(again.model).toEqual(opened.model);
  const [all, changed] = await Promise.all([
    fullMark('a', parts),
    fullMark('a', [...parts.slice(0, 2), { path: NAMES[2]!, source: bytesInMemory(NAMES[2]!, new Uint8Array(9)) }]),
  ]);
  expect(all.sha256).not.toBe(changed.sha256);
  expect(all.bytes).toBe(parts.reduce((sum, { source }) => sum + source.size, 0));
});
