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
function only(text: string, pattern: string): string | null {
  const matches = [...text.matchAll(new RegExp(pattern, 'g'))];
  return matches.length === 1 ? (matches[0]?.[1] ?? null) : null;
}

// Each of these functions extracts one fact from a sentence, in the sentence's words; null if the sentence doesn't
// state it.
const placeOf = ({ read, person }: Gloss) =>
  !person && read.match(/ in (?:the )?[\w\s-]*[A-Z]/g)?.length === 1
    ? only(read, String.raw`\bin (?:the )?${SIDES}${NAME}`)
    : null;
const riverOf = ({ read }: Gloss) => only(read, String.raw`\bon the ([A-Z][a-z]+) [Rr]iver\b`);
const mouthOf = ({ read, kinds }: Gloss) =>
  kinds.includes('river') ? only(read, String.raw`\b(?:into|tributary of|to) the ${NAME}`) : null;
const capitalOf = ({ read }: Gloss) => only(read, String.raw`^(?:the )?capital (?:and largest \w+ )?of ${NAME}`);
const heightOf = ({ read }: Gloss) => only(read, String.raw`\(([\d,]+) feet high\)`);
const birthplaceOf = ({ read, person }: Gloss) =>
  person ? only(read, String.raw`\bborn in ([A-Z][a-z]+)\b(?! [A-Z])`) : null;
const birthYearOf = ({ read, person }: Gloss) => (person ? only(read, String.raw`\((\d{4})-\d*\)`) : null);

const isOneWord = (text: string) => !text.includes(' ');

/**
 * All questions about one-word titles that these sentences answer. A word of the answer must be neither in the question
 * nor in the first of two passages.
 */
export function questionsAbout(glosses: ReadonlyMap<string, Gloss>): readonly DocumentQuestion[] {
  const byName = new Map<string, Gloss>();
  const capitals = new Map<string, Gloss>();
  for (const gloss of glosses.values()) {
    for (const name of gloss.names) if (!byName.has(name)) byName.set(name, gloss);
    const country = capitalOf(gloss);
    if (country !== null && !capitals.has(country)) capitals.set(country, gloss);
  }
  const world: World = { byName, capitals };
  return [...glosses.values()]
    .filter(({ title }) => isOneWord(title))
    .flatMap((gloss) => [...fromOne(gloss), ...fromTwo(gloss, world)])
    .filter((asked) => isFair(asked, glosses));
}

interface World {
  readonly byName: ReadonlyMap<string, Gloss>;
  readonly capitals: ReadonlyMap<string, Gloss>; // by what they are the capital of
}

/** Questions that one passage answers. */
function fromOne(gloss: Gloss): readonly DocumentQuestion[] {
  const { title } = gloss;
  const asked: DocumentQuestion[] = [];
  const ask = (kind: string, question: string, answer: string | null, query = title) => {
    if (answer !== null) asked.push({ kind, question, answer, passages: [title], queries: [query] });
  };
  ask('place', `where is ${title}`, placeOf(gloss));
  ask('river', `what river is ${title} on`, riverOf(gloss));
  ask('mouth', `where does ${title} flow`, mouthOf(gloss));
  ask('height', `how high is ${title}`, heightOf(gloss));
  ask('born-place', `where was ${title} born`, birthplaceOf(gloss));
  ask('born-year', `when was ${title} born`, birthYearOf(gloss));
  const country = capitalOf(gloss);
  if (country !== null && isOneWord(country)) {
    ask('capital', `what is the capital of ${country}`, title, `${country} capital`);
  }
  return asked;
}

/** Questions that need two passages: the first one names the subject of the second. */
function fromTwo(gloss: Gloss, { byName, capitals }: World): readonly DocumentQuestion[] {
  const { title } = gloss;
  const asked: DocumentQuestion[] = [];
  const ask = (kind: string, question: string, answer: string | null, second: Gloss, query: string) => {
    if (answer === null) return;
    asked.push({ kind, question, answer, passages: [title, second.title], queries: [title, query] });
  };
  const named = riverOf(gloss);
  const river = byName.get(`${named} River`) ?? byName.get(named ?? '');
  if (named !== null && river) ask('mouth-of', `where does the river of ${title} flow`, mouthOf(river), river, named);
  for (const [name, birth] of [[placeOf(gloss), ''] as const, [birthplaceOf(gloss), 'birth '] as const]) {
    const land = byName.get(name ?? '');
    if (name === null || !land || !isOneWord(name)) continue;
    const what = `${birth}${land.kinds.some((kind) => kind.endsWith('state')) ? 'state' : 'country'} of ${title}`;
    const capital = capitals.get(name);
    if (capital) ask('capital-of', `what is the capital of the ${what}`, capital.title, capital, `${name} capital`);
    ask('place-of', `where is the ${what}`, placeOf(land), land, name);
  }
  return asked;
}

/** True unless the question, or the first of two passages, contains a word of the answer. */
function isFair({ question, answer, passages }: DocumentQuestion, glosses: ReadonlyMap<string, Gloss>): boolean {
  const before = passages.slice(0, -1).map((title) => `${title} ${glosses.get(title)?.read ?? ''}`);
  const known = new Set([question, ...before].flatMap((text) => wordsOf(text.toLowerCase())));
  return wordsOf(answer.toLowerCase()).every((word) => !known.has(word));
}
