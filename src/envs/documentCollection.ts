import passagesTable from './corpus/passages.tsv?raw';
import questionsTable from './corpus/questions.tsv?raw';
import { lexicalIndex, type LexicalIndex, wordsOf } from './lexicalIndex.ts';

/** Number of words of a passage's text that an agent reads; the rest is cut. */
export const PASSAGE_WORDS = 12;
// train: asked in training; held-out: never asked; unread: also needs a passage that no training question needs
const SPLITS = ['train', 'held-out', 'unread'] as const;
export type QuestionSplit = (typeof SPLITS)[number];

export interface Question {
  readonly split: QuestionSplit;
  readonly text: string; // without its question mark
  readonly answer: string;
  readonly passages: readonly string[]; // titles, in the order they are needed
  readonly queries: readonly string[]; // for each passage a query that returns it first
}

export interface Documents {
  readonly corpus: LexicalIndex;
  readonly questions: readonly Question[];
  readonly commonWords: readonly string[]; // words that are tokens; all others are written as slots
  readonly maxQuestionWords: number; // in words
  readonly maxTitleWords: number;
}

// A word gets its own token if it occurs in lower case in a question, or in at least this many passages. Names don't
// get one, because they are capitalised.
const MIN_COMMON_PASSAGES = 8;

let documents: Documents | null = null;

/** Returns the documents of corpus/, read and indexed once. Throws on a malformed table and names the line. */
export function openDocuments(): Documents {
  documents ??= readDocuments(passagesTable, questionsTable);
  return documents;
}

/** Reads two tab-separated tables: comment lines, then a line of column names. Throws on a malformed line. */
export function readDocuments(passages: string, questions: string): Documents {
  const corpus = readTable('passages.tsv', passages, ['title', 'text']).map(([title = '', text = '']) => ({
    title,
    text,
  }));
  const questionList = readTable('questions.tsv', questions, QUESTION_COLUMNS).map(readQuestion);
  const questionWords = questionList.flatMap(({ text }) => wordsOf(text)).filter((word) => /^[a-z]+$/.test(word));
  const passageCounts = new Map<string, number>();
  for (const { text } of corpus) {
    for (const word of new Set(wordsOf(text))) passageCounts.set(word, (passageCounts.get(word) ?? 0) + 1);
  }
  const common = [...passageCounts].filter(([word, count]) => count >= MIN_COMMON_PASSAGES && /^[a-z]+$/.test(word));
  return {
    corpus: lexicalIndex(corpus),
    questions: questionList,
    commonWords: [...new Set([...questionWords, ...common.map(([word]) => word)])].sort(),
    maxQuestionWords: Math.max(...questionList.map(({ text }) => wordsOf(text).length)),
    maxTitleWords: Math.max(...corpus.map(({ title }) => wordsOf(title).length)),
  };
}

const QUESTION_COLUMNS = ['split', 'kind', 'question', 'answer', 'passages', 'queries'] as const;

function readQuestion(row: readonly string[], questionIndex: number): Question {
  const [name = '', , text = '', answer = '', passages = '', queries = ''] = row;
  const split = SPLITS.find((known) => known === name);
  if (!split) {
    throw new Error(
      `questions.tsv, question ${questionIndex + 1}: there is no split ${name}. Use one of ${SPLITS.join(', ')}.`,
    );
  }
  return { split, text, answer, passages: passages.split(' | '), queries: queries.split(' | ') };
}

function readTable(file: string, text: string, columns: readonly string[]): readonly (readonly string[])[] {
  const lines = text.trimEnd().split('\n');
  const headerLine = lines.findIndex((line) => !line.startsWith('#'));
  if (lines[headerLine] !== columns.join('\t'))
    throw malformed(file, headerLine, lines[headerLine] ?? 'nothing', columns.join(', '));
  return lines.slice(headerLine + 1).map((line, i) => {
    const row = line.split('\t');
    if (row.length === columns.length) return row;
    throw malformed(file, headerLine + 1 + i, `${row.length} columns`, `${columns.length}`);
  });
}

function malformed(file: string, lineIndex: number, got: string, want: string): Error {
  return new Error(`${file}, line ${lineIndex + 1}: found ${got}, expected ${want}.`);
}
