import { expect, test } from 'vitest';
import { type Random, random, Purpose } from '../../src/base/rng.ts';
import type { NamedFile } from '../../src/rollouts/library.ts';
import { ownLines } from '../../src/rollouts/writeOwn.ts';
import { traceLines } from '../../src/rollouts/writeTraces.ts';
import { fileOf, fixture, readAll, recordedBatches } from './reading.ts';
import { processorClock } from '../processorClock.ts';

const GOOD = { input: 'q', output: 'a', score: 1 };
const utf8 = (text: string) => new TextEncoder().encode(text);

test('lines that cannot be read are told by file, line, got and want; all others open', async () => {
  const text = [
    JSON.stringify(GOOD),
    '{"input": "q", "output": "a", "score": 1', // no end
    '[1, 2]',
    JSON.stringify({ input: 'q', output: 3, score: 1 }),
    '',
    JSON.stringify({ other: 1 }),
    '{"input": "q", "output": "a", "score": NaN, "x": [-Infinity, Infinity], "text": "NaN stays"}',
  ].join('\n');
  const { problems, records, files } = await readAll([fileOf('3.jsonl', `${text}\n`)]);
  expect(problems.map(({ file, line }) => [file, line])).toEqual([
    ['3.jsonl', 2],
    ['3.jsonl', 3],
    ['3.jsonl', 4],
    ['3.jsonl', 6],
  ]);
  expect(problems[0]).toMatchObject({ want: 'one JSON object on a line of its own' });
  expect(problems[1]).toMatchObject({ got: 'a list of 2' });
  expect(problems[2]).toMatchObject({ got: '3 for output', want: 'a text' });
  expect(problems[3]).toMatchObject({ got: 'nothing for input', want: 'a text' });
  expect(records.map(({ reward }) => reward)).toEqual([1, null]);
  expect(files[0]).toMatchObject({ badLines: 4, nonFinite: 3 });
  expect(records[1]?.extras).toContainEqual(['text', 'NaN stays']);
});

test('a last line that is cut off is said to be, and one that only lacks its end is read', async () => {
  const whole = JSON.stringify(GOOD);
  const cut = await readAll([fileOf('1.jsonl', `${whole}\n${whole.slice(0, 12)}`)]);
  expect(cut.records).toHaveLength(1);
  expect(cut.problems).toEqual([
    expect.objectContaining({ line: 2, got: expect.stringContaining('cut off') as string }),
  ]);
  const open = await readAll([fileOf('1.jsonl', `${whole}\r\n${whole}`)]);
  expect(open.problems).toEqual([]);
  expect(open.records).toHaveLength(2);
});

test.each<readonly [string, Uint8Array<ArrayBuffer>, RegExp]>([
  ['UTF-16', Uint8Array.from([0xff, 0xfe, 0x7b, 0]), /UTF-16/],
  ['UTF-16 without a mark', Uint8Array.from([0x7b, 0, 0x22, 0]), /UTF-16/],
  [
    'Latin-1',
    Uint8Array.from([...utf8('{"input": "'), 0xfc, ...utf8('", "output": "", "score": 1}\n')]),
    /UTF-8.*Latin-1/,
  ],
  ['a pickle', Uint8Array.from([0x80, 4, 0x95, 1]), /pickle/],
  ['gzip', Uint8Array.from([0x1f, 0x8b, 8, 0]), /gzip/],
  ['an empty file', new Uint8Array(), /empty/],
  ['no Parquet', utf8('PAR1 and nothing of it PAR1'), /something unreadable/],
  ['prose', utf8('Dear diary,\ntoday nothing happened.\n'), /invalid JSON/],
])('%s is named', async (_, bytes, got) => {
  const { problems, records } = await readAll([fileOf('x.jsonl', bytes)]);
  expect(records).toEqual([]);
  expect(problems[0]?.got).toMatch(got);
  expect(problems[0]?.want).not.toBe('');
});

