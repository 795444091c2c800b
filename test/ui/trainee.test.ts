import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { sizesInWords, traineeInWords } from '../../src/page/models/traineeText.ts';

const NOTHING = { parameters: null, vocabulary: null, card: null, checkpointName: '' };
const words = (knobs: Readonly<Record<string, unknown>>, known: Partial<Parameters<typeof traineeInWords>[1]> = {}) =>
  traineeInWords(parseConfig(knobs), { ...NOTHING, ...known });

describe('what trains here, in words', () => {
  it('is the size of the model, its layers, and that every weight learns', () => {
    expect(words({}, { parameters: 28_128, vocabulary: 41 })).toEqual({
      model:
        'a Llama transformer, 28.1 k parameters, 2 layers, width 32, 4 heads, MLP 96, output and embedding share weights',
      learns: 'All weights are trained. It knows 41 words.',
    });
    const other = { layers: 1, heads: 8, kvHeads: 2, tieEmbeddings: 'off', attentionBias: 'on', critic: 'separate' };
    expect(words(other)).toEqual({
      model:
        'a Llama transformer, 1 layer, width 32, 8 heads, 2 of keys and values, MLP 96, an output layer of its own, biases on q, k and v',
      learns: 'All weights are trained. A separate critic of the same size is trained too.',
    });
    expect(sizesInWords(parseConfig(other))).toBe('1 layer, width 32');
  });

  it('is, beside a checkpoint, its adapters alone, and at which layers they are', () => {
    const knobs = { ...PRESETS['smollm2-calculator'].set, adapterTargets: 'attention', adapterRank: 4 };
    const card = { title: 'SmolLM2.gguf', parameters: 134_515_008, layers: 30, width: 576, heads: 9 };
    expect(words(knobs, { card, parameters: 460_800 })).toEqual({
      model: 'SmolLM2.gguf, 135 M parameters, 30 layers, width 576, 9 heads',
      learns:
        'It trains adapters (LoRA) of rank 4 at the four linear layers of attention of each block, 461 k numbers. The model’s own weights don’t change.',
    });
    expect(words(knobs).model).toBe('a checkpoint that you open under Models');
    expect(words(knobs, { checkpointName: 'SmolLM2.gguf' }).model).toBe('SmolLM2.gguf');
    expect(sizesInWords(parseConfig(knobs))).toBe('a checkpoint, adapters of rank 4');
  });
});
