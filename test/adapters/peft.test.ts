import { expect, test } from 'vitest';
import { PEFT_WEIGHTS, peftFiles, readPeft } from '../../src/checkpoints/peft.ts';
import { PEFT_CONFIG } from '../../src/checkpoints/peftConfig.ts';
import type { Files } from '../../src/checkpoints/checkpointFolder.ts';
import { ProblemError } from '../../src/base/problem.ts';
import { decodeSafetensors, encodeSafetensors, type SafeTensor } from '../../src/formats/safetensors.ts';
import type { ModelConfig } from '../../src/model/architecture.ts';
import { opened } from '../weights/fixtures.ts';
import { ADAPTERS, drawnAdapters } from './made.ts';

const { model } = await opened('qwen2');
const weights = drawnAdapters(model, ADAPTERS, 9);
const files = peftFiles(model, ADAPTERS, weights, 'org/model');

/** The message of what refuses a folder. */
function refusal(changed: Files, of: ModelConfig = model): string {
  try {
    readPeft(of, changed);
  } catch (error) {
    if (error instanceof ProblemError) return error.message;
    throw error;
  }
  return '';
}
const config = (change: Readonly<Record<string, unknown>>): Files => {
  const read = JSON.parse(Buffer.from(files.get(PEFT_CONFIG)!).toString()) as Record<string, unknown>;
  return new Map([...files, [PEFT_CONFIG, new Uint8Array(Buffer.from(JSON.stringify({ ...read, ...change })))]]);
};
const tensors = (change: (tensors: Map<string, SafeTensor>) => void): Files => {
  const all = new Map(decodeSafetensors(files.get(PEFT_WEIGHTS)!).tensors);
  change(all);
  return new Map([...files, [PEFT_WEIGHTS, new Uint8Array(encodeSafetensors(all))]]);
};

test('adapters that were written are read back to the bit, with the value head and the name of their model', () => {
  const read = readPeft(model, files);
  expect(read).toEqual({ adapters: ADAPTERS, base: 'org/model', weights });
  const valued = { ...model, value_head: true };
  const more = drawnAdapters(valued, ADAPTERS, 11);
  const written = peftFiles(valued, ADAPTERS, more, null);
  expect(readPeft(valued, written)).toEqual({ adapters: ADAPTERS, base: null, weights: more });
  const headless = readPeft(valued, files).weights; // PEFT's own folders have none
  expect(headless.get('value_head.weight')).toEqual(new Float32Array(model.hidden_size));
  expect(files.has('value_head.safetensors')).toBe(false);
});

test('tensors have the names that PEFT gives them, and the shapes of A and B', () => {
  const { tensors: found, metadata } = decodeSafetensors(files.get(PEFT_WEIGHTS)!);
  expect(found.size).toBe(2 * 7 * model.num_hidden_layers);
  expect(found.get('base_model.model.model.layers.1.mlp.down_proj.lora_A.weight')?.shape).toEqual([3, 24]);
  expect(found.get('base_model.model.model.layers.1.mlp.down_proj.lora_B.weight')?.shape).toEqual([16, 3]);
  expect(metadata).toEqual({ format: 'pt' });
});

test('all-linear is all seven, and rank-stabilized scaling becomes the alpha that scales as much', () => {
  const read = readPeft(model, config({ target_modules: 'all-linear', use_rslora: true }));
  expect(read.adapters.targets).toEqual(ADAPTERS.targets);
  expect(read.adapters.alpha / 3).toBeCloseTo(8 / Math.sqrt(3), 12);
  expect(read.weights).toEqual(weights);
});

test('what only concerns how an adapter is trained does not matter, nor a key that asks for nothing', () => {
  const asked = { lora_dropout: 0.1, inference_mode: false, a_later_key: null, init_lora_weights: 'gaussian' };
  expect(readPeft(model, config({ ...asked, peft_version: '9.9' })).weights).toEqual(weights);
});