test('a byte order mark, keys in their tens of thousands, __proto__, and deep lists do no harm', async () => {
  const keys = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, i]));
  const many = JSON.stringify({ ...GOOD, ...keys });
  const proto =
    '{"__proto__": {"score": 5, "input": "stolen"}, "constructor": 1, "input": "q", "output": "a", "score": 1}';
  const deep = `{"input": "q", "output": "a", "score": 1, "x": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
  const { records, problems } = await readAll([fileOf('1.jsonl', `\ufeff${many}\n${proto}\n${deep}\n`)]);
  expect(records[0]?.extras.at(-1)).toEqual(['…', 'and 99900 more keys']);
  expect(records[1]).toMatchObject({ reward: 1, step: 1 });
  expect(records[1]?.segments[0]?.text).toBe('q');
  expect(({} as Record<string, unknown>)['input']).toBeUndefined();
  // what cannot be written out is told as a bad line, not thrown
  expect(problems.length + records.length).toBe(3);
});

test('a line of more than 32 MB is passed over, and what stands after it is read', async () => {
  const long = `{"input": "${'x'.repeat(33 * 2 ** 20)}", "output": "", "score": 1}`;
  const { records, problems } = await readAll([fileOf('1.jsonl', `${long}\n${JSON.stringify(GOOD)}\n`)]);
  expect(records).toHaveLength(1);
  expect(problems).toEqual([{ file: '1.jsonl', line: 1, got: 'a line of 33 MB', want: 'at most 32 MB' }]);
});

test('a file of something else is given up after twenty lines, not read to its end', async () => {
  const { problems, records } = await readAll([fileOf('log.jsonl', '{"level": "info"}\n'.repeat(5000))]);
  expect(records).toEqual([]);
  expect(problems).toHaveLength(21);
  expect(problems[0]?.want).toMatch(/verl \(input, output, score\)/);
  expect(problems.at(-1)).toMatchObject({ line: null, got: 'no rollout in its first 20 lines' });
});

/** Files of every format, small. */
async function originals(): Promise<Uint8Array<ArrayBuffer>[]> {
  const { batches, vocabulary } = recordedBatches();
  const [kept] = batches;
  const run = { id: 'run-1', name: 'recorded', started: '2026-01-01T00:00:00Z' };
  const written = [
    ownLines(kept!, vocabulary).slice(0, 2).join(''),
    traceLines(kept!, vocabulary, run).slice(0, 2).join(''),
    `${JSON.stringify({ custom_id: 't', messages: [{ role: 'user', content: 'x' }], metadata: { total_reward: 1 } })}\n`.repeat(
      3,
    ),
    `${JSON.stringify({ step: 1, token_ids: [1, 2], loss_mask: [true, false], advantages: [0, 1] })}\n`.repeat(3),
    `${JSON.stringify({ prompt: 'q', completion: [{ role: 'assistant', content: 'a' }], reward: 1, metrics: {} })}\n`.repeat(
      3,
    ),
  ].map((text) => fileOf('x', text));
  const folders = ['verl-v1', 'verl-legacy', 'agent-r1', 'verifiers', 'trl'];
  const files: NamedFile[] = [...folders.flatMap(fixture), ...written];
  return Promise.all(files.map(async ({ file }) => new Uint8Array(await file.slice(0, file.size).arrayBuffer())));
}

const PIECES = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  'null',
  'NaN',
  '-Infinity',
  '1e999',
  '-1',
  '""',
  '\\',
  '\n',
  '\0',
  '__proto__',
  '\ud800',
  '{}',
  '[]',
];

/** A copy with one to four places damaged: bytes changed, cut, doubled, moved, or a piece of JSON put in place of others. */
function damaged(bytes: Uint8Array<ArrayBuffer>, rng: Random): Uint8Array<ArrayBuffer> {
  let now = bytes;
  for (let n = 1 + rng.int(4); n > 0; n--) {
    const from = rng.int(now.length + 1);
    const to = Math.min(now.length, from + rng.int(40));
    const [head, middle, tail] = [now.slice(0, from), now.slice(from, to), now.slice(to)];
    const piece = utf8(PIECES[rng.int(PIECES.length)] ?? '');
    const between = [
      Uint8Array.from(middle, (byte) => byte ^ (1 << rng.int(8))),
      new Uint8Array(),
      Uint8Array.from([...middle, ...middle]),
      middle.slice().reverse(),
      piece,
      Uint8Array.from([...piece, ...middle]),
    ][rng.int(6)];
    now = rng.int(12) === 0 ? head : Uint8Array.from([...head, ...(between ?? []), ...tail]);
  }
  return now;
}

/** Seconds of the processor; a thousandth of it is usual. */
const MOST_SECONDS = 5;

test('980 damaged files of all formats: each opens or is told of by file, line, got and want, in little time; nothing is thrown', async () => {
  const rng = random(17_2026, Purpose.environment);
  const files = await originals();
  expect(files).toHaveLength(12);
  let told = 0;
  let opened = 0;
  let slowest = 0;
  for (let i = 0; i < 980; i++) {
    const bytes = damaged(files[i % files.length]!, rng);
    const seconds = processorClock();
    const { problems, records } = await readAll([fileOf(`damaged-${i}.jsonl`, bytes)]);
    slowest = Math.max(slowest, seconds());
    for (const { file, line, got, want } of problems) {
      expect(file).toBe(`damaged-${i}.jsonl`);
      expect((line === null || line > 0) && got !== '' && want !== '').toBe(true);
      expect(got).not.toMatch(/undefined|\[object/);
    }
    // a record holds what the page can draw
    for (const { segments, tokens } of records) {
      for (const { from, to } of segments) expect(from === null || (to ?? -1) >= from).toBe(true);
      for (const channel of Object.values(tokens?.channels ?? {})) expect(channel).toHaveLength(tokens!.ids.length);
    }
    told += Number(problems.length > 0);
    opened += Number(records.length > 0);
    expect(problems.length + records.length).toBeGreaterThan(0);
  }
  expect(slowest).toBeLessThan(MOST_SECONDS);
  // both happen: the damage is neither nothing nor everything
  expect(told).toBeGreaterThan(300);
  expect(opened).toBeGreaterThan(300);
});
