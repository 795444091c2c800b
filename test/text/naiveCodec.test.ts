import { describe, expect, test } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { type AddedToken, bpeCodec, type BpeVocabulary, type Merge, merger } from '../../src/text/bpeCodec.ts';
import { BYTE_CHARACTERS, byteText, tokenBytes } from '../../src/text/byteCharacters.ts';
import { type Codec, resolveStops, shownToken } from '../../src/text/codec.ts';
import { outsideText, typedTurn } from '../../src/text/outsideText.ts';
import type { Span } from '../../src/text/textFinder.ts';
import { wordCodec, type WordVocabulary } from '../../src/text/wordCodec.ts';

const { int } = random(77, Purpose.shuffle);
const pick = <T>(list: readonly T[]): T => list[int(list.length)] as T;
const textOf = (letters: readonly string[], length: number) => Array.from({ length }, () => pick(letters)).join('');

/** Merges as the paper says it: of the pairs that may be merged the one of least rank, the leftmost, until there is none. */
function mergedByRule(merges: readonly Merge[], bytes: readonly number[]): readonly number[] {
  const ids = [...bytes];
  for (;;) {
    const ranks = ids.slice(1).map((right, at) => merges.findIndex((m) => m.left === ids[at] && m.right === right));
    const found = ranks.filter((rank) => rank >= 0);
    if (found.length === 0) return ids;
    const least = Math.min(...found);
    ids.splice(ranks.indexOf(least), 2, merges[least]!.merged);
  }
}

describe('merging', () => {
  test('of ids that are large, of few kinds or made in several ways is as the rule says', () => {
    for (let n = 0; n < 80; n++) {
      const step = pick([1, 1, 7, 65_536, 40_503]);
      const kinds = 2 + int(3);
      const known = Array.from({ length: kinds }, (_, kind) => kind * step);
      const merges = Array.from({ length: 1 + int(60) }, (_, rank): Merge => {
        // a new id, or one that another merge makes, or one of a byte: merging it may free a pair of lower rank
        const merged = int(3) > 0 ? (kinds + rank) * step : pick(known);
        const made = { left: pick(known), right: pick(known), merged };
        known.push(merged);
        return made;
      });
      const merge = merger(merges);
      for (let again = 0; again < 5; again++) {
        const bytes = Array.from({ length: int(60) }, () => int(kinds) * step);
        const out = [-7];
        merge(bytes, out);
        expect(out).toEqual([-7, ...mergedByRule(merges, bytes)]);
      }
    }
  });

  test('has the merges of a table of 600 pairs and no others', () => {
    const merges = Array.from({ length: 600 }, (_, i) => ({ left: i % 30, right: (i * 7) % 90, merged: 1000 + i }));
    const merge = merger(merges);
    const first = new Map(merges.map(({ left, right, merged }) => [`${left} ${right}`, merged] as const).reverse());
    for (let left = 0; left < 32; left++) {
      for (let right = 0; right < 92; right++) {
        const out: number[] = [];
        merge([left, right], out);
        const merged = first.get(`${left} ${right}`);
        expect(out).toEqual(merged === undefined ? [left, right] : [merged]);
      }
    }
  });

  test('of long words of one kind is as the rule says', () => {
    const merges = [0, 1, 2, 3, 4].map((id) => ({ left: id, right: id, merged: id + 1 }));
    for (const length of [0, 1, 2, 3, 31, 32, 33, 64, 100]) {
      const out: number[] = [];
      merger(merges)(new Array<number>(length).fill(0), out);
      expect(out).toEqual(mergedByRule(merges, new Array<number>(length).fill(0)));
    }
  });
});

