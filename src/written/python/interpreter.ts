// Imports types alone: Node runs its text in a thread of its own.
import type { loadPyodide as LoadPyodide } from 'pyodide';
import type * as Talking from './sharedTalk.ts';

/** The files that Python is made of. */
export interface PythonFiles {
  readonly machine: ArrayBuffer; // CPython, compiled to WebAssembly
  readonly library: ArrayBuffer; // its standard library, as a zip
  readonly playground: string; // episodes.py
}

/** The two programs of Pyodide. They look around when they are loaded, so that has to happen after `addPyodideGlobals`. */
export interface Pyodide {
  readonly loadPyodide: typeof LoadPyodide;
  readonly createPyodideModule: unknown;
}

/** Answers a text of the host. */
export type Answer = (text: string) => string;

/** Bytes that Python may have. */
const MOST_MEMORY = 512 * 2 ** 20;
const PAGE = 65_536;
const ABI = '2026_0'; // of Pyodide 314, which asks a list of packages for it

/**
 * Puts into a bare realm what Pyodide asks for, as it does in a JavaScript shell: two files, a clock, and random bytes, which are the same
 * each time.
 */
export function addPyodideGlobals({ machine, library }: PythonFiles, now: () => number): void {
  const files = new Map([
    ['/pyodide.asm.wasm', machine],
    ['/python_stdlib.zip', library],
  ]);
  const readbuffer = (name: string) => {
    const bytes = files.get(name);
    if (!bytes) throw new Error(`There is no file ${name} here.`);
    return bytes;
  };
  const silent = () => undefined;
  let random = 1;
  const next = () => {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    return random >>> 24;
  };
  Object.assign(globalThis, {
    ...{ read: readbuffer, readbuffer, load: silent },
    ...{ performance: { now }, setTimeout: silent, clearTimeout: silent },
    console: { log: silent, info: silent, debug: silent, warn: silent, error: silent, trace: silent },
    os: { system: (_: string, [, command = '']: readonly string[]) => base64(bytesAsked(command), next) },
  });
  // oxlint-disable-next-line typescript/unbound-method -- it is called on the memory that it was asked of
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (this: WebAssembly.Memory, pages: number) {
    if (this.buffer.byteLength + pages * PAGE > MOST_MEMORY) throw new RangeError('Python may not have more memory.');
    return Reflect.apply(grow, this, [pages]);
  };
}

/** Starts Python; returns what answers the host. What it prints goes nowhere. */
export async function startPython(
  { loadPyodide, createPyodideModule }: Pyodide,
  playground: string,
  { header }: Talking.Talk,
  place: { readonly began: number; readonly interrupt: number },
): Promise<Answer> {
  const silent = () => undefined;
  const lockfile = { info: { abi_version: ABI }, packages: {} }; // no package is ever loaded
  const options = {
    ...{ indexURL: '/', createPyodideModule, jsglobals: {}, stdin: () => null, stdout: silent, stderr: silent },
    ...{ lockFileContents: lockfile, packageBaseUrl: '/', env: { HOME: '/home', PYTHONHASHSEED: '0' } },
  };
  const python = await loadPyodide(options as unknown as Parameters<typeof LoadPyodide>[0]);
  python.setInterruptBuffer(header.subarray(place.interrupt, place.interrupt + 1));
  const begin = () => {
    Atomics.store(header, place.interrupt, 0);
    Atomics.add(header, place.began, 1);
  };
  const make = python.runPython(playground, { filename: 'playground.py' }) as (begin: () => void) => Answer;
  return make(begin);
}

/** How many bytes of chance Pyodide asks its shell for. */
const bytesAsked = (command: string) => Number(/-c(\d+)/.exec(command)?.[1] ?? 0);

function base64(count: number, next: () => number): string {
  const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  let out = '';
  for (let at = 0; at < count; at += 3) {
    const bits = (next() << 16) | (next() << 8) | next();
    for (const shift of [18, 12, 6, 0]) out += LETTERS[(bits >> shift) & 63] ?? '';
  }
  const spare = (3 - (count % 3)) % 3;
  return spare === 0 ? out : out.slice(0, -spare) + '='.repeat(spare);
}

/** Answers the host from now on. It never comes back: what waits for this thread's next turn waits for ever. */
export function serveForever(
  answer: Answer,
  { sendText, receiveText, waitForever }: Pick<typeof Talking, 'sendText' | 'receiveText' | 'waitForever'>,
  talk: Talking.Talk,
): never {
  const wait = waitForever(talk);
  for (;;) {
    const asked = receiveText(talk, Infinity, wait);
    let reply: string;
    try {
      reply = answer(asked);
    } catch (error) {
      reply = JSON.stringify({ ended: String(error) });
    }
    sendText(talk, reply, wait);
  }
}
