import { PASSAGE_WORDS } from '../envs/documentCollection.ts';
import { type Passage, wordPositions, wordsOf } from '../envs/lexicalIndex.ts';

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
export interface Gloss extends Passage {
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
export function readGlosses(dataNoun: string): ReadonlyMap<string, Gloss> {
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
