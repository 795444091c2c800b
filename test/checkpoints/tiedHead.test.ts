import { expect, test } from 'vitest';
import { mergedFolder } from '../../src/checkpoints/adapter/mergedFolder.ts';
import { openFolderCheckpoint } from '../../src/checkpoints/openCheckpoint.ts';
import { bytesInMemory } from '../../src/formats/byteSource.ts';
import { decodeSafetensors, encodeSafetensors, type SafeTensor } from '../../src/formats/safetensors.ts';
import { mergedSource } from '../../src/model/mergedSource.ts';
import { storedTensor, readFloat32 } from '../../src/model/weightSource.ts';
import { ADAPTERS, drawnAdapters, wholeOf } from '../adapters/made.ts';
import { fixture, folderOf } from '../weights/fixtures.ts';

const [HEAD, EMBEDDING] = ['lm_head.weight', 'model.embed_tokens.weight'];

/** The fixture whose config.json ties its head, its tensors changed. */
function tied(change: (tensors: Map<string, SafeTensor>, embedding: SafeTensor) => void) {
  const tensors = new Map(decodeSafetensors(fixture('qwen2/model.safetensors')).tensors);
  change(tensors, tensors.get(EMBEDDING)!);
  return folderOf('qwen2', { 'model.safetensors': new Uint8Array(encodeSafetensors(tensors)) });
}
const withHead = (change: (values: Float32Array) => void) =>
  tied((tensors, { shape, values }) => {
    const head = Float32Array.from(values);
    change(head);
    tensors.set(HEAD, { shape, values: head });
  });
/** One number of the last row is another. */
const other = withHead((values) => (values[values.length - 1]! += 1));

test('a head that differs from the embedding in one number is read, and the model is not tied, whatever its config.json says', async () => {
  const { model, weights, remarks } = await openFolderCheckpoint(other);
  expect(model.tie_word_embeddings).toBe(false);
  const [head, embedding] = await Promise.all(
    [HEAD, EMBEDDING].map((name) => readFloat32(storedTensor(weights, name))),
  );
  expect(head!.findIndex((x, i) => x !== embedding![i])).toBe(head!.length - 1);
  expect(remarks).toEqual([expect.stringMatching(/^lm_head\.weight differs/)]);
});

test('a head that equals the embedding is tied to it, which is said; without one nothing is', async () => {
  const { model, weights, remarks } = await openFolderCheckpoint(withHead(() => undefined));
  expect([model.tie_word_embeddings, weights.has(HEAD)]).toEqual([true, false]);
  expect(remarks).toEqual([expect.stringMatching(/^lm_head\.weight equals/)]);
  expect((await openFolderCheckpoint(folderOf('qwen2'))).remarks).toEqual([]);
});

test('a head alone is the embedding too, and a head of another shape is refused by its name', async () => {
  const alone = tied((tensors, embedding) => {
    tensors.delete(EMBEDDING);
    tensors.set(HEAD, embedding);
  });
  const plain = await openFolderCheckpoint(folderOf('qwen2'));
  const { weights } = await openFolderCheckpoint(alone);
  expect(await readFloat32(storedTensor(weights, EMBEDDING))).toEqual(
    await readFloat32(storedTensor(plain.weights, EMBEDDING)),
  );
  const short = tied((tensors) => tensors.set(HEAD, { shape: [1, 16], values: new Float32Array(16) }));
  await expect(openFolderCheckpoint(short)).rejects.toThrow(/lm_head\.weight: found \[1,16\], expected \[/);
});

test('a merged folder keeps a head of its own, and its config.json says that it is not tied', async () => {
  const { model, weights } = await openFolderCheckpoint(other);
  const source = mergedSource(weights, model, ADAPTERS, drawnAdapters(model, ADAPTERS, 5));
  const files = await mergedFolder(other, source, 'F32');
  const whole = new Map(await Promise.all(files.map(async (file) => [file.name, await wholeOf(file)] as const)));
  const config = JSON.parse(Buffer.from(whole.get('config.json')!).toString()) as Record<string, unknown>;
  expect(config['tie_word_embeddings']).toBe(false);
  const again = await openFolderCheckpoint((file) => (whole.has(file) ? bytesInMemory(file, whole.get(file)!) : null));
  expect(again.remarks).toEqual([]);
  expect(await readFloat32(storedTensor(again.weights, HEAD))).toEqual(await readFloat32(storedTensor(weights, HEAD)));
});

test('frequencies of rotary positions among the tensors are left out, which is said', async () => {
  const name = 'model.layers.0.self_attn.rotary_emb.inv_freq';
  const { weights, remarks } = await openFolderCheckpoint(
    tied((tensors) => tensors.set(name, { shape: [2], values: Float32Array.of(1, 0.5) })),
  );
  expect(weights.has(name)).toBe(false);
  expect(remarks).toEqual([expect.stringMatching(/rotary_emb\.inv_freq: not used/)]);
});
