import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_FACTS_BYTES } from '../../src/facts/decode.ts';
import type { Triple } from '../../src/facts/facts.ts';
import { ProblemError, problemText } from '../../src/base/problem.ts';
import { MAX_NAME_LENGTH, nameProblem, MAX_ROWS, parseFacts } from '../../src/facts/parse.ts';
import { firstHiddenCode } from '../../src/base/visible.ts';

const triples = (content: Uint8Array | string): readonly Triple[] => parseFacts('my.csv', content).facts.triples;
const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...new TextEncoder().encode(part)] : part)));
function problems(content: Uint8Array | string): readonly string[] {
  try {
    parseFacts('my.csv', content);
  } catch (error) {
    if (error instanceof ProblemError) return error.problems.map(problemText);
    throw error;
  }
  throw new Error('want a ProblemError');
}

/** What keeps a name that runs from right to left apart. */
const ISOLATES = /[\u2068\u2069]/g;
const PERU: Triple = ['Peru', 'capital', 'Lima'];
const CHILE: Triple = ['Chile', 'capital', 'Santiago'];
const PLAIN = 'Peru,capital,Lima\nChile,capital,Santiago\n';

describe('facts are read from', () => {
  it.each([
    ['commas', PLAIN],
    ['semicolons', PLAIN.replaceAll(',', ';')],
    ['tabs', PLAIN.replaceAll(',', '\t')],
    ['CRLF', PLAIN.replaceAll('\n', '\r\n')],
    ['old Macintosh line ends', PLAIN.replaceAll('\n', '\r')],
    ['several line ends in one file', '\r\nsubject,relation,object\rPeru,capital,Lima\n\rChile,capital,Santiago\r\n'],
    ['spaces of other widths around cells', '\u00a0Peru\u3000,capital,\u2003Lima\nChile,capital,Santiago'],
    ['a header', `subject,relation,object\n${PLAIN}`],
    ['a header in capitals', `Subject; Relation; Object\n${PLAIN.replaceAll(',', ';')}`],
    ['a header in another order', 'relation,object,subject\ncapital,Lima,Peru\ncapital,Santiago,Chile'],
    ['a byte-order mark in text', `\ufeff${PLAIN}`],
    ['a byte-order mark in bytes', bytes([0xef, 0xbb, 0xbf], PLAIN)],
    ['a byte-order mark before a header', bytes([0xef, 0xbb, 0xbf], 'subject,relation,object\n', PLAIN)],
    ['no last line end', PLAIN.trimEnd()],
    ['blank lines and empty rows', `\n${PLAIN.replace('\n', '\n\n,,\n')}\n\n`],
    ['spaces around cells', ' Peru , capital,Lima  \nChile,capital ,Santiago'],
    ['quotes', '"Peru","capital","Lima"\n"Chile","capital","Santiago"'],
  ])('%s', (_name, content) => {
    expect(triples(content)).toEqual([PERU, CHILE]);
  });

  it('quoted cells that hold the separator, letters beyond ASCII, joiners and emoji', () => {
    expect(triples('"Paris, Texas",país,España\nایران,x,می‌خواهم\na,b,👩‍🚀')).toEqual([
      ['Paris, Texas', 'país', 'España'],
      ['ایران', 'x', 'می‌خواهم'],
      ['a', 'b', '👩‍🚀'],
    ]);
  });

  it('letters written in two ways as one name', () => {
    expect(triples('Sa\u0303o,a,b\nx,to,S\u00e3o').map(([s, , o]) => [s, o])).toEqual([
      ['S\u00e3o', 'b'],
      ['x', 'S\u00e3o'],
    ]);
  });

  it('markup, which stays the text it is', () => {
    expect(triples('<img src=x onerror=alert(1)>,is,<b>bold</b>')).toEqual([
      ['<img src=x onerror=alert(1)>', 'is', '<b>bold</b>'],
    ]);
  });

  it('numbers with a sign, which no spreadsheet runs', () => {
    expect(triples('Germany,code,+49\nYakutsk,winter,-38.5')).toHaveLength(2);
  });

  it.each([
    ['head,relation,tail', 'Ada'],
    ['Source;Predicate;Target', 'Ada'],
    ['h\tr\tt', 'Ada'],
    ['entity,attribute,value', 'Ada'],
    ['person,relation,answer', 'Ada'],
    ['value,property,name', 'Nabokov'],
  ])('a first line %s names the columns and is no fact', (header, subject) => {
    const separator = /[,;\t]/.exec(header)![0];
    const { facts, notes } = parseFacts('my.csv', `${header}\n${['Ada', 'author', 'Nabokov'].join(separator)}`);
    expect(facts.triples).toHaveLength(1);
    expect(facts.triples[0]![0]).toBe(subject);
    expect(notes).toEqual(['The first line names the columns.']);
  });

  it.each(['s,next,t', 'Ada,source,Nabokov', 'A,to,B'])('a first line %s is a fact', (line) => {
    expect(triples(`${line}\nx,y,z`)).toHaveLength(2);
  });

  it('circles, and rows that repeat, which it mentions', () => {
    const { facts, notes } = parseFacts('my.csv', 'a,next,b\nb,next,a\na,next,b');
    expect(facts).toEqual({
      source: 'my.csv',
      triples: [
        ['a', 'next', 'b'],
        ['b', 'next', 'a'],
      ],
    });
    expect(notes).toEqual(['1 repeated line read once.']);
  });
});

