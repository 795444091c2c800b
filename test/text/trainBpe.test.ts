import { describe, expect, it } from 'vitest';
import { addedTokenId, AGENT_STOPS, agentTokenizer, trainBpe, AGENT_TEMPLATE } from '../../src/text/agentTokenizer.ts';
import { codecFromTokenizerJson } from '../../src/text/tokenizerFile.ts';
import { openChatTokenizer, stopIds } from '../../src/text/chatTokenizer.ts';
import { awkwardStrings } from './strings.ts';

describe('byte-pair encoding', () => {
  it('merges the pair that is met most, by hand: low ×5, lowest ×2, newer ×6, wider ×3', () => {
    // Sennrich, Haddow and Birch 2016, without their end of word: e r is met 9 times, then l o 7 (before n e, w er, … at 6), then lo w 7
    const pieces = [
      ['low', 5],
      ['lowest', 2],
      ['newer', 6],
      ['wider', 3],
    ].flatMap(([word, count]) => Array.from({ length: Number(count) }, () => String(word)));
    const { tokens, merges } = trainBpe(pieces, 256 + 3);
    expect(merges).toEqual([
      ['e', 'r'],
      ['l', 'o'],
      ['lo', 'w'],
    ]);
    expect(tokens.slice(256)).toEqual(['er', 'lo', 'low']);
  });

  it('takes of pairs met equally often the first in the order of letters, whatever the order of the texts', () => {
    expect(trainBpe(['ab', 'ab', 'cd', 'cd'], 257).merges).toEqual([['a', 'b']]);
    expect(trainBpe(['cd', 'cd', 'ab', 'ab'], 257).merges).toEqual([['a', 'b']]);
  });

  it('stops where no pair is met twice, and merges overlapping pairs from the left', () => {
    expect(trainBpe(['abc', 'd'], 300).merges).toEqual([]);
    expect(trainBpe(['aaa', 'aaa'], 300).merges).toEqual([
      ['a', 'a'],
      ['aa', 'a'],
    ]);
  });
});

describe('the tokenizer of the text model', () => {
  const text = 'What is 12 + 5?<|im_end|>\n<tool_call>\n{"name": "calculate", "arguments": {"a": 12}}\n</tool_call>';
  const file = agentTokenizer(
    Array.from({ length: 4 }, () => text),
    400,
  );
  const codec = codecFromTokenizerJson(new TextEncoder().encode(file), { stops: AGENT_STOPS });

  it('reads back any text, and cuts what it was trained on into few tokens, digits one by one', () => {
    for (const string of [...awkwardStrings(50, 3), text]) {
      // half a pair of UTF-16 is no letter: every tokenizer is given U+FFFD for it
      expect(codec.decode(codec.encode(string))).toBe(string.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
    }
    const pieces = codec.pieces(codec.encode(text));
    expect(pieces.slice(0, 8)).toEqual(['What', ' is', ' ', '1', '2', ' +', ' ', '5']);
    expect(pieces).toContain('calculate');
  });

  it('has its added tokens first, and ends a turn at two of them', () => {
    expect(codec.id('<|im_end|>')).toBe(addedTokenId('<|im_end|>'));
    expect(codec.stops).toEqual([2, 0]);
    expect([...codec.special]).toEqual([0, 1, 2]);
    expect(codec.encode('<tool_call>')).toEqual([3]);
  });

  it('is never more tokens than were asked for', () => {
    expect(codec.size).toBeLessThanOrEqual(400);
    expect(codec.size).toBeGreaterThan(261);
  });
});

it('the text model’s template writes a tool in one line and a role for what it says, and refuses roles it does not know', () => {
  const { template } = openChatTokenizer({
    tokenizer: agentTokenizer([], 0),
    template: AGENT_TEMPLATE,
    stops: AGENT_STOPS,
  });
  expect([template.listsTools, template.hasToolRole]).toEqual([true, true]);
  const wrote = template.write(
    [
      { role: 'user', content: 'Hi.' },
      { role: 'tool', content: '7' },
    ],
    null,
    true,
  );
  expect(wrote).toBe('<|im_start|>user\nHi.<|im_end|>\n<|im_start|>tool\n7<|im_end|>\n<|im_start|>assistant\n');
  expect(() => template.write([{ role: 'critic', content: '' }], null, true)).toThrow(/critic/);
});

it('stop ids are read from generation_config.json, one or several', () => {
  expect(stopIds('{"eos_token_id": [2, 0]}')).toEqual([2, 0]);
  expect(stopIds('{"eos_token_id": 2}')).toEqual([2]);
  expect(stopIds('{}')).toEqual([]);
});
