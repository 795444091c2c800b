import { wordsOf } from '../envs/lexicalIndex.ts';
import type { Gloss } from './wordnet.ts';

/**
 * A question, its answer, the passages needed to answer it, in order, and a search query of one or two words for each
 * passage.
 */
export interface DocumentQuestion {
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

// Each of these functions extracts one fact from a sentence, in the sentence's words; null if the sentence doesn't
// state it.
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

/**
 * All questions about one-word titles that these sentences answer. A word of the answer must be neither in the question
 * nor in the first of two passages.
 */
export function allQuestions(glosses: ReadonlyMap<string, Gloss>): readonly DocumentQuestion[] {
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

/** Questions that one passage answers. */
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
