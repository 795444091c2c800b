import { describe, expect, it } from 'vitest';
import { initialWeights, type ModelConfig } from '../../src/model/architecture.ts';
import { weightsFileOf, decodeSafetensors, encodeSafetensors, readWeightsFile } from '../../src/model/weightsFile.ts';
import { ODD } from './policies.ts';

const withHead: ModelConfig = { ...ODD, value_head: true };

/** A file with the given header and a few bytes of numbers. */
function fileOf(header: string, numbers = 8): ArrayBuffer {
  const json = new TextEncoder().encode(header);
  const file = new ArrayBuffer(8 + json.length + numbers);
  new DataView(file).setBigUint64(0, BigInt(json.length), true);
  new Uint8Array(file).set(json, 8);
  return file;
}

describe('safetensors', () => {
  it('come back as they went: numbers, shapes, types, metadata', () => {
    const tensors = new Map([
      ['a', { shape: [2, 3], values: Float32Array.of(1, -2, 0.5, 1e-30, Infinity, 0) }],
      ['b', { shape: [2], values: Int32Array.of(7, -8) }],
      ['none', { shape: [0, 4], values: new Float32Array(0) }],
      ['one', { shape: [], values: Float32Array.of(3) }],
    ]);
    const got = decodeSafetensors(encodeSafetensors(tensors, { format: 'pt', ünïcode: '✓' }));
    expect([...got.tensors]).toEqual([...tensors]);
    expect(got.metadata).toEqual({ format: 'pt', ünïcode: '✓' });
  });

  it('start their numbers at a multiple of eight bytes, as the format asks', () => {
    const file = encodeSafetensors(new Map([['abc', { shape: [1], values: Float32Array.of(1) }]]), { x: 'y' });
    expect(Number(new DataView(file).getBigUint64(0, true)) % 8).toBe(0);
  });

  const t = (dtype: string, shape: string, offsets: string) =>
    `{"t":{"dtype":"${dtype}","shape":${shape},"data_offsets":${offsets}}}`;
  it.each([
    ['an empty file', new ArrayBuffer(3), 'found 3 bytes, expected at least 8'],
    ['a header longer than the file', fileOf('{}').slice(0, 9), 'a header of 2 bytes in a file of 9'],
    ['a header that is not JSON', fileOf('{{{{'), 'invalid JSON'],
    ['a header that is a list', fileOf('[]'), 'not an object'],
    ['double precision', fileOf(t('F64', '[1]', '[0,8]')), 't of type F64, expected F32, F16, BF16'],
    ['a size that disagrees', fileOf(t('F32', '[3]', '[0,8]')), 't [3] at bytes 0 to 8'],
    ['numbers that were cut off', fileOf(t('F32', '[4]', '[0,16]')), 'cut off'],
    ['a shape that is none', fileOf(t('F32', '"x"', '[0,8]')), 't without a shape'],
    ['a shape below zero', fileOf(t('F32', '[-2]', '[0,8]')), 't without a shape'],
  ])('are refused: %s', (_, file, message) => {
    expect(() => decodeSafetensors(file)).toThrow(message);
    expect(() => decodeSafetensors(file)).toThrow('Choose a file');
  });
});

describe('a checkpoint', () => {
  const weights = initialWeights(withHead, 3);

  it('gives back the weights it was made of', () => {
    expect(readWeightsFile(withHead, weightsFileOf(withHead, weights))).toEqual(weights);
  });

  it('without a value head starts one at zero; with a spare one loads without it', () => {
    const plain = initialWeights(ODD, 3);
    const got = readWeightsFile(withHead, weightsFileOf(ODD, plain));
    expect([...got.get('value_head.weight')!].every((x) => x === 0)).toBe(true);
    expect(readWeightsFile(ODD, weightsFileOf(withHead, weights)).has('value_head.weight')).toBe(false);
    const tied = { ...ODD, tie_word_embeddings: true };
    expect(readWeightsFile(tied, weightsFileOf(ODD, plain)).has('lm_head.weight')).toBe(false);
  });

  it('of another shape is refused, naming both sides', () => {
    const file = weightsFileOf(withHead, weights);
    expect(() => readWeightsFile({ ...withHead, intermediate_size: 20 }, file)).toThrow(
      'model.layers.0.mlp.gate_proj.weight is [19,12], this model wants [20,12]; model.layers.0.mlp.up_proj.weight is [19,12]',
    );
    expect(() => readWeightsFile({ ...withHead, num_hidden_layers: 3 }, file)).toThrow(
      'model.layers.2.self_attn.q_proj.weight is missing, this model wants [12,12]',
    );
    expect(() => readWeightsFile({ ...withHead, num_hidden_layers: 1 }, file)).toThrow('this model has no such tensor');
  });
});
