import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { eraseTypes } from '../../src/written/script/declaration.ts';

const REALM = eraseTypes(readFileSync('src/written/python/bareRealm.ts', 'utf8'));

/** What a thread of Node says whose realm was made bare before `program` ran. */
function saidBy(program: string): Promise<unknown> {
  const code = `
    const { parentPort } = require('node:worker_threads');
    const post = parentPort.postMessage.bind(parentPort);
    const exports_ = {};
    (function (exports) { ${REALM} })(exports_);
    try { exports_.bareRealm(); post((() => { ${program} })()); } catch (error) { post(String(error)); }`;
  const worker = new Worker(code, { eval: true });
  return new Promise((resolve, reject) => {
    worker.once('message', (said) => {
      void worker.terminate();
      resolve(said);
    });
    worker.once('error', reject);
  });
}

test('in a bare realm there is the language and nothing else', async () => {
  const names = await saidBy('return Reflect.ownKeys(globalThis).map(String);');
  expect(names).toEqual(expect.arrayContaining(['Object', 'Promise', 'WebAssembly', 'TextDecoder', 'Function']));
  const reaching = [
    'process',
    'require',
    'module',
    'Buffer',
    'fetch',
    'eval',
    'setTimeout',
    'performance',
    'console',
    'global',
  ];
  expect((names as readonly string[]).filter((name) => reaching.includes(name))).toEqual([]);
  expect(await saidBy('return Reflect.ownKeys(Object.getPrototypeOf(globalThis)).map(String);')).not.toContain(
    'constructor',
  );
});

test.each([
  'return Function("return 1")();',
  'return (() => 0).constructor("return 1")();',
  'return (async () => 0).constructor("return 1")();',
  'return (function* () {}).constructor("return 1")();',
  'return (async function* () {}).constructor("return 1")();',
  'return Reflect.construct((() => 0).constructor, ["return 1"])();',
])('no text becomes code: %s', async (program) => {
  expect(await saidBy(program)).toMatch(/Text can’t be run as code/);
});

test('a stack is text: no function of the host comes out of it', async () => {
  const program = `
    let seen = 'nothing';
    Error.prepareStackTrace = (_, sites) => { seen = sites.length; return ''; };
    String(new Error('x').stack);
    return seen;`;
  expect(await saidBy(program)).toBe('nothing');
});

test('where something can’t be taken away, nothing starts', async () => {
  const code = REALM.replace(
    'bareRealm() {',
    "bareRealm() { Object.defineProperty(globalThis, 'door', { value: () => 0 });",
  );
  const worker = new Worker(
    `const { parentPort } = require('node:worker_threads');
     const post = parentPort.postMessage.bind(parentPort);
     const exports_ = {};
     (function (exports) { ${code} })(exports_);
     try { exports_.bareRealm(); post('started'); } catch (error) { post(error.message); }`,
    { eval: true },
  );
  const said = await new Promise((resolve) => worker.once('message', resolve));
  await worker.terminate();
  expect(said).toMatch(/door can’t be taken away/);
});
