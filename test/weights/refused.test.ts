import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  openFolderCheckpoint,
  openGgufCheckpoint,
  type OpenedCheckpoint,
} from '../../src/checkpoints/openCheckpoint.ts';
import { bytesInMemory } from '../../src/formats/byteSource.ts';
import { ProblemError } from '../../src/base/problem.ts';
import { readFloat32 } from '../../src/model/weightSource.ts';
import { damage, damaged } from '../damage.ts';
import { fixture, folderOf } from './fixtures.ts';

/** Reads all of a checkpoint; the message of what refuses it, '' where nothing does. Anything but a ProblemError is thrown. */
async function refusal(open: () => Promise<OpenedCheckpoint>): Promise<string> {
  try {
    const { weights } = await open();
    for (const tensor of weights.values()) await readFloat32(tensor);
    return '';
  } catch (error) {
    if (error instanceof ProblemError) return error.message;
    throw error;
  }
}
const gguf = (bytes: Uint8Array) => refusal(() => openGgufCheckpoint(bytesInMemory('small.gguf', bytes)));
const folder = (name: string, replaced: Readonly<Record<string, Uint8Array>>) =>
  refusal(() => openFolderCheckpoint(folderOf(name, replaced)));

/** The first place of a text in bytes. */
const placeOf = (bytes: Uint8Array, text: string) => Buffer.from(bytes).indexOf(text);
const changed = (name: string, change: (bytes: Uint8Array, view: DataView) => void) => {
  const bytes = fixture(name);
  change(bytes, new DataView(bytes.buffer, bytes.byteOffset));
  return bytes;
};

it('each tensor of a GGUF file that cannot be taken is named, with what it has and what is wanted', async () => {
  expect(await gguf(fixture('small.gguf'))).toBe('');
  const info = (name: string, at: number, value: number) =>
    changed('small.gguf', (bytes, view) => view.setUint32(placeOf(bytes, name) + name.length + at, value, true));
  // after a name: how many dimensions (4 bytes), each of them (8), the type (4), the offset (8)
  expect(await gguf(info('blk.0.ffn_up.weight', 20, 12))).toMatch(
    /blk\.0\.ffn_up\.weight: found type Q4_K, expected F32, F16/,
  );
  expect(await gguf(info('blk.0.ffn_up.weight', 4, 31))).toMatch(
    /ffn_up\.weight: found rows of 31 weights, expected a multiple of 32/,
  );
  expect(await gguf(info('blk.0.ffn_up.weight', 12, 16))).toMatch(
    /ffn_up\.weight: found \[16,32\], expected \[32,32\]/,
  );
  expect(await gguf(info('blk.0.ffn_up.weight', 24, 32))).toMatch(
    /found its first byte at \d+, expected it after \S+, which ends at/,
  );
  expect(await gguf(fixture('small.gguf').subarray(0, -40))).toMatch(/rope_freqs|output|weight: found byte/);
  const renamed = changed('small.gguf', (bytes) => bytes.set(Buffer.from('xx'), placeOf(bytes, 'blk.0.ffn_up.weight')));
  expect(await gguf(renamed)).toMatch(
    /blk\.0\.ffn_up\.weight: found no such tensor.*\n.*xxk\.0\.ffn_up\.weight: found an unknown tensor/,
  );
  const other = changed('small.gguf', (bytes) => bytes.set(Buffer.from('mamba'), placeOf(bytes, 'llama')));
  expect(await gguf(other)).toMatch(/general\.architecture: found mamba, expected llama, qwen2, qwen3/);
});

const config = (name: string, change: Readonly<Record<string, unknown>>) => {
  const read = JSON.parse(Buffer.from(fixture(`${name}/config.json`)).toString()) as Record<string, unknown>;
  return { 'config.json': new Uint8Array(Buffer.from(JSON.stringify({ ...read, ...change }))) };
};

it.each([
  [
    'llama3',
    { rope_parameters: { rope_type: 'yarn', rope_theta: 1e4 } },
    /rope_parameters\.rope_type: found yarn, expected default, linear or llama3/,
  ],
  [
    'llama3',
    { rope_parameters: { rope_type: 'llama3', rope_theta: 1e4 } },
    /rope_parameters\.factor: found nothing, expected a number above 0/,
  ],
  ['llama3', { head_dim: 6 }, /q_proj\.weight: found \[16,16\], expected \[24,16\]/],
  ['qwen2', { layer_types: ['sliding_attention'] }, /layer_types: found sliding_attention/],
  ['qwen3', { attention_bias: true }, /attention_bias: found true/],
  [
    'qwen3',
    { architectures: ['Gemma3ForCausalLM'] },
    /found Gemma3ForCausalLM, expected LlamaForCausalLM or Qwen2ForCausalLM or Qwen3ForCausalLM/,
  ],
  ['qwen3', { num_key_value_heads: 3 }, /num_key_value_heads: found 3, expected a divisor of 4/],
] as const)('%s with %j in its config is refused', async (name, change, message) => {
  expect(await folder(name, config(name, change))).toMatch(message);
});

it('a sharded model is read by its index, and refused where the index and its files do not agree', async () => {
  const bytes = fixture('llama3/model.safetensors');
  const headerLength = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const names = Object.keys(JSON.parse(Buffer.from(bytes.subarray(8, 8 + headerLength)).toString()) as object);
  const index = (map: Record<string, string>) => Buffer.from(JSON.stringify({ weight_map: map }));
  const map = Object.fromEntries(
    names.filter((name) => name !== '__metadata__').map((name) => [name, 'a.safetensors']),
  );
  const open = (weightMap: Record<string, string>) =>
    refusal(() =>
      openFolderCheckpoint((name) => {
        if (name === 'model.safetensors') return null;
        if (name === 'a.safetensors') return bytesInMemory(name, bytes);
        if (name === 'model.safetensors.index.json') return bytesInMemory(name, index(weightMap));
        return folderOf('llama3')(name);
      }),
    );
  expect(await open(map)).toBe('');
  expect(await open({ ...map, 'model.norm.weight': 'b.safetensors' })).toMatch(
    /b\.safetensors, no such file|model\.norm\.weight/,
  );
  expect(await open({ ...map, more: 'a.safetensors' })).toMatch(
    /more: found no such tensor in the file that the index names/,
  );
});

it.each([
  ['small.gguf', gguf],
  ['qwen2/model.safetensors', (bytes: Uint8Array) => folder('qwen2', { 'model.safetensors': bytes })],
] as const)(
  '300 copies of %s with bytes changed or cut off are read, or refused by name; none throws anything else',
  async (name, open) => {
    const whole = fixture(name);
    const inHeader = damage(whole, ['put'], 1800);
    let refused = 0;
    const judge = fc.asyncProperty(fc.oneof(inHeader, damage(whole, ['put', 'put', 'put', 'cut'])), async (what) => {
      const message = await open(damaged(whole, what));
      if (message === '') return;
      refused++;
      expect(message).toMatch(/^(small\.gguf|model\.safetensors|config\.json)/);
      expect(message).toMatch(/found .*, expected /s);
    });
    await fc.assert(judge, { seed: 5, numRuns: 300 });
    expect(refused).toBeGreaterThan(100);
  },
);