/** Token or letter at a time: the longest token that begins here and is not control text from outside, or one letter. */
function found(
  tokens: readonly (AddedToken & { readonly control: boolean })[],
  text: string,
  outside: readonly Span[],
) {
  const parts: { text: string; from: number; id: number | null }[] = [];
  for (let at = 0; at < text.length;) {
    const here = tokens
      .filter(({ content }) => text.startsWith(content, at))
      .filter(({ content, control }) => !control || !outside.some(([a, b]) => a < at + content.length && at < b))
      .sort((a, b) => b.content.length - a.content.length)[0];
    const last = parts.at(-1);
    if (here) parts.push({ text: here.content, from: at, id: here.id });
    else if (last?.id === null) last.text += text[at] ?? '';
    else parts.push({ text: text[at] ?? '', from: at, id: null });
    at += here?.content.length ?? 1;
  }
  return parts;
}

/** Encodes with nothing but the rule: no cache, no table, no heap. Spans must not touch what normalization changes. */
function encodedByRule(vocabulary: BpeVocabulary, whole: string, outside: readonly Span[]): readonly number[] {
  const { tokens, added, nfc, splits, stops, unknownId, ignoreMerges, specialAsText } = vocabulary;
  const control = (id: number) => added.some((token) => token.id === id && (token.special || stops.includes(id)));
  const tokenOf = (text: string) => [tokens.get(text)].find((id) => id !== undefined && !control(id));
  const merges = vocabulary.merges
    .map(([left, right]) => ({ left: tokens.get(left)!, right: tokens.get(right)!, merged: tokens.get(left + right)! }))
    .filter(({ merged }) => !control(merged));
  const kept = added.filter(({ special }) => !special || !specialAsText).map((token) => ({ ...token, control: control(token.id) })); // prettier-ignore
  const normal = (text: string) => (nfc ? text.normalize('NFC') : text);
  const pieceIds = (piece: string): readonly number[] => {
    const written = byteText(new TextEncoder().encode(piece));
    const token = ignoreMerges ? tokenOf(written) : undefined;
    if (token !== undefined) return [token];
    const bytes = Array.from(written, (character) => tokenOf(character) ?? unknownId).filter((id) => id !== null);
    return mergedByRule(merges, bytes);
  };
  const raw = found(kept.filter(({ normalized }) => !normalized), whole.replaceAll(/\p{Surrogate}/gu, '\ufffd'), outside); // prettier-ignore
  return raw.flatMap((part) => {
    if (part.id !== null) return [part.id];
    const spans = outside.map(([from, to]) => [from - part.from, to - part.from] as const);
    const inner = found(
      kept.filter(({ normalized }) => normalized).map((token) => ({ ...token, content: normal(token.content) })),
      normal(part.text),
      spans,
    );
    return inner.flatMap(
      ({ id, text }) =>
      id === null ? splits.reduce((pieces: readonly string[], split) => pieces.flatMap(split), [text]).flatMap(pieceIds) : [id], // prettier-ignore
    );
  });
}

const LETTERS = ['a', 'b', 'c', ' ', 'é', 'e\u0301', '🜚', '<', '>', '\ud800'];
function drawnVocabulary(): BpeVocabulary {
  const bytes = byteText(new TextEncoder().encode('abc <>é'));
  const known = Array.from(new Set(bytes));
  const merges: (readonly [string, string])[] = [];
  while (merges.length < 12) {
    const pair = [pick(known), pick(known)] as const;
    merges.push(pair);
    if (!known.includes(pair.join(''))) known.push(pair.join(''));
  }
  const tokens = new Map(known.map((token, id) => [token, id]));
  const contents = [...new Set([textOf(['a', 'b', '<'], 3), '<a>', '<a', 'e\u0301b', 'c c', 'é'])];
  const added = contents.map((content, i): AddedToken => ({
    ...{ content, special: int(2) === 0, normalized: int(2) === 0 },
    id: tokens.get(content) ?? known.length + i,
  }));
  const spaces = (text: string) => text.split(/(?<= )/);
  return {
    ...{ file: 'drawn', tokens, merges, added, nfc: int(2) === 0, splits: int(2) === 0 ? [] : [spaces] },
    ...{ ignoreMerges: int(2) === 0, unknownId: pick([null, 0]), specialAsText: int(3) === 0 },
    stops: pick([[], [known.length + 1], [3, known.length]]),
  };
}

