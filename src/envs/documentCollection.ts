import passagesTable from './corpus/passages.tsv?raw';
import questionsTable from './corpus/questions.tsv?raw';
import { lexicalIndex, type LexicalIndex, wordsOf } from './lexicalIndex.ts';

/** Words of a passage's text that an agent reads; the rest is cut. */
export const PASSAGE_WORDS = 12;
// Asked in training; held out; and those that need a passage which no question of training does.
const SPLITS = ['train', 'held-out', 'unread'] as const;
export type QuestionSplit = (typeof SPLITS)[number];

/** A question and what it takes to answer it. */
export interface Question {
  readonly split: QuestionSplit;
  readonly text: string; // without its question mark
  readonly answer: string;
  readonly passages: readonly string[]; // titles, in the order they are needed
  readonly queries: readonly string[]; // for each of them one that finds it first
}

/** The corpus, the questions about it and the words both are written in. */
export interface Documents {
  readonly corpus: LexicalIndex;
  readonly questions: readonly Question[];
  readonly words: readonly string[]; // that stand for themselves; all others are named per episode
  readonly longestQuestion: number; // in words
  readonly longestTitle: number;
}

// Words that are tokens of their own stand in lower case in this many passages, and so are no names.
const COMMON = 8;

let opened: Documents | null = null;

/** The documents of corpus/, read and indexed once. Throws on a malformed table, naming its line. */
export function openDocuments(): Documents {
  opened ??= readDocuments(passagesTable, questionsTable);
  return opened;
}

/** Documents from two tables with tabs between columns, after comments and a line of headings. Throws on a malformed line. */
export function readDocuments(passages: string, questions: string): Documents {
  const corpus = readTable('passages.tsv', passages, ['title', 'text']).map(([title = '', text = '']) => ({
    title,
    text,
  }));
  const asked = readTable('questions.tsv', questions, QUESTION_COLUMNS).map(readQuestion);
  const templates = asked.flatMap(({ text }) => wordsOf(text)).filter((word) => /^[a-z]+$/.test(word));
  const counts = new Map<string, number>();
  for (const { text } of corpus) {
    for (const word of new Set(wordsOf(text))) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const common = [...counts].filter(([word, count]) => count >= COMMON && /^[a-z]+$/.test(word));
  return {
    corpus: lexicalIndex(corpus),
    questions: asked,
    words: [...new Set([...templates, ...common.map(([word]) => word)])].sort(),
    longestQuestion: Math.max(...asked.map(({ text }) => wordsOf(text).length)),
    longestTitle: Math.max(...corpus.map(({ title }) => wordsOf(title).length)),
  };
}

const QUESTION_COLUMNS = ['split', 'kind', 'question', 'answer', 'passages', 'queries'] as const;

function readQuestion(row: readonly string[], at: number): Question {
  const [name = '', , text = '', answer = '', passages = '', queries = ''] = row;
  const split = SPLITS.find((known) => known === name);
  if (!split) {
    throw new Error(`questions.tsv, question ${at + 1}: there is no split ${name}. Use one of ${SPLITS.join(', ')}.`);
  }
  return { split, text, answer, passages: passages.split(' | '), queries: queries.split(' | ') };
}

function readTable(file: string, text: string, columns: readonly string[]): readonly (readonly string[])[] {
  const lines = text.trimEnd().split('\n');
  const head = lines.findIndex((line) => !line.startsWith('#'));
  if (lines[head] !== columns.join('\t')) throw malformed(file, head, lines[head] ?? 'nothing', columns.join(', '));
  return lines.slice(head + 1).map((line, i) => {
    const row = line.split('\t');
    if (row.length === columns.length) return row;
    throw malformed(file, head + 1 + i, `${row.length} columns`, `${columns.length}`);
  });
}

function malformed(file: string, at: number, got: string, want: string): Error {
  return new Error(`${file}, line ${at + 1}: found ${got}, expected ${want}.`);
}
