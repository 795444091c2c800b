import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callerPath, fileError, readWhole, writableFolder, writeWhole } from '../../src/cli/files.ts';
import { ProblemError } from '../../src/base/problem.ts';
import { bundled } from './bundled.ts';

const CLI = path.resolve('scripts/cli.mjs');
const BENCH = path.resolve('bench/run.mjs');
let folder = '';
let bundles = '';
beforeAll(async () => {
  bundles = path.dirname((await bundled())('train'));
  folder = mkdtempSync(path.join(tmpdir(), 'programs-'));
  mkdirSync(path.join(folder, 'bad'));
  writeFileSync(
    path.join(folder, 'bad', 'cut.safetensors'),
    readFileSync('test/golden/tiny-mha-tied.safetensors').subarray(0, 999),
  );
  writeFileSync(path.join(folder, 'bad', 'odd.json'), '{"kind":"advantages","cases":[{"name":"odd"}]}');
  writeFileSync(path.join(folder, 'file'), 'text');
  const shipped = readFileSync('public/environments/guessTheWord.ts', 'utf8');
  writeFileSync(path.join(folder, 'sound.ts'), shipped);
  writeFileSync(path.join(folder, 'looping.ts'), shipped.replace('this.guesses.push(word);', 'for (;;);'));
  writeFileSync(
    path.join(folder, 'escaping.ts'),
    shipped.replace(/reset\(.*\{/, String.raw`$& throw new Error('\x1b]0;title\x07 \x9b31m \r\x7f');`),
  );
  writeFileSync(path.join(folder, 'untyped.ts'), shipped.replace('guess(word: string)', 'guess(word)'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** As scripts/cli.mjs starts a program that it has bundled. */
const RUN = String.raw`run() { name=$1; shift; (cd "$ROOT" && exec node -- "$PROGRAMS/$name.js" "$@"); }`;

/** What a shell in `folder`, which is not the project's, gets from a command; `run` starts a bundled program, `$CLI` bundles it first. */
function shell(command: string): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const env = {
    ...{ ...process.env, CLI: `${process.execPath} ${CLI}`, BENCH: `${process.execPath} ${BENCH}` },
    ...{ ROOT: process.cwd(), PROGRAMS: bundles, CALLER_FOLDER: folder },
  };
  return new Promise((resolve) => {
    execFile('sh', ['-c', `${RUN}\n${command}`], { cwd: folder, env }, (error, out, err) => {
      resolve({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });
}

// prettier-ignore
test.each<[string, number, RegExp]>([
  ['$CLI train --help', 0, /^npm run train -- --preset NAME.*\n.*--env-file FILE.*\n.*--save DIR.*\n$/],
  ['run train --topK 3 --facts none.csv', 1, /^topK: rollouts are drawn from a truncated distribution.*\ntrain: .*none\.csv cannot be read/],
  ['run train --set seed=0x10', 2, /^seed: 0x10 isn’t a whole number.*\n$/],
  ['$BENCH --secnds 10', 2, /^--secnds: no such flag\. Did you mean --seconds\? Have --json, .*\nnpm run bench/],
  ['run golden none', 1, /^golden: .*none cannot be read: there is no such file or folder\..*\n$/],
  ['run golden bad', 1, /^FAIL bad\/cut\.safetensors: safetensors: found a header of .*\nFAIL bad\/odd\.json: case 0: want a name, gamma and lambda.*\n0 within bounds, 2 out of bounds\n$/],
  ['run environment escaping.ts', 1, /escaping\.ts:\d+: .*title.*31m/],
  ['run train --env-file escaping.ts --backend cpu', 1, /escaping\.ts:\d+: .*title.*31m/],
  ['run environment untyped.ts', 1, /^untyped\.ts:\d+: .*word.* has no type\..*\n$/],
  ['run environment sound.ts --episodes 100 --export mine', 0, /^GuessTheWord: guess\(word\); \d+ tasks.*\n.*\nReward, mean: chance [.\d]+, nonsense 0\.00, expert [.\d]+, model before training [.\d]+\.\nNo faults[^]*\nExported to mine: README\.md, environment\.ts, .*quickjs\.wasm\.\n$/],
  ['run environment looping.ts --episodes 10 --export looping', 1, /\nFAULT +looping\.ts:\d+: .*computed too long[^]*\nNothing was exported\..*\n$/],
  ['run environment sound.ts --export .', 2, /^--export: \. .*Name a new folder\.\n$/],
  ['run environment', 2, /^Which file\?\nnpm run environment/],
  ['run experiment ablation --out file/in', 1, /^experiment: .*file\/in\/ablation cannot be written to: a part of its path is a file, not a folder\..*\n$/],
  ['run train --env bandit --updates 1 --evalTasks 8 --backend cpu --json > /dev/full', 1, /train: its output cannot be written \(ENOSPC\)\. Send it elsewhere\.\n$/],
  ['ulimit -f 8; $CLI golden bad', 1, /^golden could not be bundled into .*: .*[Ff]ile too large.*\nThat folder must be writable, on a disk with space\.\n$/],
])('%s is told in a line, without a stack', async (command, code, said) => {
  const got = await shell(command);
  expect(got.out + got.err).toMatch(said);
  expect(got.out + got.err).not.toMatch(/^\s+at /m);
  expect(got.out + got.err).not.toMatch(/(?![\t\n])\p{Cc}/u); // nothing that a terminal obeys
  expect(got.code).toBe(code);
});

test('a file is written whole or what was there stays, and nothing else is left', async () => {
  const file = path.join(folder, 'whole.txt');
  await writeWhole(file, 'first');
  const unwritable = { length: 9 } as unknown as string; // the write fails after the file was opened
  await expect(writeWhole(file, unwritable)).rejects.toThrow(/whole\.txt cannot be written: /);
  expect(readFileSync(file, 'utf8')).toBe('first');
  await writeWhole(file, 'second');
  expect(readFileSync(file, 'utf8')).toBe('second');
  await expect(writeWhole(path.join(folder, 'none', 'x'), '')).rejects.toThrow(
    /none\/x cannot be written: there is no such/,
  );
  await expect(writeWhole(path.join(folder, 'bad'), '')).rejects.toThrow(/bad cannot be written: it isn’t a file/);
  await expect(writeWhole('/dev/full', '')).rejects.toThrow(/full cannot be written: it isn’t a file/); // and it is still there
  await expect(readWhole('/dev/full')).rejects.toThrow(/cannot be read: it isn’t a file/);
  await expect(readWhole(file, 3)).rejects.toThrow(/has 0\.0 MB, and the limit is/);
  await expect(writableFolder(file)).rejects.toThrow(/a file of that name is in the way/);
  expect(readdirSync(folder).filter((name) => name.includes('.tmp'))).toEqual([]);
});

test.each(['ENOSPC', 'EROFS', 'EACCES', 'ENOTDIR', 'EFBIG', 'EWHATEVER'])(
  '%s is one line that names the file',
  (code) => {
    const error = fileError('a\u202eb.json', 'written', Object.assign(new Error(`${code}: x\ny`), { code }));
    expect(error).toBeInstanceOf(ProblemError);
    expect(error.message).toMatch(/^a‹U\+202E›b\.json cannot be written: [^\n]{5,}\.$/);
  },
);

test('paths begin at the folder of the caller', () => {
  process.env['CALLER_FOLDER'] = '/there';
  expect(callerPath('x.csv')).toBe(path.resolve('/there/x.csv'));
  delete process.env['CALLER_FOLDER'];
  expect(callerPath('x.csv')).toBe(path.resolve('x.csv'));
});
