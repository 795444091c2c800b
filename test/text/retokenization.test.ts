import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { bpeCodec } from '../../src/text/bpeCodec.ts';
import { BYTE_CHARACTERS } from '../../src/text/byteCharacters.ts';
import { retokenizer } from '../../src/text/retokenization.ts';
import { codecFromTokenizerJson } from '../../src/text/tokenizerFile.ts';

/** Bytes have their values as ids, `he` is 256, `ll` 257, `llo` 258, `hello` 259, `…` (three bytes) 260; 300 ends a turn. */
const [first = '', second = '', third = ''] = [...new TextEncoder().encode('…')].map((byte) => BYTE_CHARACTERS[byte]!);
const MERGES = [
  ['h', 'e'],
  ['l', 'l'],
  ['ll', 'o'],
  ['he', 'llo'],
  [first, second],
  [first + second, third],
] as const;
const CODEC = bpeCodec({
  ...{
    file: 'made by hand',
    merges: MERGES,
    nfc: false,
    splits: [],
    ignoreMerges: false,
    unknownId: null,
    stops: [300],
  },
  tokens: new Map([
    ...BYTE_CHARACTERS.map((character, byte) => [character, byte] as const),
    ...['he', 'll', 'llo', 'hello', first + second + third, first + second].map(
      (token, i) => [token, 256 + i] as const,
    ),
  ]),
  added: [{ id: 300, content: '<end>', special: true, normalized: false }],
});
const [h, e, l, o, x] = [104, 101, 108, 111, 120] as const; // letters
const pieces = (text: string) => [...new TextEncoder().encode(text)];

test.each([
  [
    'a turn that encoding would cut alike stays',
    [259, x, 300],
    [
      [[259], [259]],
      [[x], [x]],
      [[300], [300]],
    ],
  ],
  [
    'two drawn tokens are one of the same text',
    [256, 258, 300],
    [
      [[256, 258], [259]],
      [[300], [300]],
    ],
  ],
  [
    'only what drifted is changed',
    [x, h, e, x, l, l, x],
    [
      [[x], [x]],
      [[h, e], [256]],
      [[x], [x]],
      [[l, l], [257]],
      [[x], [x]],
    ],
  ],
  ['a token is cut where the others meet', [h, e, 257, o], [[[h, e, 257, o], [259]]]],
  [
    'a character of three drawn bytes is one token',
    [x, ...pieces('…'), x],
    [
      [[x], [x]],
      [pieces('…'), [260]],
      [[x], [x]],
    ],
  ],
  [
    'a part of a character drifts to what stands for it, with the token that ends it',
    [226, x, e],
    [
      [
        [226, x],
        [...pieces('\ufffd'), x],
      ],
      [[e], [e]],
    ],
  ],
  [
    'nothing is merged across the end of a turn',
    [h, 300, e],
    [
      [[h], [h]],
      [[300], [300]],
      [[e], [e]],
    ],
  ],
  ['text that spells the end of a turn does not become it', pieces('<end>'), pieces('<end>').map((id) => [[id], [id]])],
  ['an empty turn stays empty', [], []],
] as const)('%s', (_, turn, spans) => {
  expect(retokenizer(CODEC)(turn).map(({ drawn, encoded }) => [[...drawn], [...encoded]])).toEqual(spans);
});

test('of the shipped tokenizer, spans hold what was drawn in order, keep its text, and change nothing a second time', () => {
  const codec = codecFromTokenizerJson(readFileSync('public/models/agent/tokenizer.json'), { stops: [2, 0] });
  const { int } = random(5, Purpose.shuffle);
  const retokenize = retokenizer(codec);
  let changed = 0;
  for (let n = 0; n < 300; n++) {
    const turn = Array.from({ length: int(12) }, () => int(codec.size));
    const spans = retokenize(turn);
    expect(spans.flatMap(({ drawn }) => drawn)).toEqual(turn);
    const encoded = spans.flatMap((span) => span.encoded);
    expect(codec.decode(encoded)).toBe(codec.decode(turn));
    expect(spans.every((span) => span.encoded.length > 0)).toBe(true);
    expect(retokenize(encoded).flatMap((span) => span.encoded)).toEqual(encoded);
    if (encoded.join(' ') !== turn.join(' ')) changed++;
  }
  expect(changed).toBeGreaterThan(100); // ids drawn evenly are seldom what their text is encoded to
});
