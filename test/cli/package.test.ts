import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FolderList } from '../../src/page/files/folderWatch.ts';

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

const above = mkdtempSync(path.join(tmpdir(), 'packed-'));
const folder = path.join(above, 'a folder with blanks');
const bin = path.join(folder, 'node_modules/.bin/rollout-playground');
const npm = (args: readonly string[], cwd: string) => execFileSync('npm', args, { cwd, encoding: 'utf8' });
const run = (...args: string[]) => execFileSync(bin, args, { cwd: folder, encoding: 'utf8' });
let packed: Packed;
beforeAll(() => {
  mkdirSync(folder);
  [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', above], process.cwd())) as [Packed];
  writeFileSync(path.join(folder, 'package.json'), '{}');
  npm(['install', '--no-audit', '--no-fund', '--prefer-offline', path.join(above, packed.filename)], folder);
});
afterAll(() => rmSync(above, { recursive: true, force: true }));

describe('the npm package, packed and installed in an empty folder', () => {
  test('has no source maps, no tests, and at most 25 MB without Pyodide', () => {
    const strange = packed.files.filter((file) => /\.map$|^(?:src|test|node_modules)\//.test(file.path));
    expect(strange).toEqual([]);
    const sizes = packed.files.filter((file) => !/pyodide|python_stdlib/.test(file.path)).map(({ size }) => size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(25e6);
  });

  test('trains from the shipped weights, and writes the run where it was called', () => {
    const printed = run('train', '--preset', 'number-hunt', '--updates', '1', '--seed', '1', '--save', 'mine');
    expect(printed).toMatch(/"kind":"summary".*"updates":1/);
    run('export', '--run', 'mine', '--out', 'model');
    expect(existsSync(path.join(folder, 'model/model.safetensors'))).toBe(true);
  });

  test.each(['train', 'experiment', 'sweep', 'environment', 'export', 'handover', 'adapter', 'talk', 'doctor'])(
    '%s --help names the command as it is typed here',
    (name) => {
      const usage = run(name, '--help');
      expect(usage).toContain('rollout-playground');
      expect(usage).not.toContain('npm run');
    },
  );

  test.each(['guessTheWord.ts', 'hiddenWord.py'])('checks the environment %s, in QuickJS or Pyodide', (name) => {
    const file = path.join('node_modules/rollout-playground/dist/environments', name);
    expect(run('environment', file, '--episodes', '20')).toContain('No faults');
  });

  test('serves the page, and files that are named on the command line, to this machine alone', async () => {
    const port = await new Promise<number>((resolve) => {
      const probe = createServer().listen(0, '127.0.0.1', () => {
        const address = probe.address();
        probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
      });
    });
    writeFileSync(path.join(folder, 'one.jsonl'), '{"input":"a","output":"b","score":1}\n');
    const child = spawn(bin, ['one.jsonl'], { cwd: folder, env: { ...process.env, PORT: `${port}`, CI: 'true' } });
    const address = await new Promise<URL>((resolve) =>
      child.stdout.on('data', (text) => {
        const found = /http\S+/.exec(String(text));
        if (found) resolve(new URL(found[0]));
      }),
    );
    expect(await (await fetch(new URL('/', address))).text()).toContain('Rollout Playground');
    const opened = `/watched/${address.searchParams.get('open')}`;
    const list = (await (await fetch(new URL(opened, address))).json()) as FolderList;
    expect(list.files.map(({ path: name }) => name)).toEqual(['one.jsonl']);
    expect(await (await fetch(new URL(`${opened}/one.jsonl`, address))).text()).toContain('"score":1');
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });

  test('says what there is if a name is neither a command nor a file', () => {
    expect(() => run('trian')).toThrow(/no command and no file trian/);
  });
});
