import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FILE_NAMES } from '../../src/checkpoints/checkpointFolder.ts';
import { readFolder, checkWritable, COMPLETED_FOLDER, writeFolder } from '../../src/cli/diskFolders.ts';

let folder = '';
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'folders-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (...names: readonly string[]) => path.join(folder, ...names);
const text = (...names: readonly string[]) => readFileSync(at(...names), 'utf8');
const files = (contents: Readonly<Record<string, string>>) =>
  new Map(Object.entries(contents).map(([name, content]) => [name, new TextEncoder().encode(content)]));

test('files in a folder of their own are written a second time, and nothing half done stays', async () => {
  await writeFolder(at('twice'), files({ 'run.sh': 'first', 'model/config.json': 'first', 'model/only': 'stays' }));
  await writeFolder(at('twice'), files({ 'run.sh': 'second', 'model/config.json': 'second', 'model/deep/er': 'new' }));
  expect(text('twice', 'run.sh')).toBe('second');
  expect(text('twice', 'model', 'config.json')).toBe('second');
  expect(text('twice', 'model', 'deep', 'er')).toBe('new');
  expect(text('twice', 'model', 'only')).toBe('stays');
  expect(readdirSync(at('twice')).sort()).toEqual(['model', 'run.sh']);
});

test('a write that was killed between two of its files is brought to its end by the next reader, folders too', async () => {
  await writeFolder(at('killed'), files({ 'config.json': 'old', 'model/config.json': 'old' }));
  mkdirSync(at('killed', COMPLETED_FOLDER, 'model'), { recursive: true });
  writeFileSync(at('killed', COMPLETED_FOLDER, 'config.json'), 'new');
  writeFileSync(at('killed', COMPLETED_FOLDER, 'model', 'config.json'), 'new');
  const read = await readFolder(at('killed'));
  expect(new TextDecoder().decode(read.get('config.json'))).toBe('new');
  expect(text('killed', 'model', 'config.json')).toBe('new');
  expect(existsSync(at('killed', COMPLETED_FOLDER))).toBe(false);
});

test('a checkpoint leaves no file of the one before it; files that are no checkpoint leave a checkpoint as it is', async () => {
  const first = { [FILE_NAMES.manifest]: 'a', [FILE_NAMES.weights]: 'a', [FILE_NAMES.valueHead]: 'a' };
  await writeFolder(at('kept'), files(first));
  await writeFolder(at('kept'), files({ 'run.sh': 'b', [FILE_NAMES.card]: 'b' }));
  expect(readdirSync(at('kept')).sort()).toEqual([...Object.keys(first), FILE_NAMES.card, 'run.sh'].sort());
  await writeFolder(at('kept'), files({ [FILE_NAMES.manifest]: 'c', [FILE_NAMES.weights]: 'c' }));
  expect(readdirSync(at('kept')).sort()).toEqual([FILE_NAMES.manifest, FILE_NAMES.weights, 'run.sh'].sort());
});

test('a place where the system makes no folders, a file in the way and a file above end in a sentence, at once', async ({
  skip,
}) => {
  skip(!existsSync('/proc/self'), 'a system without /proc');
  writeFileSync(at('a file'), 'mine');
  await expect(checkWritable('/proc/x/y')).rejects.toThrow(
    /^\/proc\/x cannot be written to: .* Choose another place\.$/,
  );
  await expect(writeFolder('/proc/x', files({ a: '' }))).rejects.toThrow(/^\/proc\/x cannot be written to/);
  await expect(checkWritable('/proc/x.zip')).rejects.toThrow(/^\/proc cannot be written to/);
  await expect(checkWritable(at('a file'))).rejects.toThrow(/a file of that name is in the way/);
  await expect(checkWritable(at('a file', 'x'))).rejects.toThrow(/a part of its path is a file/);
  await checkWritable(at('new', 'deep'));
  expect(readdirSync(at('new', 'deep'))).toEqual([]);
});
