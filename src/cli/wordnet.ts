import { PASSAGE_WORDS } from '../envs/documentCollection.ts';
import { type Passage, wordPlaces, wordsOf } from '../envs/lexicalIndex.ts';

// Words of a sentence; those after PASSAGE_WORDS an agent never reads.
const LONGEST = 14;
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

/** A place or a person of the dictionary. */
export interface Gloss extends Passage {
  readonly names: readonly string[]; // the title among them
  readonly kinds: readonly string[]; // what it is an instance of
  readonly person: boolean;
  readonly read: string; // the part of the text that an agent reads
}

/** One line of WordNet's data.noun (wndb(5WN)): names, what they are instances of, and the gloss. */
interface Synset {
  readonly id: string;
  readonly names: readonly string[];
  readonly parents: readonly string[];
  readonly gloss: string;
}

/** Places and people with a name of one or two words and a sentence short enough, by title; the first of two namesakes. */
export function readGlosses(dataNoun: string): ReadonlyMap<string, Gloss> {
  const lines = dataNoun.split('\n').filter((line) => /^\d{8} /.test(line));
  const synsets = lines.map(readSynset);
  const first = new Map(synsets.map(({ id, names }) => [id, names[0]?.replaceAll(' ', '_') ?? '']));
  const found = new Map<string, Gloss>();
  for (const { names, parents, gloss } of synsets) {
    const above = parents.map((id) => first.get(id) ?? '');
    const kinds = above.filter((kind) => PLACES.has(kind) || PEOPLE.has(kind));
    const title = names[0] ?? '';
    const text = sentenceOf(gloss);
    const plain = /^[A-Z][a-z]+( [A-Z][a-z]+)?$/.test(title) && /^[\w\s,;:()'.-]+$/.test(text);
    if (kinds.length === 0 || !plain || found.has(title)) continue;
    const end = wordPlaces(text)[PASSAGE_WORDS]?.from ?? text.length;
    const read = text.slice(0, end).trimEnd();
    found.set(title, { title, text, names, kinds, read, person: kinds.some((kind) => PEOPLE.has(kind)) });
  }
  return found;
}

function readSynset(line: string): Synset {
  const [data = '', gloss = ''] = line.split(' | ');
  const fields = data.trim().split(' ');
  const words = Number.parseInt(fields[3] ?? '0', 16);
  const names = Array.from({ length: words }, (_, i) => (fields[4 + 2 * i] ?? '').replaceAll('_', ' '));
  const at = 4 + 2 * words;
  const parents = Array.from({ length: Number(fields[at]) }, (_, i) => at + 1 + 4 * i)
    .filter((pointer) => fields[pointer] === '@i')
    .map((pointer) => fields[pointer + 1] ?? '');
  return { id: fields[0] ?? '', names, parents, gloss: gloss.trim() };
}

/** The clauses of a gloss, without its examples, up to LONGEST words; '' where the first is longer. */
function sentenceOf(gloss: string): string {
  let text = '';
  for (const clause of gloss.replace(/;?\s*"[^"]*"?/g, '').split(/;\s*/)) {
    const longer = text === '' ? clause.trim() : `${text}; ${clause.trim()}`;
    if (wordsOf(longer).length > LONGEST) break;
    text = longer;
  }
  return text;
}