describe('what is malformed is told by line, with what was got, what is wanted and what to do:', () => {
  it.each<[string, Uint8Array | string, RegExp]>([
    ['nothing', '', /^my\.csv is empty\. Write one fact per line: subject, relation, object\.$/],
    ['only blank lines', '\n \n\r\n', /^my\.csv is empty/],
    ['only a header', 'subject,relation,object\n', /^my\.csv has a header and no facts\. /],
    [
      'two columns',
      `${PLAIN}Bolivia,capital`,
      /^Line 3: 2 columns \(Bolivia \| capital\); a fact needs three: subject, relation, object\. Quote/,
    ],
    ['one column', 'Peru\nChile', /^Line 1: 1 column \(Peru\); a fact needs three/],
    [
      'four columns',
      `${PLAIN}\nWashington, D.C.,country,United States`,
      /^Line 4: 4 columns \(Washington \| D\.C\. \| cou…\)/,
    ],
    ['an empty cell', 'Peru,,Lima', /^Line 1: the relation is empty\. Fill it in, or remove the line\.$/],
    [
      'a self-fact',
      `${PLAIN}Peru,neighbour,Peru`,
      /^Line 3: Peru points to itself, so no question can use it\. Remove/,
    ],
    [
      'two objects for one key',
      `${PLAIN}Peru,capital,Cusco`,
      /^Line 3: the capital of Peru is Cusco here and Lima in line 1\. A question has one answer: keep one/,
    ],
    [
      'a formula',
      'x,is,"=cmd|\' /C calc\'!A0"',
      /^Line 1: the object begins with = .*a spreadsheet would run it as a formula\. Put a word/,
    ],
    ['a formula with +', 'x,is,+SUM(A1)', /begins with \+/],
    ['a formula with -', 'x,is,-1+cmd', /begins with -/],
    ['a formula with @', '@SUM,is,x', /^Line 1: the subject begins with @/],
    [
      'a long name',
      `Peru,capital,${'L'.repeat(MAX_NAME_LENGTH + 1)}`,
      /^Line 1: the object has 61 characters \(L+…\); at most 60 fit\. Shorten it\.$/,
    ],
    [
      'a control character',
      'Pe\u0007ru,capital,Lima',
      /^Line 1: the subject holds U\+0007, a character that cannot be seen/,
    ],
    ['a NUL', 'Peru,capital,Li\u0000ma', /holds U\+0000/],
    ['text turned around', `${PLAIN}Bolivia,capital,\u202eerCus`, /^Line 3: the object holds U\+202E/],
    ['an isolate', 'Peru,capital,Li\u2066ma', /holds U\+2066/],
    ['a space nobody sees', 'Peru,capital,Li\u200bma', /holds U\+200B/],
    [
      'a letter of Hangul that shows nothing',
      'Pe\u3164ru,capital,Lima',
      /^Line 1: the subject holds U\+3164, a character that/,
    ],
    ['blank braille', 'Peru,capital,\u2800', /^Line 1: the object holds U\+2800/],
    ['a lone joiner', 'Peru,capital,Li\u200dma', /holds U\+200D/],
    ['tags', 'Peru,capital,Lima\u{e0041}', /holds U\+E0041/],
    ['an accent alone', 'Peru,capital,\u0301x', /^Line 1: the object begins with an accent that has no letter/],
    ['a formula with a wide sign', 'x,is,＝1+1', /begins with ＝/],
    ['hidden text in another problem', `${PLAIN}a\u202eb,c`, /^Line 3: 2 columns \(a‹U\+202E›b \| c\)/],
    ['a line end within a cell', `Peru,capital,"Li\nma"\nChile,capital,x`, /^Line 1: the object holds U\+000A/],
    ['a lone surrogate', 'Peru,capital,Li\ud800ma', /holds U\+D800/],
    [
      'a lost letter',
      'Peru,capital,Bogot\ufffd',
      /^Line 1: the object holds U\+FFFD, which stands for a letter that was lost\. Save the file as UTF-8\.$/,
    ],
    ['an open quote', `${PLAIN}"Bolivia,capital,Sucre\n`, /^Line 3: a quotation mark opens and does not close/],
    [
      'Latin-1',
      bytes(PLAIN, 'S', [0xe3], 'o,x,y'),
      /^Line 3 has bytes that are not UTF-8\. Save the file as “CSV UTF-8”\.$/,
    ],
    ['UTF-16', bytes([0xff, 0xfe], [0x50, 0x00]), /^The file is UTF-16\. /],
    [
      '10 MB',
      new Uint8Array(10_000_000).fill(0x61),
      /^The facts take 10\.0 MB; at most 1 MB fit\. Keep those you want/,
    ],
    ['10 MB of text', 'a'.repeat(10_000_000), /^The facts take 10\.0 MB/],
  ])('%s', (_name, content, message) => {
    const found = problems(content);
    expect(found).toHaveLength(_name === 'one column' ? 2 : 1);
    expect(found[0]).toMatch(message);
  });

  it('names the file as it can be shown, and keeps it so', () => {
    const name = 'gpj.\u202evsc.csv';
    expect(() => parseFacts(name, '')).toThrow(/^gpj\.‹U\+202E›vsc\.csv is empty/);
    expect(parseFacts(name, PLAIN).facts.source).toBe('gpj.‹U+202E›vsc.csv');
  });

  it('counts lines through cells that span several and lines that are blank', () => {
    expect(problems('\n"a\nb",is,c\n\nPeru,capital')).toEqual([
      expect.stringMatching(/^Line 2: the subject holds U\+000A/),
      expect.stringMatching(/^Line 5: 2 columns/),
    ]);
  });

  it('tells five problems at most', () => {
    expect(problems('Peru\n'.repeat(50))).toHaveLength(5);
  });

  it('takes as many facts and bytes as it says, and not one more', () => {
    const rows = (n: number) => Array.from({ length: n }, (_, i) => `a${i},to,b${i}`).join('\n');
    expect(triples(rows(MAX_ROWS))).toHaveLength(20_000);
    expect(problems(rows(MAX_ROWS + 1))).toEqual([
      'my.csv has 20,001 facts; at most 20,000 fit. Keep those you want to ask about.',
    ]);
    const full = `${PLAIN}${'\n'.repeat(MAX_FACTS_BYTES - PLAIN.length)}`;
    expect(triples(full)).toHaveLength(2);
    expect(problems(`${full}\n`)[0]).toMatch(/take 1\.0 MB; at most 1 MB fit/);
  });
});

