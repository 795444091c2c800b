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
import { request, type Server } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { servePage } from '../scripts/page-server.mjs';
import { tokenOf } from '../scripts/watchedFolder.mjs';
import type { FolderList } from '../src/page/files/folderWatch.ts';
import { embeddedPanel, EMBED_PANELS } from '../src/page/address/panels.ts';

let above = '';
let server: Server;
let named: readonly { readonly path: string; readonly place: string }[] = [];
let port = 0;
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
  const watched = { token: 'def', folder: run };
  server = await servePage(site, { host: '127.0.0.1', port: 0, watched });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  ({ port } = address);
});
afterAll(() => {
  server.close();
  rmSync(above, { recursive: true, force: true });
});

/** An answer to a path that is sent as it stands: fetch would tidy it. */
function get(at: string, method = 'GET', host = `127.0.0.1:${port}`) {
  return new Promise<{ status: number; type: string; sniff: string; cache: string; text: string }>(
    (resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, path: at, method, headers: { host } }, (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
        answer.on('end', () => {
          const {
            'content-type': type = '',
            'x-content-type-options': sniff,
            'cache-control': cache = '',
          } = answer.headers;
          resolve({ status: answer.statusCode ?? 0, type, sniff: String(sniff), cache, text });
        });
      });
      asked.on('error', reject);
      asked.end();
    },
  );
}

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
      const asked = request({ host: '127.0.0.1', port, path: '/large.safetensors', agent: false }, (answer) => {
        answer.once('data', () => asked.destroy());
        answer.on('error', () => undefined).on('close', () => resolve());
      });
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
  const headersOf = async (at: string) => (await fetch(`http://127.0.0.1:${port}${at}`)).headers;
  const panels = Object.keys(EMBED_PANELS).map((name) => `/?embed=${name}`);
  for (const at of [...panels, '/index.html?v=2&embed=rollout', '/?emb%65d=curve', '/?embed=curve&embed=pizza']) {
    expect(embeddedPanel(new URL(at, 'http://host').search), at).not.toBe(null);
    const headers = await headersOf(at);
    expect(headers.get('content-security-policy'), at).toMatch(/script-src 'self'.*; frame-ancestors \*$/);
    expect(headers.get('cross-origin-resource-policy'), at).toBe('cross-origin');
    expect(headers.get('cross-origin-embedder-policy'), at).toBe('require-corp');
  }
  const names = ['pizza', '', 'CURVE', 'curve%20', 'curve%00', '__proto__', 'toString', 'pizza&embed=curve'];
  const wholePages = ['/', '/?v=2', '/?noembed=1', '/?x=?embed=curve', ...names.map((name) => `/?embed=${name}`)];
  for (const at of [...wholePages, '/assets/a-1.js?embed=curve']) {
    if (wholePages.includes(at)) expect(embeddedPanel(new URL(at, 'http://host').search), at).toBe(null);
    const headers = await headersOf(at);
    expect(headers.get('content-security-policy'), at).toMatch(/frame-ancestors 'self'$/);
    expect(headers.get('cross-origin-resource-policy'), at).toBe(null);
  }
});

test('files that were named are listed and handed out under their own paths, of any kind, and nothing else is', async () => {
  const watched = { token: 'abc', files: named };
  const other = await servePage(path.join(above, 'site'), { host: '127.0.0.1', port: 0, watched });
  const { port: at } = other.address() as AddressInfo;
  const asked = (name: string) => fetch(`http://127.0.0.1:${at}/watched/abc${name}`);
  expect(((await (await asked('')).json()) as FolderList).files).toMatchObject([
    { path: 'out/rollouts.safetensors', size: 8 },
  ]);
  expect(await (await asked('/out/rollouts.safetensors')).text()).toBe('rollouts');
  for (const name of ['/rollouts.jsonl', '/0', '/out', '/%', '/out%2f..%2fout%2frollouts.safetensors'])
    expect((await asked(name)).status).toBe(404);
  expect((await fetch(`http://127.0.0.1:${at}/watched/abd`)).status).toBe(403);
  other.close();
});

describe('a watched folder', () => {
  const asked = (at: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`http://127.0.0.1:${port}/watched/${at}`, { headers });
  const filesOf = async () =>
    ((await (await asked('def')).json()) as FolderList).files.toSorted((a, b) => (a.path < b.path ? -1 : 1));

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
    expect(await (await asked('def/step%201/1.jsonl')).text()).toBe('one\ntwo\n');
    const added = await asked('def/step%201/1.jsonl', { range: 'bytes=4-' });
    expect([added.status, added.headers.get('content-range'), await added.text()]).toEqual([
      206,
      'bytes 4-7/8',
      'two\n',
    ]);
    expect((await asked('def/step%201/1.jsonl', { range: 'bytes=8-' })).status).toBe(416);
    expect(await (await asked('def/step%201/1.jsonl', { range: 'bytes=1-2,4-5' })).text()).toBe('one\ntwo\n');
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
    const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, path: `/watched/${at}`, headers }, (found) => {
        let text = '';
        found
          .on('data', (part) => (text += String(part)))
          .on('end', () => resolve({ status: found.statusCode ?? 0, text }));
      });
      sent.on('error', reject).end();
    });
    expect(answer.status).toBe(status);
    expect(answer.text).toMatch(/^[A-Z].*\.\n$/);
    expect(answer.text).not.toContain('secret');
  });

  test('has the same token after a restart, from a key that only this user can read; another folder or user has another one', () => {
    const [home, others] = ['home', 'others'].map((name) => path.join(above, name));
    const token = tokenOf('/runs/a', home);
    expect(token).toMatch(/^[0-9a-f]{32}$/);
    expect(tokenOf('/runs/a', home)).toBe(token);
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
    const other = await servePage(path.join(above, 'site'), { host: '127.0.0.1', port: 0, watched });
    const { port: at } = other.address() as AddressInfo;
    const list = async () => (await (await fetch(`http://127.0.0.1:${at}/watched/def`)).json()) as FolderList;
    expect(await list()).toMatchObject({ missing: true, files: [] });
    mkdirSync(watched.folder);
    expect(await list()).toMatchObject({ missing: false, files: [], folder: 'later' });
    other.close();
  });
});
