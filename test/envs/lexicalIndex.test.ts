import MiniSearch from 'minisearch';
import { describe, expect, it } from 'vitest';
import { openDocuments } from '../../src/envs/documentCollection.ts';
import { BM25, lexicalIndex, type Passage, TITLE_BOOST, wordsOf } from '../../src/envs/lexicalIndex.ts';

const QUERIES = [
  'Lyon',
  'France capital',
  'largest city river',
  'mountain Andes',
  'Danube',
  'United States writer',
  'the',
];
const { corpus } = openDocuments();

/**
 * BM25+ (Lv and Zhai 2011) in plain loops: Σ over the query's different words and the two fields of
 * boost · idf · (d + tf (k + 1) / (tf + k (1 − b + b · length / mean length))), times the number of words matched, as MiniSearch
 * prefers passages with more of them; idf = ln(1 + (N − n + ½) / (n + ½)) with n counted by field, length in words that differ, in case too.
 */
function oracle(passages: readonly Passage[], query: string): readonly { title: string; score: number }[] {
  const { k, b, d } = BM25;
  const fieldOf = (boost: number, originals: readonly string[]) => {
    const lengths = originals.map((text) => new Set(wordsOf(text)).size);
    const mean = lengths.reduce((sum, n) => sum + n, 0) / lengths.length;
    return { boost, texts: originals.map((text) => wordsOf(text.toLowerCase())), lengths, mean };
  };
  const titles = passages.map(({ title }) => title);
  const fields = [
    fieldOf(TITLE_BOOST, titles),
    fieldOf(
      1,
      passages.map(({ text }) => text),
    ),
  ];
  const scores = passages.map(() => 0);
  const matched = passages.map(() => new Set<string>());
  for (const word of wordsOf(query.toLowerCase())) {
    for (const { boost, texts, lengths, mean } of fields) {
      const n = texts.filter((text) => text.includes(word)).length;
      const idf = Math.log(1 + (texts.length - n + 0.5) / (n + 0.5));
      texts.forEach((text, i) => {
        const tf = text.filter((other) => other === word).length;
        if (tf === 0) return;
        matched[i]?.add(word);
        const length = 1 - b + (b * (lengths[i] ?? 0)) / mean;
        scores[i] = (scores[i] ?? 0) + boost * idf * (d + (tf * (k + 1)) / (tf + k * length));
      });
    }
  }
  return titles
    .map((title, at) => ({ title, score: (scores[at] ?? 0) * (matched[at]?.size ?? 0), at }))
    .filter(({ score }) => score > 0)
    .sort((x, y) => y.score - x.score || x.at - y.at);
}

describe('the lexical index', () => {
  it.each(QUERIES)('ranks as the library does by itself: %s', (query) => {
    const library = new MiniSearch<Passage & { id: number }>({
      fields: ['title', 'text'],
      tokenize: (text) => [...wordsOf(text)],
      searchOptions: { boost: { title: TITLE_BOOST } },
    });
    library.addAll(corpus.passages.map(({ title, text }, id) => ({ id, title, text })));
    const own = library.search(query);
    const ours = corpus.search(query, own.length + 1);
    expect(ours.map(({ score }) => score)).toEqual(own.map(({ score }) => score));
    // the library leaves the order of equal scores open
    for (const { passage, score } of ours) {
      const theirs = own.filter((hit) => hit.score === score).map(({ id }) => corpus.passages[Number(id)]?.title);
      expect(theirs).toContain(passage.title);
    }
  });

  it.each(QUERIES)('agrees with BM25+ written out: %s', (query) => {
    const wanted = oracle(corpus.passages, query);
    const ours = corpus.search(query, corpus.passages.length);
    expect(ours).toHaveLength(wanted.length);
    // sums of some ten products in another order
    ours.forEach(({ score }, i) => expect(score).toBeCloseTo(wanted[i]?.score ?? 0, 9));
    expect(ours[0]?.passage.title).toBe(wanted[0]?.title);
  });

  it('finds by whole words, in any case and of any part of the text, and nothing for words it has not', () => {
    const small = lexicalIndex([
      { title: 'Elbe', text: 'flows into the North Sea (1,091 km)' },
      { title: 'Elbert', text: 'north-central peak' },
    ]);
    const titles = (query: string) => small.search(query, 9).map(({ passage }) => passage.title);
    expect(titles('ELBE')).toEqual(['Elbe']);
    expect(titles('north')).toEqual(['Elbert', 'Elbe']);
    expect(titles('1,091')).toEqual(['Elbe']);
    expect(titles('sea peak nowhere')).toHaveLength(2);
    expect(titles('nowhere')).toEqual([]);
    expect(titles('')).toEqual([]);
  });

  it('prefers a word in the title, and gives equal scores in the order of the corpus', () => {
    const small = lexicalIndex([
      { title: 'Ulm', text: 'a city' },
      { title: 'Danube', text: 'flows by' },
      { title: 'Linz', text: 'by Danube' },
      { title: 'Bonn', text: 'a city' },
    ]);
    expect(small.search('danube', 9).map(({ passage }) => passage.title)).toEqual(['Danube', 'Linz']);
    expect(small.search('city', 9).map(({ passage }) => passage.title)).toEqual(['Ulm', 'Bonn']);
  });
});