const filled = (row: (i: number) => string, end = '\n') => {
  const rows: string[] = [];
  for (let i = 0, size = 0; size < MAX_FACTS_BYTES - 1000; i++)
    size += rows[rows.push(row(i)) - 1]!.length + end.length;
  return rows.join(end);
};

describe('1 MB takes less than a second:', () => {
  it.each([
    ['20,000 facts', Array.from({ length: MAX_ROWS }, (_, i) => `subject number ${i},relation,object ${i}`).join('\n')],
    ['one fact 20,000 times', 'the subject of all,the relation,the object\n'.repeat(MAX_ROWS)],
    ['quoted cells', filled((i) => `"subject, ${i}","the ""relation""","${'object '.repeat(6)}${i}"`)],
    ['one quoted cell', `"${'x'.repeat(MAX_FACTS_BYTES - 10)}",b,c`],
    ['one quoted cell of many lines', `"${'x\n'.repeat(MAX_FACTS_BYTES / 2 - 5)}",b,c`],
    ['blank lines', `a,b,c${'\n'.repeat(MAX_FACTS_BYTES - 5)}`],
    ['rows without separators', '"a"\n'.repeat(MAX_FACTS_BYTES / 4)],
    ['one row', '"a",'.repeat(MAX_FACTS_BYTES / 4)],
    ['separators', ','.repeat(MAX_FACTS_BYTES)],
    ['quotes', '"'.repeat(MAX_FACTS_BYTES)],
    ['quotes that close within', filled(() => '"a"b"c"')],
    ['letters of two bytes', Array.from({ length: 12_000 }, (_, i) => `ایران می‌خواهم ${i},مدينة,👩‍🚀 ${i}`).join('\n')],
    ['spaces', filled((i) => `a${' '.repeat(150)}b${i}${' '.repeat(150)},to,x${i}`)],
  ])('%s', (_name, text) => {
    const content = new TextEncoder().encode(text);
    expect(content.length).toBeLessThanOrEqual(MAX_FACTS_BYTES);
    expect(content.length).toBeGreaterThan(700_000);
    const before = process.cpuUsage(); // the clock would also count what else this machine does
    let outcome: string;
    try {
      outcome = `${parseFacts('my.csv', content).facts.triples.length} facts`;
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      outcome = error.message;
    }
    const { user, system } = process.cpuUsage(before);
    expect(outcome).not.toBe('');
    expect((user + system) / 1e6).toBeLessThan(1);
  });
});