// prettier-ignore
test.each<[Readonly<Record<string, unknown>>, RegExp]>([
  [{ peft_type: 'IA3' }, /peft_type: found IA3, expected LORA/],
  [{ task_type: 'SEQ_CLS' }, /task_type: found SEQ_CLS, expected CAUSAL_LM/],
  [{ use_dora: true }, /use_dora: found true, expected false: magnitudes \(DoRA\)/],
  [{ bias: 'lora_only' }, /bias: found lora_only, expected none/],
  [{ lora_bias: true }, /lora_bias: found true, expected false/],
  [{ modules_to_save: ['lm_head'] }, /modules_to_save: found a list, expected null: only the adapters/],
  [{ rank_pattern: { q_proj: 4 } }, /rank_pattern: found an object, expected \{\}: one rank/],
  [{ alpha_pattern: { q_proj: 4 } }, /alpha_pattern: found an object, expected \{\}: one alpha/],
  [{ layers_to_transform: [0] }, /layers_to_transform: found a list, expected null/],
  [{ fan_in_fan_out: true }, /fan_in_fan_out: found true, expected false/],
  [{ init_lora_weights: 'pissa' }, /init_lora_weights: found pissa, expected true: other initializations/],
  [{ a_later_key: 'on' }, /a_later_key: found on, expected nothing of this name/],
  [{ target_modules: ['q_proj', 'embed_tokens'] }, /target_modules: found embed_tokens, expected some of q_proj, k_proj/],
  [{ target_modules: '.*_proj' }, /target_modules: found \.\*_proj, expected some of/],
  [{ target_modules: [] }, /target_modules: found a list, expected some of/],
  [{ r: 65 }, /r: found 65, expected a whole number from 1 to 64/],
  [{ lora_alpha: 0 }, /lora_alpha: found 0, expected a number above 0/],
])('an adapter with %j is refused by that name', (change, message) => {
  expect(refusal(config(change))).toMatch(message);
  expect(refusal(config(change))).toMatch(/^adapter_config\.json: .* with PEFT\.$/s);
});

test('tensors that are missing, more, of another shape or not finite are named, all of them', () => {
  const at = 'base_model.model.model.layers.0.self_attn.';
  const message = refusal(tensors((all) => {
    all.delete(`${at}q_proj.lora_A.weight`);
    all.set(`${at}k_proj.lora_B.weight`, { shape: [3, 8], values: new Float32Array(24) });
    all.get(`${at}v_proj.lora_A.weight`)!.values[5] = NaN;
    all.set('base_model.model.lm_head.lora_A.weight', { shape: [3, 16], values: new Float32Array(48) });
  })); // prettier-ignore
  expect(message.split('\n')).toHaveLength(5); // what to do is the last
  expect(message).toContain(
    `adapter_model.safetensors: ${at}q_proj.lora_A.weight: found no such tensor, expected [3,16].`,
  );
  expect(message).toContain(`${at}k_proj.lora_B.weight: found [3,8], expected [8,3].`);
  expect(message).toContain(`${at}v_proj.lora_A.weight: found a number that is not finite, expected finite numbers.`);
  expect(message).toMatch(
    /lm_head\.lora_A\.weight: found an unknown tensor, expected adapters of q_proj, .* in 2 layers, 28 tensors\./,
  );
});

test('an adapter of another model, and a folder that is none, are refused by name', () => {
  expect(refusal(files, { ...model, hidden_size: 32 })).toMatch(
    /q_proj\.lora_A\.weight: found \[3,16\], expected \[3,32\]/,
  );
  expect(refusal(files, { ...model, num_hidden_layers: 3 })).toMatch(
    /layers\.2\.self_attn\.q_proj\.lora_A\.weight: found no such tensor/,
  );
  expect(refusal(new Map())).toMatch(/^adapter_config\.json: found no file, expected a file of this name\./);
  const pickled = new Map([
    [PEFT_CONFIG, files.get(PEFT_CONFIG)!],
    ['adapter_model.bin', new Uint8Array()],
  ]);
  expect(refusal(pickled)).toMatch(
    /^adapter_model\.safetensors: found adapter_config\.json, adapter_model\.bin, expected a file/,
  );
});
