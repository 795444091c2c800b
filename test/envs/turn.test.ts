import { describe, expect, it } from 'vitest';
import { parseTurn } from '../../src/envs/turnCodec.ts';
import { buildVocabulary } from '../../src/envs/vocab.ts';

const WORDS = buildVocabulary(['up', 'down']);
const parsed = (text: string, think = true) => parseTurn(text === '' ? [] : WORDS.ids(text.split(' ')), WORDS, think);

describe('a turn is read as', () => {
  it.each([
    ['<call> up down </call>', 'call', ['up', 'down'], [], -1],
    ['<answer> up </answer>', 'answer', ['up'], [], -1],
    ['<call> </call>', 'call', [], [], -1],
    ['<think> down up </think> <call> up </call>', 'call', ['up'], ['down', 'up'], 3],
    ['<think> </think> <answer> up </answer>', 'answer', ['up'], [], 1],
  ] as const)('%s: %s', (text, kind, words, thought, thinkEnd) => {
    expect(parsed(text)).toEqual({ kind, words, thought, thinkEnd });
  });

  it.each([
    '',
    'up',
    '<call>',
    '</call>',
    '<call> up',
    'up </call>',
    'down up </call>',
    '<call> up </answer>',
    '<answer> up </call>',
    '<call> up </call> down',
    'down <call> up </call>',
    '<call> up <obs> </call>',
    '<answer> <obs> </answer>',
    '<call> <call> up </call>',
    '<think> up <call> up </call>',
    '<think> up </think>',
    '<think> up </think> <call>',
    '<think> up </think> up',
    '<think> <obs> </think> <call> up </call>',
    '<think> up </think> <call> up </answer>',
  ])('malformed: “%s”', (text) => {
    expect(parsed(text)).toBeNull();
  });

  it('malformed where a span opens it and there is no thinking', () => {
    expect(parsed('<think> up </think> <call> up </call>', false)).toBeNull();
    expect(parsed('<call> up </call>', false)).not.toBeNull();
  });
});