it('of 2,000 hostile files each is read as it stands, or refused with what to do', () => {
  // prettier-ignore
  const cells = [
    'Peru', 'capital', 'Lima', 'São', '', ' ', '"', '""', '"a,b"', '"a\nb"', '=1+1', '+49', '-x', '@', '<b>', '\u0000', '\u202e', '\u200d', '\u3164', '\u2800',
    '\ufeff', '\ufffd', '\ud800', '👩‍🚀', 'می‌خواهم', '__proto__', 'constructor', 'subject', 'relation', 'object', 'x'.repeat(61), '🏴\u{e0041}', 'a\tb', "it's", '\u0301',
  ];
  const end = fc.constantFrom('\n', '\r\n', '\r', '\n\n');
  const cell = fc.nat(29).map((n) => `name ${n}`);
  /** Rows, a column being a cell. */
  const rowsOf = (cell: fc.Arbitrary<string>, columns: number, separator: string, end: fc.Arbitrary<string>) => {
    const row = fc.array(cell, { minLength: columns, maxLength: columns }).map((cells) => cells.join(separator));
    return fc.array(fc.tuple(row, end), { maxLength: 11 });
  };
  const oddCell = fc.oneof({ weight: 17, arbitrary: cell }, { weight: 3, arbitrary: fc.constantFrom(...cells) });
  const oddEnd = fc.oneof({ weight: 2, arbitrary: end }, fc.constantFrom('\u2028', ''));
  const hostile = fc
    .tuple(fc.constantFrom(',', ',', ',', ';', '\t', '|', ''), fc.constantFrom(3, 3, 3, 3, 3, 0, 1, 2, 4, 5))
    .chain(([separator, columns]) => rowsOf(oddCell, columns, separator, oddEnd));
  const files = fc.oneof(
    { weight: 2, arbitrary: fc.tuple(fc.constant('plain'), rowsOf(cell, 3, ',', end)) },
    { weight: 3, arbitrary: fc.tuple(fc.constant('hostile'), hostile) },
  );
  const changes = fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, fc.tuple(fc.nat(200), fc.nat(255)));
  let read = 0;
  const judge = fc.property(fc.constantFrom(...cells), files, changes, (source, [kind, rows], change) => {
    const content = new TextEncoder().encode(rows.map((row) => row.join('')).join(''));
    if (kind === 'hostile' && change && content.length > 0) content[change[0] % content.length] = change[1];
    try {
      const { facts, notes } = parseFacts(source, content);
      // nothing is left out in silence: what is no new fact is told to be a repetition
      if (kind === 'plain') expect(facts.triples.length + Number(/^\d*/.exec(notes[0] ?? '')?.[0])).toBe(rows.length);
      expect(new Set(facts.triples.map(([subject, relation]) => `${subject}\n${relation}`)).size).toBe(
        facts.triples.length,
      );
      for (const name of facts.triples.flat()) expect(nameProblem(name)).toBeNull();
      expect(firstHiddenCode(facts.source.replaceAll(ISOLATES, ''))).toBeNull();
      read++;
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error;
      expect(error.problems.length).toBeGreaterThan(0);
      for (const problem of error.problems.map(problemText)) {
        expect(problem.length).toBeLessThan(500);
        expect(firstHiddenCode(problem.replaceAll(ISOLATES, '')), problem).toBeNull();
      }
    }
  });
  fc.assert(judge, { seed: 21, numRuns: 2_000 });
  expect(read).toBeGreaterThan(100);
});
