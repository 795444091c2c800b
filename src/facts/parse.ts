import Papa from 'papaparse';
import { baseName } from '../base/baseName.ts';
import { decode } from './decode.ts';
import type { Facts, Triple } from './facts.ts';
import { ProblemError } from '../base/problem.ts';
import { excerpt, nameProblem, tidy } from './factNames.ts';
import { visible } from '../base/visible.ts';

/** Rows a file may have. */
export const MOST_ROWS = 20_000;
/** Problems told at once; the rest would not be read. */
const MOST_PROBLEMS = 5;

/** What the separator is guessed from. */
const GUESSED_FROM = { rows: 10, letters: 20_000 };

const COLUMNS = ['subject', 'relation', 'object'] as const;
const WANT = 'a fact needs three: subject, relation, object';

/** Facts, and what was done to them that a person may want to know. */
export interface ParsedFacts {
  readonly facts: Facts;
  readonly notes: readonly string[];
}

/**
 * Reads facts from CSV: comma, semicolon or tab, with or without a first line that names the columns (in any order; head, relation, tail and the like too), UTF-8 with
 * or without a byte-order mark, line ends of
 * any kind, mixed too; blank lines are skipped and rows that repeat are read once. Chains of facts may
 * lead in circles, for no question meets an entity twice; a fact may not lead to its own subject. Throws ProblemError with a
 * sentence for each problem: the line, what was got, what is wanted, what to do.
 */
export function parseFacts(source: string, content: Uint8Array | string): ParsedFacts {
  const text = decode(content).replaceAll(/\r\n?/g, '\n'); // files that were put together have several line ends
  const name = visible(source);
  if (text.trim() === '') {
    throw new ProblemError([`${name} is empty. Write one fact per line: subject, relation, object.`]);
  }
  const head = text.trimStart().slice(0, GUESSED_FROM.letters);
  const { delimiter } = Papa.parse<string[]>(head, {
    newline: '\n',
    delimitersToGuess: [',', ';', '\t'],
    preview: GUESSED_FROM.rows,
  }).meta;
  const { data, errors } = Papa.parse<string[]>(text, { newline: '\n', delimiter });
  const quote = errors.find(({ type }) => type === 'Quotes');
  if (quote) {
    const line = linesIn(text.slice(0, quote.index ?? 0));
    throw new ProblemError([
      `Line ${line}: a quotation mark opens and does not close, or closes within a cell. Double it ("") or remove it.`,
    ]);
  }
  return read(name, data);
}

interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}

function read(source: string, data: readonly (readonly string[])[]): ParsedFacts {
  const rows: Row[] = [];
  let line = 1;
  for (const raw of data) {
    if (raw.some((cell) => cell.trim() !== '')) rows.push({ line, cells: raw });
    line++;
    for (const cell of raw) if (cell.includes('\n')) line += linesIn(cell) - 1; // a quoted cell may span lines
  }
  const order = headerOrder(rows[0]?.cells ?? []);
  if (order) rows.shift();
  if (rows.length === 0) {
    throw new ProblemError([`${source} has ${order ? 'a header and ' : ''}no facts. Write one fact per line.`]);
  }
  if (rows.length > MOST_ROWS) {
    throw new ProblemError([
      `${source} has ${rows.length.toLocaleString('en')} facts; at most ${MOST_ROWS.toLocaleString('en')} fit. Keep those you want to ask about.`,
    ]);
  }
  const { facts, notes } = check(source, rows, order ?? [0, 1, 2]);
  return { facts, notes: [...notes, ...(order ? ['The first line names the columns.'] : [])] };
}

function linesIn(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/** Words that name a column in a first line. */
const COLUMN_NAMES: Readonly<Record<(typeof COLUMNS)[number], readonly string[]>> = {
  subject: [
    'subject',
    'subj',
    's',
    'head',
    'h',
    'source',
    'src',
    'from',
    'entity',
    'entity1',
    'entity 1',
    'name',
    'item',
  ],
  relation: [
    'relation',
    'rel',
    'r',
    'relationship',
    'predicate',
    'pred',
    'p',
    'property',
    'attribute',
    'edge',
    'link',
    'label',
    'type',
    'key',
  ],
  object: ['object', 'obj', 'o', 'tail', 't', 'target', 'dst', 'to', 'value', 'answer', 'entity2', 'entity 2'],
};

/** Which column is which, where the first line names two of them in words, or all three in words or letters; null where it is a fact. */
function headerOrder(cells: readonly string[]): readonly number[] | null {
  if (cells.length !== COLUMNS.length) return null;
  const names = cells.map((cell) => tidy(cell).toLowerCase().replaceAll('_', ' '));
  const order = COLUMNS.map((column) => names.findIndex((name) => COLUMN_NAMES[column].includes(name)));
  const named = order.filter((at) => at >= 0);
  const inWords = named.filter((at) => (names[at] ?? '').length > 1);
  if (named.length < 3 && inWords.length < 2) return null;
  const rest = [0, 1, 2].find((at) => !order.includes(at)) ?? -1;
  return order.map((at) => (at < 0 ? rest : at));
}

function check(source: string, rows: readonly Row[], order: readonly number[]): ParsedFacts {
  const problems: string[] = [];
  const factsByKey = new Map<string, { readonly line: number; readonly triple: Triple }>();
  let repeated = 0;
  for (const { line, cells: raw } of rows) {
    if (problems.length >= MOST_PROBLEMS) break;
    const cells = raw.length === COLUMNS.length ? raw.map(tidy) : raw;
    const found = rowProblems(cells, order);
    if (found.length > 0) {
      problems.push(...found.map((problem) => `Line ${line}: ${problem}`));
      continue;
    }
    const [subject = '', relation = '', object = ''] = order.map((column) => cells[column] ?? '');
    const key = `${subject}\n${relation}`;
    const before = factsByKey.get(key);
    if (!before) factsByKey.set(key, { line, triple: [subject, relation, object] });
    else if (before.triple[2] === object) repeated++;
    else {
      problems.push(
        `Line ${line}: the ${excerpt(relation)} of ${excerpt(subject)} is ${excerpt(object)} here and ${excerpt(before.triple[2])} in line ${before.line}. A question has one answer: keep one of them.`,
      );
    }
  }
  if (problems.length > 0) throw new ProblemError(problems.slice(0, MOST_PROBLEMS));
  const triples = Array.from(factsByKey.values(), ({ triple }) => triple);
  return {
    facts: { source: baseName(source), triples }, // it goes into files that leave this machine
    notes: repeated > 0 ? [`${repeated} repeated ${repeated === 1 ? 'line' : 'lines'} read once.`] : [],
  };
}

function rowProblems(cells: readonly string[], order: readonly number[]): readonly string[] {
  if (cells.length !== COLUMNS.length) {
    const all = excerpt(cells.slice(0, 30).map(tidy).join(' | '));
    return [
      `${cells.length} ${cells.length === 1 ? 'column' : 'columns'} (${all}); ${WANT}. Quote a cell that contains the separator.`,
    ];
  }
  const found = COLUMNS.flatMap((name, i) => {
    const problem = nameProblem(cells[order[i] ?? 0] ?? '');
    return problem === null ? [] : [`the ${name} ${problem}`];
  });
  const [subject = '', , object = ''] = order.map((column) => cells[column] ?? '');
  if (found.length === 0 && subject === object) {
    return [`${excerpt(subject)} points to itself, so no question can use it. Remove the line or name another object.`];
  }
  return found;
}
