import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import playground from '../written/python/episodes.py?raw';
import type { PythonFiles } from '../written/python/interpreter.ts';
import type { StartPython } from '../written/python/pythonSandbox.ts';
import { threadPrograms, type ThreadPrograms } from '../written/python/threadPrograms.ts';

/** JavaScript in a text: the bundle has no file for it. It takes what it needs of Node before `bareRealm` removes the rest. */
const THREAD_CODE = `'use strict';
const { parentPort, workerData: { programs, files, shared, earlier } } = require('node:worker_threads');
const { runInThisContext } = require('node:vm');
const post = parentPort.postMessage.bind(parentPort);
const now = performance.now.bind(performance);
const prepared = (name) => runInThisContext("(function (exports) { 'use strict'; " + programs[name] + '\\n})', { filename: name + '.js' });
const run = (program) => { const exports = {}; program(exports); return exports; };
const [realm, talking, interpreter] = ['realm', 'talk', 'interpreter'].map((name) => run(prepared(name)));
const [loader, module_] = ['loader', 'module'].map(prepared);
(async () => {
  realm.bareRealm();
  interpreter.addPyodideGlobals(files, now);
  const talk = talking.channelSide('thread', shared);
  const { answer, snapshot } = await interpreter.startPython({ ...run(loader), ...run(module_) }, files.playground, talk, talking.Place, earlier);
  post({ snapshot });
  interpreter.serveForever(answer, talking, talk);
})().catch((error) => post({ failed: String(error) }));
`;

type Started = { readonly snapshot: Uint8Array<ArrayBuffer> | null } | { readonly failed: string };

/** Python's memory as it was when it first started. */
let snapshot: Uint8Array<ArrayBuffer> | null = null;
let pyodide: { readonly programs: ThreadPrograms; readonly files: PythonFiles } | null = null;

/** Starts Python in a thread of Node. It doesn't keep the process alive. */
export const startPython: StartPython = (shared) => {
  pyodide ??= readPyodide();
  const worker = new Worker(THREAD_CODE, {
    eval: true,
    env: {},
    stdin: false,
    workerData: { ...pyodide, shared, earlier: snapshot },
  });
  const started = new Promise<void>((resolve, reject) => {
    worker.once('message', (message: Started) => {
      worker.unref(); // not earlier: a process that waits only for this message would end
      if ('failed' in message) reject(new Error(`Python could not be started: ${message.failed}`));
      else {
        snapshot ??= message.snapshot;
        resolve();
      }
    });
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('Python ended as it was started.')));
  });
  return { ready: started, end: () => void worker.terminate() };
};

function readPyodide(): NonNullable<typeof pyodide> {
  const { resolve } = createRequire(import.meta.url);
  const bytes = (name: string) => new Uint8Array(readFileSync(resolve(`pyodide/${name}`))).buffer;
  const text = (name: string) => readFileSync(resolve(`pyodide/${name}`), 'utf8');
  return {
    programs: threadPrograms(text('pyodide.mjs'), text('pyodide.asm.mjs')),
    files: { pythonWasm: bytes('pyodide.asm.wasm'), library: bytes('python_stdlib.zip'), playground },
  };
}
