import { describe, expect, it } from 'vitest';
import { MOST_BYTES } from '../../src/facts/decode.ts';
import { FactsError, type Triple } from '../../src/facts/facts.ts';
import { LONGEST_NAME } from '../../src/facts/names.ts';
import { MOST_ROWS, parseFacts } from '../../src/facts/parse.ts';

const triples = (content: Uint8Array | string): readonly Triple[] => parseFacts('my.csv', content).facts.triples;
const bytes = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...new TextEncoder().encode(part)] : part)));
function problems(content: Uint8Array | string): readonly string[] {
  try {
    parseFacts('my.csv', content);
  } catch (error) {
    if (error instanceof FactsError) return error.problems;
    throw error;
  }
  throw new Error('want a FactsError');
}

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
    ['nothing', '', /^my\.csv is empty; want a line for each fact: subject, relation, object\.$/],
    ['only blank lines', '\n \n\r\n', /^my\.csv is empty/],
    ['only a header', 'subject,relation,object\n', /^my\.csv has a header and no facts; want a line/],
    [
      'two columns',
      `${PLAIN}Bolivia,capital`,
      /^Line 3: got 2 columns \(Bolivia \| capital\); want three: subject, relation, object\. Quote/,
    ],
    ['one column', 'Peru\nChile', /^Line 1: got 1 column \(Peru\); want three/],
    [
      'four columns',
      `${PLAIN}\nWashington, D.C.,country,United States`,
      /^Line 4: got 4 columns \(Washington \| D\.C\. \| cou…\)/,
    ],
    ['an empty cell', 'Peru,,Lima', /^Line 1: the relation is empty\. Fill it in, or remove the line\.$/],
    [
      'a self-fact',
      `${PLAIN}Peru,neighbour,Peru`,
      /^Line 3: Peru leads to itself, and no question can pass there\. Remove/,
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
      `Peru,capital,${'L'.repeat(LONGEST_NAME + 1)}`,
      /^Line 1: the object has 61 letters \(L+…\); want at most 60\. Shorten it\.$/,
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
      /^Line 3: got bytes that are not UTF-8\. Save the file again as “CSV UTF-8”\.$/,
    ],
    ['UTF-16', bytes([0xff, 0xfe], [0x50, 0x00]), /^The file is UTF-16; want UTF-8/],
    [
      '10 MB',
      new Uint8Array(10_000_000).fill(0x61),
      /^The facts take 10\.0 MB; want at most 1 MB\. Keep those you want/,
    ],
    ['10 MB of text', 'a'.repeat(10_000_000), /^The facts take 10\.0 MB/],
  ])('%s', (_name, content, message) => {
    const found = problems(content);
    expect(found).toHaveLength(_name === 'one column' ? 2 : 1);
    expect(found[0]).toMatch(message);
  });

  it('counts lines through cells that span several and lines that are blank', () => {
    expect(problems('\n"a\nb",is,c\n\nPeru,capital')).toEqual([
      expect.stringMatching(/^Line 2: the subject holds U\+000A/),
      expect.stringMatching(/^Line 5: got 2 columns/),
    ]);
  });

  it('tells five problems at most', () => {
    expect(problems('Peru\n'.repeat(50))).toHaveLength(5);
  });

  it('takes as many facts and bytes as it says, and not one more', () => {
    const rows = (n: number) => Array.from({ length: n }, (_, i) => `a${i},to,b${i}`).join('\n');
    expect(triples(rows(MOST_ROWS))).toHaveLength(20_000);
    expect(problems(rows(MOST_ROWS + 1))).toEqual([
      'my.csv has 20,001 facts; want at most 20,000. Keep those you want to ask about.',
    ]);
    const full = `${PLAIN}${'\n'.repeat(MOST_BYTES - PLAIN.length)}`;
    expect(triples(full)).toHaveLength(2);
    expect(problems(`${full}\n`)[0]).toMatch(/take 1\.0 MB; want at most 1 MB/);
  });
});