describe('a byte-level vocabulary', () => {
  test('encodes as its rules say, text from outside and all', () => {
    let outsideTokens = 0;
    for (let n = 0; n < 60; n++) {
      const vocabulary = drawnVocabulary();
      const codec = bpeCodec(vocabulary);
      for (let again = 0; again < 8; again++) {
        const text = textOf(LETTERS, int(24)) + pick(['', vocabulary.added[int(3)]?.content ?? '']);
        const wanted = encodedByRule(vocabulary, text, []);
        expect(codec.encode(text)).toEqual(wanted);
        expect(codec.encode(text)).toEqual(wanted); // from the cache
        const plain = textOf(['a', 'b', 'c', ' ', '<', '>'], int(24));
        const ends = [...new Set([int(25), int(25), int(25), int(25)])].sort((a, b) => a - b);
        const spans = ends.flatMap((from, i) => (i % 2 === 0 && i + 1 < ends.length ? [[from, ends[i + 1]!] as const] : [])); // prettier-ignore
        expect(codec.encode(plain, spans)).toEqual(encodedByRule(vocabulary, plain, spans));
        outsideTokens += encodedByRule(vocabulary, plain, spans).length === wanted.length ? 0 : 1;
      }
    }
    expect(outsideTokens).toBeGreaterThan(50);
  });

  test('gives of ids their bytes, their pieces and their text, and by text their ids', () => {
    const added = [{ id: 9, content: '<☃>', special: true, normalized: false }];
    const tokens = new Map([['a', 0], ['Ã', 1], ['©', 2], ['Ġa', 3], ['ï', 5], ['»', 6], ['¿', 7], ['é', 8], ['☃', 10]]); // prettier-ignore
    const codec = bpeCodec({ file: 'v', tokens, merges: [], added, nfc: false, splits: [], ignoreMerges: false, unknownId: null, stops: [] }); // prettier-ignore
    expect([0, 1, 2, 3, 4, 8, 9, 10, 11].map((id) => [...codec.bytes(id)])).toEqual([
      ...[[97], [0xc3], [0xa9], [32, 97], [], [0xe9], [60, 0xe2, 0x98, 0x83, 62], [0xe2, 0x98, 0x83], []],
    ]);
    expect(codec.pieces([3, 1, 2, 9, 4, 1, 0, 1])).toEqual([' a', '', 'é', '<☃>', '', '', '\ufffda', '\ufffd']);
    expect(codec.pieces([])).toEqual([]);
    expect(codec.decode([3, 1, 2, 9, 5, 6, 7])).toBe(' aé<☃>\ufeff');
    expect(['a', ' a', '<☃>', 'Ġa', 'b'].map((text) => codec.id(text))).toEqual([0, 3, 9, null, null]);
    expect([codec.kind, codec.size, [...codec.special], codec.stops]).toEqual(['bytes', 11, [9], []]);
    const shown = [0, 3, 1, 9, 4, 10].map((id) => shownToken(codec, id));
    expect(shown).toEqual(['a', '␣a', '‹C3›', '<☃>', '‹4›', '☃']);
    const blanks = { ...codec, bytes: () => new TextEncoder().encode(' \n\t\u0007 ') };
    expect(shownToken(blanks, 0)).toBe('␣⏎⇥‹U+0007›␣');
    expect(shownToken({ ...codec, bytes: () => Uint8Array.of(0x0a, 0xff) }, 0)).toBe('‹0A FF›');
    expect(shownToken({ ...codec, bytes: () => Uint8Array.of(0xef, 0xbb, 0xbf, 97) }, 0)).toBe('‹U+FEFF›a');
  });

  test('writes bytes in 256 characters, as GPT-2 does', () => {
    expect(new Set(BYTE_CHARACTERS).size).toBe(256);
    const printable = Array.from('!~¡¬®ÿ').map((letter) => letter.charCodeAt(0));
    expect(printable.map((byte) => BYTE_CHARACTERS[byte])).toEqual(Array.from('!~¡¬®ÿ'));
    // the others in order from U+0100: 0 … 32, 127 … 160, 173
    const moved = [...Array.from({ length: 33 }, (_, i) => i), ...Array.from({ length: 34 }, (_, i) => 127 + i), 173];
    expect(moved.map((byte) => BYTE_CHARACTERS[byte]?.charCodeAt(0))).toEqual(moved.map((_, i) => 256 + i));
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    expect(tokenBytes(byteText(all))).toEqual(all);
    expect([...tokenBytes('a b')]).toEqual([97, 32, 98]); // a blank stands for no byte
  });

  test('ends turns where a file says so, or else at the usual special tokens, in their order', () => {
    const names = ['<|im_end|>', '<|endoftext|>', '<|eot_id|>', '<|eom_id|>', '</s>', '<end_of_turn>'];
    const id = (text: string) => [names.indexOf(text)].find((at) => at >= 0) ?? null;
    const all = { id, special: new Set([5, 4, 3, 2, 1, 0]) };
    expect(resolveStops(all, [])).toEqual([0, 1, 2, 3, 4, 5]);
    expect(resolveStops({ id, special: new Set([4, 1]) }, [])).toEqual([1, 4]);
    expect(resolveStops({ id: () => null, special: new Set([0]) }, [])).toEqual([]);
    expect(resolveStops(all, [7, 3, 7])).toEqual([7, 3]);
  });
});

