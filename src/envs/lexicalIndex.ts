import MiniSearch from 'minisearch';

/** A sentence of the corpus under the name it is about. */
export interface Passage {
  readonly title: string;
  readonly text: string;
}

/** A passage as the index and the agent read it. */
export interface Indexed extends Passage {
  readonly titleWords: readonly string[];
  readonly textWords: readonly string[];
}

/** One hit: a passage of the corpus, its score, and the words of the query found in it, in lower case. */
export interface Hit {
  readonly passage: Indexed;
  readonly score: number;
  readonly matched: readonly string[];
}

/**
 * BM25+ (Lv and Zhai 2011) as MiniSearch has it, by its own defaults: k saturates the count of a word in a field, b is how far
 * the field's length tells, d is added for every field that has the word at all. Length is in words that differ, in case too.
 */
export const BM25 = { k: 1.2, b: 0.7, d: 0.5 } as const;
/** A word in a title counts this often as much as one in the text. */
export const TITLE_BOOST = 2;
// Queries kept with their hits: an agent's are one or two words, many episodes ask the same.
const REMEMBERED = 4096;

/** Where the words of a text stand: runs of letters and digits, with `,` `.` `'` inside (22,834; Pike's); not hyphens. */
export function wordPlaces(text: string): readonly { readonly word: string; readonly from: number }[] {
  return Array.from(text.matchAll(/[\p{L}\p{N}]+(?:[',.][\p{L}\p{N}]+)*/gu), ({ 0: word, index: from }) => ({
    word,
    from,
  }));
}

/** The words of a text, as the index and the agent read them. */
export function wordsOf(text: string): readonly string[] {
  return wordPlaces(text).map(({ word }) => word);
}

/** A lexical index of a corpus. */
export interface LexicalIndex {
  readonly passages: readonly Indexed[];
  /** The best `top` passages that have any word of the query, best first; equal scores in the order of the corpus. */
  readonly search: (query: string, top: number) => readonly Hit[];
}

/** Indexes titles and texts; words match whole and in any case. */
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
  const remembered = new Map<string, readonly Hit[]>();
  const hits = (query: string): readonly Hit[] =>
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
      let found = remembered.get(key);
      if (!found) {
        found = hits(key);
        if (remembered.size >= REMEMBERED) remembered.clear();
        remembered.set(key, found);
      }
      return found.slice(0, top);
    },
  };
}
