import Papa from 'papaparse';
import { baseName } from '../base/baseName.ts';
import { decode } from './decode.ts';
import type { Facts, Triple } from './facts.ts';
import { ProblemError } from '../base/problem.ts';
import { visible, firstHiddenCode } from '../base/visible.ts';

export const MAX_NAME_LENGTH = 60;
const EXCERPT_LENGTH = 24; // characters

const SIGNED_NUMBER = /^[+-]\d[\d ., ]*$/;

/** ASCII text that `normalizedCell` leaves as it is. */
const NORMALIZED = /^(?:[!-~]+(?: [!-~]+)*)?$/;

/**
 * Normalizes a cell: composed characters (NFC), no spaces at its ends, and one ASCII space for any run of Unicode's
 * spaces.
 */
function normalizedCell(cell: string): string {
  return NORMALIZED.test(cell)
    ? cell
    : cell
        .normalize('NFC')
        .replaceAll(/\p{Zs}+/gu, ' ')
        .trim();
}

/**
 * What is wrong with a name, and what to do; null if it is fine. Names are shown as text, so markup in them is
 * harmless.
 */
export function nameProblem(name: string): string | null {
  if (name === '') return 'is empty. Fill it in, or remove the line.';
  const hidden = firstHiddenCode(name);
  if (hidden !== null) return `holds ${hidden}, a character that cannot be seen or turns the text around. Remove it.`;
  if (/^\p{M}/u.test(name))
    return `begins with an accent that has no letter (${excerpt(name)}). Put the letter before it.`;
  if (name.includes('\ufffd')) return 'holds U+FFFD, which stands for a letter that was lost. Save the file as UTF-8.';
  const length = Array.from(name).length;
  if (length > MAX_NAME_LENGTH) {
    return `has ${length} characters (${excerpt(name)}); at most ${MAX_NAME_LENGTH} fit. Shorten it.`;
  }
  if (/^[=@+\uff1d\uff20\uff0b\uff0d-]/.test(name) && !SIGNED_NUMBER.test(name)) {
    return `begins with ${name.charAt(0)} (${excerpt(name)}): a spreadsheet would run it as a formula. Put a word before it, or remove the sign.`;
  }
  return null;
}

/** The beginning of a text, for a message; `…` marks a cut. */
function excerpt(text: string): string {
  // enough characters even if all are surrogate pairs
  const characters = Array.from(text.slice(0, 2 * EXCERPT_LENGTH + 2));
  return visible(characters.length > EXCERPT_LENGTH ? `${characters.slice(0, EXCERPT_LENGTH - 1).join('')}…` : text);
}

/** Maximum number of rows in a file. */
export const MAX_ROWS = 20_000;
/** Maximum number of problems reported at once; nobody would read more. */
const MAX_PROBLEMS = 5;

/** The part of the file from which the separator is guessed. */
const SEPARATOR_SAMPLE = { rows: 10, characters: 20_000 };

const COLUMNS = ['subject', 'relation', 'object'] as const;
const EXPECTED_COLUMNS = 'a fact needs three: subject, relation, object';

/** Facts, and notes for the person about how the file was read. */
export interface ParsedFacts {
  readonly facts: Facts;
  readonly notes: readonly string[];
}

/**
 * Reads facts from CSV. The separator may be comma, semicolon or tab. A first line may name the columns, in any order
 * and also by other usual names, such as head, relation and tail. The file is UTF-8 with or without a byte-order mark,
 * and its line ends may be mixed. Skips blank lines and repeated rows. Chains of facts may form a cycle, because no
 * question visits an entity twice, but a fact may not lead to its own subject. Throws ProblemError with a sentence for
 * each problem: the line, what was found and expected, what to do.
 */
export function parseFacts(source: string, content: Uint8Array | string): ParsedFacts {
  const text = decode(content).replaceAll(/\r\n?/g, '\n'); // a file made of several files may have mixed line ends
  const name = visible(source);
  if (text.trim() === '') {
    throw new ProblemError([`${name} is empty. Write one fact per line: subject, relation, object.`]);
  }
  const sample = text.trimStart().slice(0, SEPARATOR_SAMPLE.characters);
  const { delimiter } = Papa.parse<string[]>(sample, {
    newline: '\n',
    delimitersToGuess: [',', ';', '\t'],
    preview: SEPARATOR_SAMPLE.rows,
  }).meta;
  const { data, errors } = Papa.parse<string[]>(text, { newline: '\n', delimiter });
  const quote = errors.find(({ type }) => type === 'Quotes');
  if (quote) {
    const line = linesIn(text.slice(0, quote.index ?? 0));
    throw new ProblemError([
      `Line ${line}: a quotation mark opens and does not close, or closes within a cell. Double it ("") or remove it.`,
    ]);
  }
  return factsFrom(name, data);
}

interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}

function factsFrom(source: string, data: readonly (readonly string[])[]): ParsedFacts {
  const rows: Row[] = [];
  let line = 1;
  for (const raw of data) {
    if (raw.some((cell) => cell.trim() !== '')) rows.push({ line, cells: raw });
    line++;
    for (const cell of raw) if (cell.includes('\n')) line += linesIn(cell) - 1; // a quoted cell may span lines
  }
  const columnOrder = headerOrder(rows[0]?.cells ?? []);
  if (columnOrder) rows.shift();
  if (rows.length === 0) {
    throw new ProblemError([`${source} has ${columnOrder ? 'a header and ' : ''}no facts. Write one fact per line.`]);
  }
  if (rows.length > MAX_ROWS) {
    throw new ProblemError([
      `${source} has ${rows.length.toLocaleString('en')} facts; at most ${MAX_ROWS.toLocaleString('en')} fit. Keep those you want to ask about.`,
    ]);
  }
  const { facts, notes } = checkedFacts(source, rows, columnOrder ?? [0, 1, 2]);
  return { facts, notes: [...notes, ...(columnOrder ? ['The first line names the columns.'] : [])] };
}

function linesIn(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/** Names that a column may have in the first line. */
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

/**
 * The indices of subject, relation and object if the first line is a header; null if it is a fact. A header names two
 * columns by words, or all three by words or single letters.
 */
function headerOrder(cells: readonly string[]): readonly number[] | null {
  if (cells.length !== COLUMNS.length) return null;
  const names = cells.map((cell) => normalizedCell(cell).toLowerCase().replaceAll('_', ' '));
  const order = COLUMNS.map((column) => names.findIndex((name) => COLUMN_NAMES[column].includes(name)));
  const namedColumns = order.filter((at) => at >= 0);
  const inWords = namedColumns.filter((at) => (names[at] ?? '').length > 1);
  if (namedColumns.length < 3 && inWords.length < 2) return null;
  const unnamed = [0, 1, 2].find((at) => !order.includes(at)) ?? -1;
  return order.map((at) => (at < 0 ? unnamed : at));
}

function checkedFacts(source: string, rows: readonly Row[], columnOrder: readonly number[]): ParsedFacts {
  const problems: string[] = [];
  const factsByKey = new Map<string, { readonly line: number; readonly triple: Triple }>();
  let repeated = 0;
  for (const { line, cells: raw } of rows) {
    if (problems.length >= MAX_PROBLEMS) break;
    const cells = raw.length === COLUMNS.length ? raw.map(normalizedCell) : raw;
    const problemsOfRow = rowProblems(cells, columnOrder);
    if (problemsOfRow.length > 0) {
      problems.push(...problemsOfRow.map((problem) => `Line ${line}: ${problem}`));
      continue;
    }
    const [subject = '', relation = '', object = ''] = columnOrder.map((column) => cells[column] ?? '');
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
  if (problems.length > 0) throw new ProblemError(problems.slice(0, MAX_PROBLEMS));
  const triples = Array.from(factsByKey.values(), ({ triple }) => triple);
  return {
    // without the folder, because saved and exported files contain the name
    facts: { source: baseName(source), triples },
    notes: repeated > 0 ? [`${repeated} repeated ${repeated === 1 ? 'line' : 'lines'} read once.`] : [],
  };
}

function rowProblems(cells: readonly string[], columnOrder: readonly number[]): readonly string[] {
  if (cells.length !== COLUMNS.length) {
    const all = excerpt(cells.slice(0, 30).map(normalizedCell).join(' | '));
    return [
      `${cells.length} ${cells.length === 1 ? 'column' : 'columns'} (${all}); ${EXPECTED_COLUMNS}. Quote a cell that contains the separator.`,
    ];
  }
  const nameProblems = COLUMNS.flatMap((name, i) => {
    const problem = nameProblem(cells[columnOrder[i] ?? 0] ?? '');
    return problem === null ? [] : [`the ${name} ${problem}`];
  });
  const [subject = '', , object = ''] = columnOrder.map((column) => cells[column] ?? '');
  if (nameProblems.length === 0 && subject === object) {
    return [`${excerpt(subject)} points to itself, so no question can use it. Remove the line or name another object.`];
  }
  return nameProblems;
}