/** A codec that says what it was asked to encode: its text, then the spans of text from outside. */
const asked: { text: string; spans: readonly Span[] }[] = [];
const spy: Codec = {
  ...wordCodec({ words: ['<end>', '</a>', 'x', 'é<'], unknown: null, special: ['<end>', 'é<'] }, [1]),
  encode: (text, spans = []) => {
    asked.push({ text, spans });
    return [];
  },
};

describe('text from outside', () => {
  const control = ['<end>', '</a>', 'é<'];
  const risks = (text: string) => {
    const risky = Array.from({ length: text.length }, () => false);
    for (const token of control) {
      for (let from = -token.length; from < text.length; from++) {
        // the token laid over the text from here: all that the text has of it is as in the token
        const shared = Array.from(token, (_, i) => i).filter((i) => from + i >= 0 && from + i < text.length);
        const inside = from < 0 && from + token.length > text.length; // both ends of the token would be of other text
        const fits = !inside && shared.length > 0 && shared.every((i) => text[from + i] === token[i]);
        if (fits) for (const i of shared) risky[from + i] = true;
      }
    }
    return risky;
  };

  test('has a mark before each letter that may be of a control token, and before all if normalization may move one', () => {
    const { mark } = outsideText(spy);
    for (let n = 0; n < 400; n++) {
      const text = textOf(['<', 'e', 'n', 'd', '>', '/', 'a', 'é', 'e\u0301', '🜚', 'end', '</'], int(12));
      const normalized = text.normalize('NFC');
      const all = normalized !== text && risks(normalized).includes(true);
      const risky = risks(text);
      let at = 0;
      const wanted = Array.from(text, (letter) => {
        const marked = all || risky[at] === true;
        at += letter.length;
        return marked ? `\ufdd0${letter}` : letter;
      });
      expect(mark(text)).toBe(wanted.join(''));
    }
    expect(mark('a\ufdd0b')).toBe('a\ufffdb');
    expect(mark('e\u0301x')).toBe('e\u0301x'); // nothing risky, however it is normalized
  });

  test('is encoded without its marks, as the longest spans of marked letters', () => {
    const { encode } = outsideText(spy);
    const spansOf = (marked: string) => (encode(marked.replaceAll('^', '\ufdd0')), asked.at(-1));
    expect(spansOf('abc')).toEqual({ text: 'abc', spans: [] });
    expect(spansOf('^a^bc^d')).toEqual({ text: 'abcd', spans: [[0, 2], [3, 4]] }); // prettier-ignore
    expect(spansOf('a^🜚^b^c x^y^z^^u')).toEqual({ text: 'a🜚bc xyzu', spans: [[1, 5], [7, 10]] }); // prettier-ignore
    expect(spansOf('a^b^')).toEqual({ text: 'ab', spans: [[1, 2]] }); // prettier-ignore
  });
});

