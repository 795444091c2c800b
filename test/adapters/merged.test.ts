import { expect, test } from 'vitest';
import { mergedFolder } from '../../src/checkpoints/adapter/mergedFolder.ts';
import { mergedGguf } from '../../src/checkpoints/adapter/mergedGguf.ts';
import { openFolderCheckpoint, openGgufCheckpoint } from '../../src/checkpoints/openCheckpoint.ts';
import { bytesInMemory } from '../../src/formats/byteSource.ts';
import { toFloat16 } from '../../src/formats/blocks/float16.ts';
import { decodeSafetensors } from '../../src/formats/safetensors.ts';
import { adaptedLinears, adapterScale } from '../../src/model/loraAdapters.ts';
import { mergedSource } from '../../src/model/mergedSource.ts';
import { readFloat32, type WeightSource } from '../../src/model/weightSource.ts';
import { fixture, folderOf, MODELS, opened } from '../weights/fixtures.ts';
import { ADAPTERS, drawnAdapters, wholeOf } from './made.ts';

const values = async (source: WeightSource) =>
  new Map(await Promise.all(Array.from(source, async ([name, tensor]) => [name, await readFloat32(tensor)] as const)));
const bits = (tensor: Float32Array | undefined) => new Uint32Array((tensor ?? new Float32Array()).slice().buffer);

/** A fixture with adapters merged into it. */
async function merged(name: string) {
  const checkpoint = await opened(name);
  const weights = drawnAdapters(checkpoint.model, ADAPTERS, 5);
  return { checkpoint, weights, source: mergedSource(checkpoint.weights, checkpoint.model, ADAPTERS, weights) };
}

test.each(MODELS)('%s merged is W + alpha/rank·B·A in float64, rounded once, and all else as it was', async (name) => {
  const { checkpoint, weights, source } = await merged(name);
  const [before, after] = [await values(checkpoint.weights), await values(source)];
  const layers = new Map(adaptedLinears(checkpoint.model, ADAPTERS).map((layer) => [layer.weightName, layer]));
  expect(layers.size).toBe(7 * checkpoint.model.num_hidden_layers);
  for (const [tensor, w] of before) {
    const layer = layers.get(tensor);
    if (!layer) {
      expect(source.get(tensor), tensor).toBe(checkpoint.weights.get(tensor));
      continue;
    }
    const [a, b] = [weights.get(layer.a.name)!, weights.get(layer.b.name)!];
    const wanted = Float32Array.from(w, (x, at) => {
      const [row, column] = [Math.floor(at / layer.in), at % layer.in];
      let sum = x;
      for (let r = 0; r < ADAPTERS.rank; r++) {
        sum += adapterScale(ADAPTERS) * b[row * ADAPTERS.rank + r]! * a[r * layer.in + column]!;
      }
      return sum;
    });
    expect(wanted).not.toEqual(w);
    expect(bits(after.get(tensor)), tensor).toEqual(bits(wanted));
  }
});

test('a merged tensor is the same where the room it is read into begins at any byte', async () => {
  const { source } = await merged('llama3');
  const tensor = source.get('model.layers.1.mlp.down_proj.weight')!;
  const room = new Uint8Array(tensor.bytes + 1).subarray(1);
  await tensor.read(room);
  expect(new Float32Array(room.slice().buffer)).toEqual(await readFloat32(tensor));
});

test('adapters that lack a tensor, or have one of another rank, are not merged', async () => {
  const { model, weights } = await opened('qwen2');
  const whole = drawnAdapters(model, ADAPTERS, 5);
  const less = new Map([...whole].slice(1));
  expect(() => mergedSource(weights, model, ADAPTERS, less)).toThrow(/q_proj\.lora_A\S* has no numbers/);
  expect(() => mergedSource(weights, model, { ...ADAPTERS, rank: 2 }, whole)).toThrow(/has 48 numbers and needs 32/);
});

