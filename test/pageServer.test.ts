import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { servePage } from '../scripts/page-server.mjs';
import { tokenOf, type WatchedFolder } from '../scripts/watchedFolder.mjs';
import type { FolderList } from '../src/page/files/folderWatch.ts';
import { copySources } from '../tools/pythonPackage.mjs';
import { embeddedPanel, EMBED_PANELS } from '../src/page/address/screens.ts';

interface Served {
  readonly port: number;
  readonly close: () => unknown;
}
let above = '';
let node: Served;
let python: Served | null = null;
let named: readonly { readonly path: string; readonly place: string }[] = [];
beforeAll(async () => {
  above = realpathSync(mkdtempSync(path.join(tmpdir(), 'page-')));
  const site = path.join(above, 'site');
  mkdirSync(path.join(site, 'assets'), { recursive: true });
  mkdirSync(path.join(above, 'site-too'));
  writeFileSync(path.join(above, 'secret.txt'), 'secret');
  writeFileSync(path.join(above, 'site-too', 'secret.txt'), 'secret');
  symlinkSync(path.join(above, 'secret.txt'), path.join(site, 'link.txt'));
  for (const name of [
    'index.html',
    'sw.js',
    'manifest.webmanifest',
    'icon.svg',
    'recording.json',
    'assets/a-1.js',
    'assets/a-1.css',
    'w.safetensors',
  ]) {
    writeFileSync(path.join(site, name), name);
  }
  writeFileSync(path.join(above, 'rollouts.jsonl'), 'rollouts');
  named = [{ path: 'out/rollouts.safetensors', place: path.join(above, 'rollouts.jsonl') }];
  const run = path.join(above, 'run');
  mkdirSync(path.join(run, 'step 1'), { recursive: true });
  writeFileSync(path.join(run, 'step 1', '1.jsonl'), 'one\ntwo\n');
  writeFileSync(path.join(run, 'model.safetensors'), 'weights');
  writeFileSync(path.join(run, 'huge.jsonl'), '');
  truncateSync(path.join(run, 'huge.jsonl'), 2 ** 30 + 1); // sparse
  writeFileSync(path.join(above, 'outside.jsonl'), 'secret');
  symlinkSync(path.join(above, 'outside.jsonl'), path.join(run, 'link.jsonl'));
  symlinkSync(above, path.join(run, 'up'));
  [node, python] = await inBoth(site, { token: 'def', folder: run });
});
afterAll(() => {
  node.close();
  python?.close();
  rmSync(above, { recursive: true, force: true });
});

async function inNode(site: string, watched: WatchedFolder): Promise<Served> {
  const server = await servePage(site, { host: '127.0.0.1', port: 0, watched });
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

const HAS_PYTHON = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 10))']).status === 0;
const SERVE =
  'import json, sys; from rollout_playground.server import PageServer; server = PageServer(port=0, **json.load(sys.stdin)); ' +
  'print(server.server_port, flush=True); server.serve_forever()';

/** The server of the Python package; null where there is no Python. */
async function inPython(site: string, watched: WatchedFolder): Promise<Served | null> {
  if (!HAS_PYTHON) return null;
  const sources = mkdtempSync(path.join(above, 'python-'));
  copySources(sources);
  const child = spawn('python3', ['-c', SERVE], { env: { ...process.env, PYTHONPATH: sources } });
  child.stdin.end(JSON.stringify({ site, watched }));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(line), close: () => child.kill() };
}

