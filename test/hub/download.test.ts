import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { download, type FileStore } from '../../src/hub/modelDownload.ts';
import { listModel } from '../../src/hub/listing.ts';
import { ProblemError } from '../../src/base/problem.ts';

const ID = 'someone/tiny';
const SHA = 'a'.repeat(40);
const WEIGHTS = Uint8Array.from({ length: 200_000 }, (_, i) => (i * 7919) % 251);
const CONFIG = new TextEncoder().encode('{"model_type": "llama"}\n');
const FILES: Readonly<Record<string, Uint8Array>> = { 'config.json': CONFIG, 'model.safetensors': WEIGHTS };
const gitSha1 = (bytes: Uint8Array) => createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

/** How the hub behaves, and what it was asked. */
let behaviour: { status?: number; cutAt?: number; ranges?: boolean; said?: unknown; damaged?: boolean } = {};
let asked: string[] = [];
let server: Server;
let hub = '';

/** A hub as Hugging Face's: models by their commit, files by range. */
beforeAll(async () => {
  server = createServer((request, response) => {
    response.setHeader('connection', 'close'); // a connection that a test cut is not taken again
    asked.push(`${request.url ?? ''} ${request.headers.range ?? ''}`.trim());
    const { status = 200, cutAt, ranges = true, said, damaged = false } = behaviour;
    if (status !== 200) {
      response.writeHead(status).end();
      return;
    }
    if (request.url?.startsWith('/api/')) {
      response.end(JSON.stringify(said ?? LISTED));
      return;
    }
    const whole = FILES[request.url?.split('/').at(-1) ?? ''] ?? new Uint8Array();
    const bytes = damaged ? whole.map((byte, i) => (i === whole.length - 1 ? byte ^ 1 : byte)) : whole;
    const from = ranges ? Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0) : 0;
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': bytes.length - from,
      ...(from > 0 && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    });
    if (cutAt !== undefined && whole === WEIGHTS) {
      response.write(bytes.subarray(from, cutAt), () => response.socket?.end()); // what was written still arrives
      return;
    }
    response.end(bytes.subarray(from));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  hub = `http://127.0.0.1:${address.port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  behaviour = {};
  asked = [];
});

const LISTED = {
  sha: SHA,
  cardData: { license: 'apache-2.0' },
  siblings: [
    { rfilename: 'model.safetensors', size: 200_000, blobId: 'b'.repeat(40), lfs: { sha256: createHash('sha256').update(WEIGHTS).digest('hex'), size: 200_000 } }, // prettier-ignore
    { rfilename: 'config.json', size: CONFIG.length, blobId: gitSha1(CONFIG) },
    { rfilename: 'onnx/model.onnx', size: 1e9, blobId: 'c'.repeat(40) },
    { rfilename: '../../etc/model.safetensors', size: 1, blobId: 'c'.repeat(40) },
  ],
};

/** A shelf in memory. */
function memoryShelf(): FileStore & { readonly files: Map<string, Uint8Array> } {
  const files = new Map<string, Uint8Array>();
  return {
    files,
    size: (name) => Promise.resolve(files.get(name)?.length ?? 0),
    read: (name, begin, end) => Promise.resolve(files.get(name)?.slice(begin, end) ?? new Uint8Array()),
    append: (name, bytes) => {
      const before = files.get(name) ?? new Uint8Array();
      const after = new Uint8Array(before.length + bytes.length);
      after.set(before);
      after.set(bytes, before.length);
      files.set(name, after);
      return Promise.resolve();
    },
    remove: (name) => {
      files.delete(name);
      return Promise.resolve();
    },
  };
}
const access = () => ({ hub, fetch: globalThis.fetch });

/** Fetches what is listed to a shelf; returns what was told of progress. */
async function fetched(shelf: FileStore, signal = new AbortController().signal): Promise<readonly number[]> {
  const told: number[] = [];
  const listing = await listModel(ID, access());
  await download(listing, { ...access(), store: shelf, signal, onProgress: (bytes) => told.push(bytes) });
  return told;
}

test('only files a model is opened from are listed, with sizes and sums, and nothing outside its folder', async () => {
  const listing = await listModel(ID, access());
  expect(listing).toMatchObject({ id: ID, revision: SHA, license: 'apache-2.0', address: `${hub}/${ID}` });
  expect(listing.files.map(({ name }) => name)).toEqual(['config.json', 'model.safetensors']);
  expect(listing.files[0]).toMatchObject({ sha256: null, gitSha1: gitSha1(CONFIG) });
  expect(asked).toEqual([`/api/models/${ID}/revision/main?blobs=true`]);
});

test('what prompts are made of is listed too: special tokens, and templates in their own folder', async () => {
  const names = ['special_tokens_map.json', 'added_tokens.json', 'additional_chat_templates/tool_use.jinja'];
  const others = ['additional_chat_templates/a/b.jinja', 'additional_chat_templates/../x.jinja', 'vocab.json'];
  const more = [...names, ...others].map((rfilename) => ({ rfilename, size: 1, blobId: 'd'.repeat(40) }));
  behaviour = { said: { ...LISTED, siblings: [...LISTED.siblings, ...more] } };
  const listed = (await listModel(ID, access())).files.map(({ name }) => name);
  expect(names.filter((name) => listed.includes(name))).toEqual(names);
  expect(others.filter((name) => listed.includes(name))).toEqual([]);
});

test('all bytes arrive, from the listed commit, and progress rises to their sum', async () => {
  const shelf = memoryShelf();
  const told = await fetched(shelf);
  expect(shelf.files.get('model.safetensors')).toEqual(WEIGHTS);
  expect(shelf.files.get('config.json')).toEqual(CONFIG);
  expect(told.at(-1)).toBe(200_000 + CONFIG.length);
  expect(told).toEqual([...told].sort((a, b) => a - b));
  expect(asked.slice(1)).toEqual([`/${ID}/resolve/${SHA}/config.json`, `/${ID}/resolve/${SHA}/model.safetensors`]);
});

test('a connection that ends is told, keeps what came, and goes on from there', async () => {
  const shelf = memoryShelf();
  behaviour = { cutAt: 70_000 };
  await expect(fetched(shelf)).rejects.toThrow(ProblemError);
  const have = shelf.files.get('model.safetensors')?.length ?? 0;
  expect(have).toBeGreaterThan(0);
  expect(have).toBeLessThanOrEqual(70_000);
  behaviour = {};
  asked = [];
  await fetched(shelf);
  expect(asked.at(-1)).toBe(`/${ID}/resolve/${SHA}/model.safetensors bytes=${have}-`);
  expect(shelf.files.get('model.safetensors')).toEqual(WEIGHTS);
  asked = [];
  await fetched(shelf); // all is there: only the list is asked for
  expect(asked).toHaveLength(1);
});

test('a server without ranges sends the whole file, which is taken as such', async () => {
  const shelf = memoryShelf();
  await shelf.append('model.safetensors', WEIGHTS.slice(0, 50_000));
  behaviour = { ranges: false };
  await fetched(shelf);
  expect(shelf.files.get('model.safetensors')).toEqual(WEIGHTS);
});

test('bytes with another sum are thrown away, whether they came now or lay there', async () => {
  const shelf = memoryShelf();
  behaviour = { damaged: true };
  await expect(fetched(shelf)).rejects.toThrow(/config\.json: the checksum is [0-9a-f]{40}, not /);
  expect(shelf.files.size).toBe(0);
  behaviour = {};
  await shelf.append('model.safetensors', new Uint8Array(100)); // another beginning
  await expect(fetched(shelf)).rejects.toThrow(/model\.safetensors: the checksum is [0-9a-f]{64}/);
  expect(shelf.files.has('model.safetensors')).toBe(false);
  await shelf.append('model.safetensors', new Uint8Array(300_000)); // longer than the file
  await fetched(shelf);
  expect(shelf.files.get('model.safetensors')).toEqual(WEIGHTS);
});

test('more bytes than were listed are refused', async () => {
  const shelf = memoryShelf();
  behaviour = {
    said: { ...LISTED, siblings: LISTED.siblings.map((file) => ({ ...file, size: 10, lfs: undefined, blobId: null })) },
  };
  await expect(fetched(shelf)).rejects.toThrow(/more than the announced 10 bytes/);
  expect(shelf.files.size).toBe(0);
});

test('pausing ends it at once and keeps what came', async () => {
  const shelf = memoryShelf();
  const pausing = new AbortController();
  const paused = { ...shelf, append: async (name: string, bytes: Uint8Array) => { await shelf.append(name, bytes); if (name.startsWith('model')) pausing.abort(); } }; // prettier-ignore
  await expect(fetched(paused, pausing.signal)).rejects.toThrow(/abort/i);
  expect(shelf.files.get('model.safetensors')?.length).toBeGreaterThan(0);
});

test.each([
  [401, /needs a login/],
  [404, /no longer there/],
  [429, /too many requests/],
  [500, /answered 500: Try again later/],
])('an answer of %i is told in words', async (status, message) => {
  behaviour = { status };
  await expect(fetched(memoryShelf())).rejects.toThrow(message);
});

test('a hub that cannot be reached, or says what is no list, is told', async () => {
  const away = { hub: 'http://127.0.0.1:9', fetch: globalThis.fetch };
  await expect(listModel(ID, away)).rejects.toThrow(/could not be reached .*online/);
  for (const said of [
    null,
    {},
    { sha: 'x', siblings: [] },
    { sha: SHA, siblings: [{ rfilename: 'config.json', size: -1 }] },
  ]) {
    behaviour = { said: said ?? 'null' };
    await expect(listModel(ID, access())).rejects.toThrow(/did not answer with a list of files/);
  }
  behaviour = { said: { sha: SHA, siblings: [{ rfilename: 'config.json', size: 1 }] } };
  await expect(listModel(ID, access())).rejects.toThrow(/has no safetensors files/);
});