test('a typed turn is put between tags if it is JSON alone, has a stop at its end if there is one, and a length', () => {
  const encoded = (typed: string, stops: readonly number[] = [1]) => {
    const ids = typedTurn({ ...spy, stops }, typed, 50);
    return [asked.at(-1)?.text, ids] as const;
  };
  expect(encoded('  {"a": 1}\n')).toEqual(['<tool_call>\n{"a": 1}\n</tool_call>', [1]]);
  for (const said of ['{"a": 1} x', 'x {"a": 1}', '{', '}', '<think>{}</think>', 'say <end>']) expect(encoded(said)).toEqual([said, [1]]); // prettier-ignore
  expect(encoded('x', [])).toEqual(['x', []]);
  expect(encoded('{\n}', [])).toEqual(['<tool_call>\n{\n}\n</tool_call>', []]);
  const long: Codec = { ...spy, encode: () => [4, 4, 4] };
  expect(typedTurn(long, 'x', 4)).toEqual([4, 4, 4, 1]);
  expect(() => typedTurn(long, 'x', 3)).toThrow(new RangeError('The turn has 4 tokens, and at most 3 fit. Say it in fewer words.')); // prettier-ignore
  const tags = { ...spy, special: new Set<number>(), stops: [0], decode: () => '<answer>' };
  typedTurn(tags, 'a <answer>b</answer> <answer', 50); // what isn't a whole tag is marked where it may become one
  expect(asked.at(-1)).toEqual({ text: 'a <answer>b</answer> <answer', spans: [[21, 28]] });
});

test('words are what stands between blanks, special words also inside others, and control words of outside are unknown', () => {
  const words = ['<end>', '</answer>', 'low', '?', 'é<', '</call>', 'wi'];
  for (const vocabulary of [
    { words, unknown: 3, special: ['<end>', 'é<'] },
    { words, unknown: null, special: ['é<', 'none'] },
  ] satisfies WordVocabulary[]) {
    const codec = wordCodec(vocabulary);
    const control = new Set([...codec.special, ...codec.stops]);
    expect(codec.stops).toEqual([5, 1]);
    for (let n = 0; n < 200; n++) {
      const text = Array.from({ length: int(8) }, () => pick([...words, ' ', '\u00a0', '\n', 'x', '🜚', 'low '])).join(
        '',
      );
      const ends = [...new Set([int(30), int(30), int(30), int(30)])].sort((a, b) => a - b);
      const spans = n % 3 === 0 ? [] : ends.flatMap((from, i) => (i % 2 === 0 && i + 1 < ends.length ? [[from, ends[i + 1]!] as const] : [])); // prettier-ignore
      const touched = (from: number, to: number) => spans.some(([a, b]) => a < to && from < b);
      const specials = [...codec.special].map((id) => ({ id, content: words[id]!, special: true, normalized: false, control: true })); // prettier-ignore
      const wanted = found(specials, text, spans).flatMap((part) => {
        if (part.id !== null) return [part.id];
        return Array.from(part.text.matchAll(/[^\s\u0085]+/g), ({ 0: word, index }) => {
          const id = words.indexOf(word);
          const from = part.from + index;
          if (id < 0 || (control.has(id) && touched(from, from + word.length))) return vocabulary.unknown;
          return id;
        }).filter((id) => id !== null);
      });
      expect(codec.encode(text, spans)).toEqual(wanted);
    }
  }
});

test('ids at the ends of a vocabulary of words are words, and those beyond are nothing', () => {
  const codec = wordCodec({ words: ['a', 'b'], unknown: null, special: [] });
  expect(codec.decode([-1, 0, 2, 1])).toBe('a b');
  expect(codec.pieces([2, 0, -1, 1])).toEqual(['', 'a', '', ' b']);
  expect(codec.pieces([-1, 1, 2, 0])).toEqual(['', 'b', '', ' a']);
  expect(codec.pieces([2, -1])).toEqual(['', '']);
  expect([codec.size, codec.stops, codec.kind]).toEqual([2, [], 'words']);
});
