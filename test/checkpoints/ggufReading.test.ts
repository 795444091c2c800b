import { expect, test } from 'vitest';
import { ggufName, huggingFaceRow } from '../../src/checkpoints/ggufNames.ts';
import { openGgufCheckpoint } from '../../src/checkpoints/openCheckpoint.ts';
import { bytesInMemory } from '../../src/formats/byteSource.ts';
import { decodeGgufHeader } from '../../src/formats/ggufHeader.ts';
import { storedTensor, readFloat32 } from '../../src/model/weightSource.ts';
import { text, type Typed } from '../formats/gguf.ts';
import { TINY, tinyGguf } from '../speaking/tinyGguf.ts';

const opened = (keys: Readonly<Record<string, Typed>> = {}) =>
  openGgufCheckpoint(bytesInMemory('tiny.gguf', tinyGguf(keys)));

// as LlamaModel.permute of llama.cpp's converter leaves them: (heads, 2, D/2) with its last two axes changed over
test.each([
  ['q_proj', 4],
  ['k_proj', 2],
])('the rows of %s, which a GGUF has in pairs, go back to halves of a head', async (name, heads) => {
  const full = `model.layers.0.self_attn.${name}.weight`;
  const half = TINY.head_dim / 2;
  const wanted = Array.from({ length: heads }, (_, head) => [0, 1, 2, 3].flatMap((j) => [j, j + half].map((row) => head * TINY.head_dim + row))).flat(); // prettier-ignore
  const rowOf = huggingFaceRow(TINY, full)!;
  expect(wanted.map((_, row) => rowOf(row))).toEqual(wanted);
  const file = tinyGguf();
  const { dataStart, tensors } = decodeGgufHeader('tiny.gguf', file);
  const begin = dataStart + tensors.get(ggufName(full))!.offset;
  const packed = new Float32Array(file.slice(begin, begin + 4 * wanted.length * TINY.hidden_size).buffer);
  const { weights } = await opened();
  const read = await readFloat32(storedTensor(weights, full));
  wanted.forEach((to, from) => {
    const row = (values: Float32Array, at: number) => values.slice(at * TINY.hidden_size, (at + 1) * TINY.hidden_size);
    expect(row(read, to)).toEqual(row(packed, from));
  });
});

test('no other tensor of a GGUF changes its rows', () => {
  for (const name of ['self_attn.v_proj', 'self_attn.o_proj', 'mlp.up_proj']) {
    expect(huggingFaceRow(TINY, `model.layers.0.${name}.weight`)).toBeUndefined();
  }
});

test.each([7, 1026])(
  'heads of %d numbers are refused before anything of their size is allocated, with what fits',
  async (size) => {
    await expect(opened({ 'llama.attention.key_length': { type: 4, value: size } })).rejects.toThrow(
      `llama.attention.key_length: found ${size}, expected an even number up to 1024: halves of a head are rotated`,
    );
  },
);

test('positions that a GGUF scales linearly divide every frequency by its factor', async () => {
  const scaling = { 'llama.rope.scaling.type': text('linear'), 'llama.rope.scaling.factor': { type: 6, value: 4 } };
  expect((await opened(scaling)).model.rope_factors).toEqual([4, 4, 4, 4]);
  expect((await opened()).model.rope_factors).toBeUndefined();
  await expect(opened({ 'llama.rope.scaling.type': text('linear') })).rejects.toThrow(
    /llama\.rope\.scaling\.factor: found nothing, expected a number above 0/,
  );
  await expect(opened({ 'llama.rope.scaling.type': text('yarn') })).rejects.toThrow(
    /found yarn, expected none or linear/,
  );
});