const inBoth = (site: string, watched: WatchedFolder) => Promise.all([inNode(site, watched), inPython(site, watched)]);

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** An answer to a path that is sent as it stands: fetch would tidy it. */
function answerOf({ port }: Served, at: string, method: string, headers: Readonly<Record<string, string>>) {
  return new Promise<Answer>((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: at, method, headers }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** What differs between two programs and two moments: how answers are framed, and the time in a list. */
function comparable({ status, headers, text }: Answer) {
  const {
    date: _,
    connection: __,
    'keep-alive': ___,
    'transfer-encoding': ____,
    'content-length': _____,
    ...rest
  } = headers;
  if (!text.startsWith('{"folder"')) return { status, headers: rest, text };
  const { now, files, ...list } = JSON.parse(text) as FolderList;
  expect(Math.abs(now - Date.now())).toBeLessThan(60_000); // a clock in ms
  // a double of nanoseconds, rounded at another place
  const rounded = files.map((file) => ({ ...file, changed: Math.round(file.changed) }));
  return { status, headers: rest, list, files: rounded.toSorted((a, b) => (a.path < b.path ? -1 : 1)) };
}

/** What both servers answer: in status, headers and text the same. */
async function exchange(
  at: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
  asked = { node, python },
) {
  const answer = await answerOf(asked.node, at, method, headers);
  if (asked.python)
    expect(comparable(await answerOf(asked.python, at, method, headers)), `${method} ${at}`).toEqual(
      comparable(answer),
    );
  return answer;
}

async function get(at: string, method = 'GET', host = '127.0.0.1:80') {
  const { status, headers, text } = await exchange(at, { host }, method);
  const { 'content-type': type = '', 'x-content-type-options': sniff, 'cache-control': cache = '' } = headers;
  return { status, type: String(type), sniff: String(sniff), cache: String(cache), text };
}

test('the server of the Python package gives each answer of this file, too', ({ skip }) => {
  skip(!HAS_PYTHON, 'needs Python 3.10');
  expect(python?.port).toBeGreaterThan(0);
});

test.each([
  ['/', 'text/html', 'index.html'],
  ['/?v=1', 'text/html', 'index.html'],
  ['/index.html', 'text/html', 'index.html'],
  ['/sw.js', 'text/javascript', 'sw.js'],
  ['/assets/a-1.js', 'text/javascript', 'assets/a-1.js'],
  ['/assets/a-1.css', 'text/css', 'assets/a-1.css'],
  ['/manifest.webmanifest', 'application/manifest+json', 'manifest.webmanifest'],
  ['/icon.svg', 'image/svg+xml', 'icon.svg'],
  ['/recording.json', 'application/json', 'recording.json'],
  ['/w.safetensors', 'application/octet-stream', 'w.safetensors'],
])('%s is %s', async (at, type, text) => {
  const got = await get(at);
  expect(got).toMatchObject({ status: 200, text, sniff: 'nosniff' });
  expect(got.type.split(';')[0]).toBe(type);
  expect(got.cache.includes('immutable')).toBe(at.startsWith('/assets/')); // what carries its hash in its name
  expect((await get(at, 'HEAD')).text).toBe('');
});

test.each([
  ...[
    '/none',
    '/lab',
    '/assets',
    '/assets/',
    '/index.html/',
    '/assets/none.js',
    '/link.txt',
    '//secret.txt',
    '/%00',
    '/%',
    '/a\\..\\b',
  ],
  ...[
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/assets/../../secret.txt',
    '/../site-too/secret.txt',
    '/%252e%252e/secret.txt',
  ],
])('%s is not there, and no page instead', async (at) => {
  expect(await get(at)).toMatchObject({ status: 404, text: 'There is no such file here.\n', sniff: 'nosniff' });
});

/** How often this process has a file open. */
const timesOpen = (file: string) =>
  readdirSync('/proc/self/fd').filter((descriptor) => {
    const link = `/proc/self/fd/${descriptor}`;
    return existsSync(link) && readlinkSync(link) === file;
  }).length;

test('300 downloads that are given up leave no file open, and it serves on', async ({ skip }) => {
  skip(!existsSync('/proc/self/fd'), 'open files are counted under /proc');
  const large = path.join(above, 'site', 'large.safetensors');
  writeFileSync(large, new Uint8Array(2 ** 23)); // more than a socket takes at once
  const giveUp = () =>
    new Promise<void>((resolve, reject) => {
      const asked = request(
        { host: '127.0.0.1', port: node.port, path: '/large.safetensors', agent: false },
        (answer) => {
          answer.once('data', () => asked.destroy());
          answer.on('error', () => undefined).on('close', () => resolve());
        },
      );
      asked.on('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? resolve() : reject(error)));
      asked.end();
    });
  for (let batch = 0; batch < 10; batch++) await Promise.all(Array.from({ length: 30 }, giveUp));
  await expect.poll(() => timesOpen(large)).toBe(0);
  expect(await get('/index.html')).toMatchObject({ status: 200 });
});

test.each(['GET', 'HEAD'])('a file that vanishes during a %s is not there, and the server lives on', async (method) => {
  const vanishing = path.join(above, 'site', 'vanishing.json');
  const { statSync } = fs;
  writeFileSync(vanishing, '{}');
  Object.assign(fs, {
    statSync: (file: string) => {
      const found = statSync(file);
      rmSync(vanishing, { force: true });
      return found;
    },
  });
  syncBuiltinESMExports();
  try {
    expect(await get('/vanishing.json', method)).toMatchObject({ status: 404 });
  } finally {
    Object.assign(fs, { statSync });
    syncBuiltinESMExports();
  }
  expect(await get('/index.html')).toMatchObject({ status: 200, text: 'index.html' });
  writeFileSync(path.join(above, 'site', 'empty.txt'), '');
  expect(await get('/empty.txt', method)).toMatchObject({ status: 200, text: '' });
});

test('nothing is taken', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) expect((await get('/', method)).status).toBe(405);
});

test('pages of other sites may frame a panel of the page, isolated ones too, and nothing but a panel', async () => {
  const headersOf = async (at: string) => (await exchange(at)).headers;
  const panels = Object.keys(EMBED_PANELS).map((name) => `/?embed=${name}`);
  for (const at of [...panels, '/index.html?v=2&embed=rollout', '/?emb%65d=curve', '/?embed=curve&embed=pizza']) {
    expect(embeddedPanel(new URL(at, 'http://host').search), at).not.toBe(null);
    const headers = await headersOf(at);
    expect(headers['content-security-policy'], at).toMatch(/script-src 'self'.*; frame-ancestors \*$/);
    expect(headers['cross-origin-resource-policy'], at).toBe('cross-origin');
    expect(headers['cross-origin-embedder-policy'], at).toBe('require-corp');
  }
  const names = ['pizza', '', 'CURVE', 'curve%20', 'curve%00', '__proto__', 'toString', 'pizza&embed=curve'];
  const wholePages = ['/', '/?v=2', '/?noembed=1', '/?x=?embed=curve', ...names.map((name) => `/?embed=${name}`)];
  for (const at of [...wholePages, '/assets/a-1.js?embed=curve']) {
    if (wholePages.includes(at)) expect(embeddedPanel(new URL(at, 'http://host').search), at).toBe(null);
    const headers = await headersOf(at);
    expect(headers['content-security-policy'], at).toMatch(/frame-ancestors 'self'$/);
    expect(headers['cross-origin-resource-policy'], at).toBeUndefined();
  }
});

test('files that were named are listed and handed out under their own paths, of any kind, and nothing else is', async () => {
  const [ofNode, ofPython] = await inBoth(path.join(above, 'site'), { token: 'abc', files: named });
  const asked = (at: string) =>
    exchange(`/watched/${at}`, { host: '127.0.0.1:80' }, 'GET', { node: ofNode, python: ofPython });
  expect((JSON.parse((await asked('abc')).text) as FolderList).files).toMatchObject([
    { path: 'out/rollouts.safetensors', size: 8 },
  ]);
  expect((await asked('abc/out/rollouts.safetensors')).text).toBe('rollouts');
  for (const name of ['rollouts.jsonl', '0', 'out', '%', 'out%2f..%2fout%2frollouts.safetensors'])
    expect((await asked(`abc/${name}`)).status).toBe(404);
  expect((await asked('abd')).status).toBe(403);
  ofNode.close();
  ofPython?.close();
});

describe('a watched folder', () => {
  const host = '127.0.0.1:80';
  const asked = (at: string, headers: Readonly<Record<string, string>> = {}) =>
    exchange(`/watched/${at}`, { host, ...headers });
  const filesOf = async () =>
    (JSON.parse((await asked('def')).text) as FolderList).files.toSorted((a, b) => (a.path < b.path ? -1 : 1));

  test('is listed anew each time: readable files only, no links, and a file over 1 GB with the reason why it is refused', async () => {
    expect(await filesOf()).toMatchObject([
      { path: 'huge.jsonl', refused: 'larger than 1 GB' },
      { path: 'step 1/1.jsonl', size: 8 },
    ]);
    writeFileSync(path.join(above, 'run', '2.jsonl'), 'x');
    expect((await filesOf()).map((file) => file.path)).toEqual(['2.jsonl', 'huge.jsonl', 'step 1/1.jsonl']);
    rmSync(path.join(above, 'run', '2.jsonl'));
  });

  test('hands out a file, or what was added to it since a byte', async () => {
    expect((await asked('def/step%201/1.jsonl')).text).toBe('one\ntwo\n');
    const added = await asked('def/step%201/1.jsonl', { range: 'bytes=4-' });
    expect([added.status, added.headers['content-range'], added.text]).toEqual([206, 'bytes 4-7/8', 'two\n']);
    expect((await asked('def/step%201/1.jsonl', { range: 'bytes=8-' })).status).toBe(416);
    expect((await asked('def/step%201/1.jsonl', { range: 'bytes=1-2,4-5' })).text).toBe('one\ntwo\n');
  });

  test.each([
    ['a path that leads out', 'def/../outside.jsonl', {}, 404],
    ['the same, encoded', 'def/%2e%2e/outside.jsonl', {}, 404],
    ['with an encoded slash', 'def/..%2foutside.jsonl', {}, 404],
    ['a link', 'def/link.jsonl', {}, 404],
    ['a folder that is a link', 'def/up/outside.jsonl', {}, 404],
    ['a file of another kind', 'def/model.safetensors', {}, 404],
    ['more than 1 GB', 'def/huge.jsonl', {}, 413],
    ['a wrong token', 'deg', {}, 403],
    ['no token', '', {}, 403],
    ['a name of elsewhere that leads here', 'def', { host: 'evil.example' }, 403],
    ['another origin', 'def', { origin: 'http://evil.example' }, 403],
    ['another port of this machine', 'def', { 'sec-fetch-site': 'same-site' }, 403],
  ])('refuses %s, with a reason', async (_, at, headers, status) => {
    const answer = await asked(at, headers);
    expect(answer.status).toBe(status);
    expect(answer.text).toMatch(/^[A-Z].*\.\n$/);
    expect(answer.text).not.toContain('secret');
  });

  test('has the same token after a restart, from a key that only this user can read; another folder or user has another one', () => {
    const [home, others] = ['home', 'others'].map((name) => path.join(above, name));
    const token = tokenOf('/runs/a', home);
    expect(token).toMatch(/^[0-9a-f]{32}$/);
    expect(tokenOf('/runs/a', home)).toBe(token);
    if (HAS_PYTHON) {
      const ask =
        'import sys; from rollout_playground.command import token_of; print(token_of("/runs/a", sys.argv[1]), end="")';
      const sources = mkdtempSync(path.join(above, 'python-'));
      copySources(sources);
      const asked = spawnSync('python3', ['-c', ask, home!], { env: { ...process.env, PYTHONPATH: sources } });
      expect(`${asked.stdout.toString()}${asked.stderr.toString()}`).toBe(token);
    }
    expect(new Set([token, tokenOf('/runs/b', home), tokenOf('/runs/a', others)]).size).toBe(3);
    const key = path.join(home!, 'rollout-playground', 'watch-key');
    expect(statSync(key).mode & 0o777).toBe(0o600);
    // a key that others can read, a link or a cut one is replaced; without a place for one, the token is new each time
    const spoils = [
      () => chmodSync(key, 0o644),
      () => truncateSync(key, 5),
      () => {
        rmSync(key);
        symlinkSync(path.join(above, 'secret.txt'), key);
      },
    ];
    for (const spoil of spoils) {
      const before = tokenOf('/runs/a', home);
      spoil();
      expect(tokenOf('/runs/a', home)).not.toBe(before);
      expect([statSync(key).mode & 0o777, statSync(key).size]).toEqual([0o600, 32]);
    }
    const blocked = path.join(above, 'secret.txt');
    expect(tokenOf('/runs/a', blocked)).not.toBe(tokenOf('/runs/a', blocked));
  });

  test('that does not exist yet is said to be missing', async () => {
    const watched = { token: 'def', folder: path.join(above, 'later') };
    const site = path.join(above, 'site');
    const [ofNode, ofPython] = await inBoth(site, watched);
    const later = { node: ofNode, python: ofPython };
    const list = async () => JSON.parse((await exchange('/watched/def', { host }, 'GET', later)).text) as FolderList;
    expect(await list()).toMatchObject({ missing: true, files: [] });
    mkdirSync(watched.folder);
    expect(await list()).toMatchObject({ missing: false, files: [], folder: 'later' });
    ofNode.close();
    ofPython?.close();
  });
});
