import { describe, expect, test } from 'vitest';
import { Purpose, random } from '../../src/base/rng.ts';
import { type FindableToken, tokenFinder, type Span, overlaps } from '../../src/text/textFinder.ts';
import { type Merge, merger } from '../../src/text/bpeCodec.ts';
import { isolatingSplit } from '../../src/text/preTokenizer.ts';
import { readTags } from '../../src/text/tags.ts';
import { withoutStop } from '../../src/text/turnFormat.ts';

const { int } = random(53, Purpose.shuffle);
const drawn = (length: number, kinds: number) => Array.from({ length }, () => int(kinds));

/** Spans that are in order and apart, over so many letters. */
function spansIn(length: number): readonly Span[] {
  const ends = [...new Set(drawn(8, length + 1))].sort((a, b) => a - b);
  return ends.flatMap((from, i) =>
    i % 2 === 0 && ends[i + 1] !== undefined ? [[from, ends[i + 1] ?? 0] as const] : [],
  );
}

test('merges are those of the rule: the least rank, of equals the leftmost, until none may', () => {
  const ruled = (merges: readonly Merge[], bytes: readonly number[]) => {
    const ids = [...bytes];
    for (;;) {
      const ranks = ids.slice(1).map((right, at) => merges.findIndex((m) => m.left === ids[at] && m.right === right));
      const least = Math.min(...ranks.filter((rank) => rank >= 0));
      const merge = merges[least];
      if (!merge) return ids;
      ids.splice(ranks.indexOf(least), 2, merge.merged);
    }
  };
  for (let n = 0; n < 60; n++) {
    let kinds = 3;
    // a merge may be of merged ids, and the same pair may come twice: the first counts
    const merges = Array.from({ length: 1 + int(24) }, () => ({
      left: int(kinds),
      right: int(kinds),
      merged: kinds++,
    }));
    const merge = merger(merges);
    for (let again = 0; again < 6; again++) {
      const bytes = drawn(int(40), 3);
      const out: number[] = [];
      merge(bytes, out);
      expect(out).toEqual(ruled(merges, bytes));
    }
  }
});

describe('tokens in a text', () => {
  const tokens: readonly FindableToken[] = ['ab', 'abc', 'b', 'ca', 'aab', 'cabc'].map((content, id) => ({
    ...{ id, content, control: id % 2 === 0 },
  }));

  test('a part is touched where it shares a letter with a span, and not where they only meet', () => {
    for (let n = 0; n < 40; n++) {
      const spans = spansIn(20);
      const from = int(20);
      const to = from + 1 + int(20 - from);
      expect(overlaps(spans, from, to)).toBe(spans.some(([a, b]) => a < to && from < b));
    }
    expect([overlaps([[2, 4]], 4, 6), overlaps([[2, 4]], 0, 2), overlaps([[2, 4]], 3, 4), overlaps([], 0, 9)]).toEqual([
      ...[false, false, true, false],
    ]);
  });

  test('are found at the first place, the longest first, control tokens only outside the spans, and no letter is lost', () => {
    const find = tokenFinder(tokens);
    for (let n = 0; n < 200; n++) {
      const text = drawn(int(24), 4).map((kind) => 'abcx'[kind]).join(''); // prettier-ignore
      const outside = n % 2 === 0 ? [] : spansIn(text.length);
      const wanted: { text: string; from: number; id: number | null }[] = [];
      for (let at = 0; at < text.length;) {
        const here = tokens
          .filter(({ content }) => text.startsWith(content, at))
          .filter(({ content, control }) => !control || !outside.some(([a, b]) => a < at + content.length && at < b))
          .sort((a, b) => b.content.length - a.content.length)[0];
        const last = wanted.at(-1);
        if (here) wanted.push({ text: here.content, from: at, id: here.id });
        else if (last?.id === null) last.text += text[at] ?? '';
        else wanted.push({ text: text[at] ?? '', from: at, id: null });
        at += here?.content.length ?? 1;
      }
      expect(find(text, outside)).toEqual(wanted);
    }
  });
});

test('a split keeps what matches and what lies between, and passes over matches of nothing', () => {
  const cut = (pattern: string, text: string) => isolatingSplit(pattern)(text);
  expect(cut('b+', 'abbcb')).toEqual(['a', 'bb', 'c', 'b']);
  expect(cut('b*', 'abbc')).toEqual(['a', 'bb', 'c']);
  expect([cut('x', 'abc'), cut('x', ''), cut('abc', 'abc')]).toEqual([['abc'], [], ['abc']]);
  expect(cut('b*', '𝒳b𝒳')).toEqual(['𝒳', 'b', '𝒳']);
  expect(cut(String.raw`\p{N}`, 'a12')).toEqual(['a', '1', '2']);
});

describe('a turn', () => {
  test('has a stop id at its end that is none of its text', () => {
    expect([withoutStop([5, 9], [9]), withoutStop([9, 5], [9]), withoutStop([], [9])]).toEqual([[5], [9, 5], []]);
  });

  // prettier-ignore
  test.each<[string, think: boolean, string | null]>([
    ['<call> a b </call>', false, 'call:a b::-1'], ['<answer> a </answer>', false, 'answer:a::-1'], ['<call> </call>', false, 'call:::-1'],
    ['<think> x y </think> <call> a </call>', true, 'call:a:x y:3'], ['<think> </think> <answer> a </answer>', true, 'answer:a::1'],
    ['<think> x </think> <call> a </call>', false, null], ['<think> x <call> a </call>', true, null],
    ['<think> <obs> </think> <call> a </call>', true, null], ['<call> a </answer>', false, null], ['<answer> a </call>', false, null],
    ['<call> a', false, null], ['a </call>', false, null], ['<call> <obs> </call>', false, null], ['<call> a </call> b', false, null],
    ['<call>', false, null], ['', false, null], ['<think> x </think>', true, null], ['<think> x </think> </call>', true, null],
  ])('of the words %j, with a thought allowed: %j, says %j', (text, think, said) => {
    const turn = readTags(text === '' ? [] : text.split(' '), think);
    const told = turn && [turn.kind, turn.words.join(' '), turn.thought.join(' '), turn.thinkEnd].join(':');
    expect(told).toBe(said);
  });
});
