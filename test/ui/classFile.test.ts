import { expect, test } from 'vitest';
import {
  type ClassFile,
  classFileText,
  type FileProblem,
  type StudentHandIn,
  isClassFile,
  mergeFiles,
  readClassFile,
  SCHEMA,
} from '../../src/page/learn/classFile.ts';
import { classCsv, classTable, countsOf } from '../../src/page/learn/classTable.ts';
import type { Result } from '../../src/page/learn/exerciseResult.ts';
import { say } from '../../src/page/learn/catalogue.ts';

const RESULT: Result = {
  predicted: 'more',
  answer: 'more',
  numbers: { wide: 0.0347, tight: 0.1282 },
  ...{ tries: 1, seed: 7, backend: 'cpu', at: '2026-11-24T08:00:00.000Z' },
};

const SAVED = '2026-11-24T08:10:00.000Z';
function handedIn(name: string, result: Partial<Result> = {}, handIn = 1, saved = SAVED): StudentHandIn {
  return { chapter: 'clip', name, handIn, saved, results: { 'clip/tight': { ...RESULT, ...result } } };
}

function taken(file: string, given: StudentHandIn): ClassFile {
  const read = readClassFile(file, classFileText(given));
  if (!isClassFile(read)) throw new Error(`${file} was not taken: ${read.word}`);
  return read;
}

test('a file of results is read as it was written, and says what it is', () => {
  const given = handedIn('Ada');
  expect(JSON.parse(classFileText(given))).toMatchObject({ schema: SCHEMA, version: 1, chapter: 'clip', name: 'Ada' });
  expect(taken('clip-ada.json', given)).toEqual({ ...given, file: 'clip-ada.json' });
});

const written = JSON.parse(classFileText(handedIn('Ada'))) as Readonly<Record<string, unknown>>;
const changed = (fields: object) => JSON.stringify({ ...written, ...fields });
const result = (fields: object) => changed({ results: { 'clip/tight': { ...RESULT, ...fields } } });
test.each([
  ['', 'damaged', 'an empty file'],
  ['{"schema":', 'damaged', 'not JSON'],
  ['[]', 'foreign', 'JSON without a schema'],
  ['null', 'foreign', 'JSON without a schema'],
  ['{"kind":"run"}', 'foreign', 'JSON without a schema'],
  [changed({ schema: 'other/thing' }), 'foreign', 'schema other/thing'],
  [changed({ version: 2 }), 'newer', '2'],
  [changed({ chapter: 'nowhere' }), 'damaged', 'chapter nowhere'],
  [changed({ chapter: 'kl' }), 'damaged', 'results of clip/tight in a file of kl'],
  [changed({ name: ' ' }), 'damaged', 'no name'],
  [changed({ handIn: -1 }), 'damaged', 'hand-in number -1'],
  [changed({ handIn: 'x' }), 'damaged', 'hand-in number'],
  [changed({ saved: 'yesterday' }), 'damaged', 'no time of saving'],
  [changed({ results: {} }), 'damaged', 'no results'],
  [changed({ results: { 'clip/__proto__': RESULT } }), 'damaged', 'unknown exercise'],
  [result({ predicted: 'perhaps' }), 'damaged', 'predicted is "perhaps", expected one of more, same, fewer'],
  [result({ answer: 'perhaps' }), 'damaged', 'answer is "perhaps"'],
  [result({ numbers: { tight: 'x' } }), 'damaged', 'numbers is fields, expected finite numbers by name'],
  [result({ seed: -1 }), 'damaged', 'seed is -1'],
  [result({ at: 7 }), 'damaged', 'at is 7'],
])('%j is not taken, and told with what was got', (text, word, got) => {
  const read = readClassFile('a.json', text) as FileProblem;
  expect(isClassFile(read)).toBe(false);
  expect(read.word).toBe(word);
  const sentence = say(read.word, read.values);
  expect(sentence).toMatch(/^a\.json /);
  expect(sentence.length).toBeLessThan(400);
  expect(sentence).toContain(got.slice(0, 40));
  expect(sentence).toMatch(/(save|Save|Reload) .+\.$/); // and what to do
});

test('results of several names and chapters are merged into one table, whatever the order of the files', () => {
  const files = [
    taken('b.json', handedIn('Bo', { predicted: 'fewer' })),
    taken('a.json', handedIn('Ada')),
    taken('k.json', {
      ...handedIn('ada '),
      chapter: 'kl',
      results: { 'kl/held': { ...RESULT, predicted: 'nearer', answer: null, numbers: { held: 0.006 } } },
    }),
  ];
  const { files: merged, problems } = mergeFiles([], files);
  expect(problems).toEqual([]);
  const { columns, students } = classTable(merged);
  expect(columns.map(({ key }) => key)).toEqual(['clip/tight', 'kl/held']);
  expect(students.map(({ name, results }) => [name.trim(), Object.keys(results).toSorted()])).toEqual([
    ['Ada', ['clip/tight', 'kl/held']],
    ['Bo', ['clip/tight']],
  ]);
  expect(classTable(mergeFiles([], files.toReversed()).files).students.map(({ results }) => results)).toEqual(
    students.map(({ results }) => results),
  );
  expect(countsOf(students, 'clip/tight')).toEqual({ right: 1, wrong: 1, unclear: 0 });
  expect(countsOf(students, 'kl/held')).toEqual({ right: 0, wrong: 0, unclear: 1 });
  expect(classCsv(merged).split('\r\n')[1]).toBe(
    'Ada,clip,tight,more,more,right,tight,0.1282,7,cpu,1,2026-11-24T08:00:00.000Z',
  );
});

test('the same results twice are left out and named; other results of one name are told, and the newer count', () => {
  const first = taken('first.json', handedIn('Ada'));
  const copy = taken('copy.json', handedIn(' ADA ', {}, 2));
  // the clock was set back in between
  const newer = taken('newer.json', handedIn('Ada', { predicted: 'same', tries: 2 }, 2, '2026-11-23T09:00:00.000Z'));
  const twice = mergeFiles([first], [copy]);
  expect(twice.files).toEqual([first]);
  expect(twice.problems).toEqual([
    { word: 'duplicate', values: { file: 'copy.json', other: 'first.json', name: 'ADA', chapter: 'clip' } },
  ]);
  for (const order of [
    [first, newer],
    [newer, first],
  ]) {
    const { files, problems } = mergeFiles([], order);
    expect(files).toEqual([newer]);
    expect(problems.map(({ word }) => word)).toEqual(['again']);
  }
});

test('of files that do not count hand-ins the one that is opened later counts, whatever their clocks say', () => {
  const uncounted = (file: string, text: string) => {
    const fields = JSON.parse(text) as object;
    Reflect.deleteProperty(fields, 'handIn');
    return readClassFile(file, JSON.stringify(fields)) as ClassFile;
  };
  const early = uncounted('early.json', classFileText(handedIn('Ada', {}, 1, '2026-11-23T09:00:00.000Z')));
  const late = uncounted('late.json', classFileText(handedIn('Ada', { predicted: 'same' }, 1, SAVED)));
  expect(mergeFiles([], [late, early]).files).toEqual([early]);
  expect(mergeFiles([], [early, late]).files).toEqual([late]);
});

test('a name that a spreadsheet would run is written as text', () => {
  const csv = classCsv([taken('x.json', handedIn('=1+1, "x"'))]);
  expect(csv.split('\r\n')[1]).toMatch(/^"'=1\+1, ""x""",clip/);
});
