import MiniSearch from 'minisearch';

/** A sentence of the corpus, with the name it is about as its title. */
export interface Passage {
  readonly title: string;
  readonly text: string;
}

export interface IndexedPassage extends Passage {
  readonly titleWords: readonly string[];
  readonly textWords: readonly string[];
}

/** One hit: a passage of the corpus, its score, and the words of the query found in it, in lower case. */
export interface Hit {
  readonly passage: IndexedPassage;
  readonly score: number;
  readonly matched: readonly string[];
}

/**
 * Parameters of BM25+ (Lv and Zhai 2011), MiniSearch's defaults. k limits the effect of repeated words in a field. b is
 * the weight of the field's length. d is added for every field that contains the word. Length is the number of distinct
 * words, where case counts.
 */
export const BM25 = { k: 1.2, b: 0.7, d: 0.5 } as const;
/** Weight of a word in a title relative to one in the text. */
export const TITLE_BOOST = 2;
// number of queries whose hits are cached: an agent's queries are one or two words, and many episodes ask the same ones
const MAX_CACHED_QUERIES = 4096;

/** A word is a run of letters and digits with `,` `.` `'` inside (22,834; Pike's); a hyphen ends a word. */
export function wordPositions(text: string): readonly { readonly word: string; readonly start: number }[] {
  return Array.from(text.matchAll(/[\p{L}\p{N}]+(?:[',.][\p{L}\p{N}]+)*/gu), ({ 0: word, index: start }) => ({
    word,
    start,
  }));
}

/** Returns the words of a text as the index and the agent read them. */
export function wordsOf(text: string): readonly string[] {
  return wordPositions(text).map(({ word }) => word);
}

export interface LexicalIndex {
  readonly passages: readonly IndexedPassage[];
  /** Returns the best `top` passages that contain any word of the query, best first. Equal scores are in corpus order. */
  readonly search: (query: string, top: number) => readonly Hit[];
}

/** Indexes titles and texts. Words match as a whole, ignoring case. */
export function lexicalIndex(passages: readonly Passage[]): LexicalIndex {
  const indexed = passages.map(({ title, text }, id) => ({
    id,
    title,
    text,
    titleWords: wordsOf(title),
    textWords: wordsOf(text),
  }));
  const index = new MiniSearch<(typeof indexed)[number]>({
    fields: ['title', 'text'],
    tokenize: (text) => [...wordsOf(text)],
    searchOptions: { boost: { title: TITLE_BOOST }, bm25: BM25 },
  });
  index.addAll(indexed);
  const cache = new Map<string, readonly Hit[]>();
  const searchIndex = (query: string): readonly Hit[] =>
    index
      .search(query)
      .toSorted((a, b) => b.score - a.score || Number(a.id) - Number(b.id))
      .flatMap(({ id, score, terms: matched }) => {
        const passage = indexed[Number(id)];
        return passage ? [{ passage, score, matched }] : [];
      });
  return {
    passages: indexed,
    search(query, top) {
      const key = query.toLowerCase();
      let found = cache.get(key);
      if (!found) {
        found = searchIndex(key);
        if (cache.size >= MAX_CACHED_QUERIES) cache.clear();
        cache.set(key, found);
      }
      return found.slice(0, top);
    },
  };
}