test.each(['F32', 'F16'] as const)(
  'a merged GGUF file in %s opens as what was merged, keys and order kept',
  async (type) => {
    const { checkpoint, source } = await merged('small.gguf');
    const bytes = await wholeOf(await mergedGguf(checkpoint, source, type, 'merged.gguf'));
    const again = await openGgufCheckpoint(bytesInMemory('merged.gguf', bytes));
    expect(again.model).toEqual(checkpoint.model); // rotary factors too, which are a tensor of the file
    const [wanted, found] = [await values(source), await values(again.weights)];
    expect(found.size).toBe(wanted.size);
    for (const [name, tensor] of wanted) {
      const matrix = again.weights.get(name)!.shape.length > 1;
      expect(again.weights.get(name)!.format.name).toBe(matrix ? type : 'F32');
      if (matrix && type === 'F16') expect(toFloat16(found.get(name)!), name).toEqual(toFloat16(tensor));
      else expect(bits(found.get(name)), name).toEqual(bits(tensor));
    }
    expect([...again.gguf!.tensors.keys()]).toEqual([...checkpoint.gguf!.tensors.keys()]);
    const kept = new Map(checkpoint.gguf!.header.metadata);
    kept.set('general.file_type', type === 'F16' ? 1 : 0);
    expect(new Map(again.gguf!.header.metadata)).toEqual(kept);
  },
);

test.each(['llama3', 'qwen2', 'qwen3'])(
  'a merged folder of %s opens as what was merged; only the type of its weights is another',
  async (name) => {
    const { checkpoint, source } = await merged(name);
    for (const type of ['F32', 'F16'] as const) {
      const files = await mergedFolder(folderOf(name), source, type);
      expect(files.at(-1)?.name).toBe('config.json');
      const whole = new Map(await Promise.all(files.map(async (file) => [file.name, await wholeOf(file)] as const)));
      const config = (bytes: Uint8Array) => Buffer.from(bytes).toString();
      const torch = type === 'F32' ? 'float32' : 'float16';
      const before = config(fixture(`${name}/config.json`));
      expect(config(whole.get('config.json')!)).toBe(before.replace(/"dtype": "\w+"/, `"dtype": "${torch}"`));
      expect([...decodeSafetensors(whole.get('model.safetensors')!).dtypes.values()]).toContain(type);
      const again = await openFolderCheckpoint((file) =>
        whole.has(file) ? bytesInMemory(file, whole.get(file)!) : null,
      );
      expect(again.model).toEqual(checkpoint.model);
      const [wanted, found] = [await values(source), await values(again.weights)];
      expect(found.size).toBe(wanted.size);
      for (const [tensor, numbers] of wanted) {
        if (type === 'F32') expect(bits(found.get(tensor)), tensor).toEqual(bits(numbers));
        else expect(toFloat16(found.get(tensor)!), tensor).toEqual(toFloat16(numbers));
      }
    }
  },
);

test('chat templates under other names stay in a merged folder', async () => {
  const { source } = await merged('qwen3');
  const name = 'additional_chat_templates/tool_use.jinja';
  const sourceOf = folderOf('qwen3', { [name]: Buffer.from('{{ tools }}') });
  const names = (await mergedFolder(sourceOf, source, 'F32', [name, 'other/a.jinja'])).map((file) => file.name);
  expect(names).toContain(name);
  expect(names).not.toContain('other/a.jinja');
});

test('a merged weight that no half can hold is refused by file and name, with what to do', async () => {
  const { checkpoint, weights } = await merged('small.gguf');
  weights.get('model.layers.0.mlp.up_proj.lora_A.weight')!.fill(1e6);
  const source = mergedSource(checkpoint.weights, checkpoint.model, ADAPTERS, weights);
  await expect(mergedGguf(checkpoint, source, 'F16', 'merged.gguf').then(wholeOf)).rejects.toThrow(
    /^small\.gguf: blk\.0\.ffn_up\.weight: found the weight -?\d+.*, expected at most 65504, the largest half\. Write it as F32\.$/,
  );
});

test('a model that came as a folder is not written as a GGUF file: what to do instead is said', async () => {
  const { checkpoint, source } = await merged('qwen3');
  await expect(mergedGguf(checkpoint, source, 'F32', 'merged.gguf')).rejects.toThrow(
    /^merged\.gguf: found a model that came as a folder, expected one that came as a GGUF file\. Write .* convert_hf_to_gguf\.py/,
  );
});
