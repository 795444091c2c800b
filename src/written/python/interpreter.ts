// This file imports only types, because Node runs its text in a separate thread.
import type { loadPyodide as LoadPyodide } from 'pyodide';
import type * as SharedChannelModule from './sharedChannel.ts';

/** The files that Python is made of. */
export interface PythonFiles {
  readonly pythonWasm: ArrayBuffer; // CPython, compiled to WebAssembly
  readonly library: ArrayBuffer; // its standard library, as a zip
  readonly playground: string; // episodes.py
}

/**
 * The two programs of Pyodide. They look at the globals when they are loaded, so load them after `addPyodideGlobals`.
 */
export interface Pyodide {
  readonly loadPyodide: typeof LoadPyodide;
  readonly createPyodideModule: unknown;
}

/** Answers a message of the host. */
export type AnswerMessage = (text: string) => string;

/** Limit on Python's memory. */
const MAX_MEMORY_BYTES = 512 * 2 ** 20;
const WASM_PAGE_BYTES = 65_536;
const PYODIDE_ABI = '2026_0'; // of Pyodide 314, which checks that a package list has it

/**
 * Adds the globals that Pyodide needs to a thread from which `bareRealm` removed all globals but the language's. They
 * have the form in which a JavaScript shell has them: two files, a clock, and random bytes, which are the same each
 * time.
 */
export function addPyodideGlobals({ pythonWasm, library }: PythonFiles, now: () => number): void {
  const files = new Map([
    ['/pyodide.asm.wasm', pythonWasm],
    ['/python_stdlib.zip', library],
  ]);
  const readbuffer = (name: string) => {
    const bytes = files.get(name);
    if (!bytes) throw new Error(`There is no file ${name} here.`);
    return bytes;
  };
  const doNothing = () => undefined;
  let state = 1;
  const nextByte = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 24;
  };
  Object.assign(globalThis, {
    ...{ read: readbuffer, readbuffer, load: doNothing },
    ...{ performance: { now }, setTimeout: doNothing, clearTimeout: doNothing },
    console: { log: doNothing, info: doNothing, debug: doNothing, warn: doNothing, error: doNothing, trace: doNothing },
    os: { system: (_: string, [, command = '']: readonly string[]) => base64(requestedBytes(command), nextByte) },
  });
  // oxlint-disable-next-line typescript/unbound-method -- it is called below with the right `this`
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (this: WebAssembly.Memory, pages: number) {
    if (this.buffer.byteLength + pages * WASM_PAGE_BYTES > MAX_MEMORY_BYTES)
      throw new RangeError('Python may not have more memory.');
    return Reflect.apply(grow, this, [pages]);
  };
}

/** Starts Python, and returns a function that answers the host. Python's output is discarded. */
export async function startPython(
  { loadPyodide, createPyodideModule }: Pyodide,
  episodesProgram: string,
  { header }: SharedChannelModule.SharedChannel,
  headerIndex: { readonly requestsBegun: number; readonly interrupt: number },
): Promise<AnswerMessage> {
  const doNothing = () => undefined;
  const lockfile = { info: { abi_version: PYODIDE_ABI }, packages: {} }; // no package is ever loaded
  const options = {
    ...{ indexURL: '/', createPyodideModule, jsglobals: {}, stdin: () => null, stdout: doNothing, stderr: doNothing },
    ...{ lockFileContents: lockfile, packageBaseUrl: '/', env: { HOME: '/home', PYTHONHASHSEED: '0' } },
  };
  const python = await loadPyodide(options as unknown as Parameters<typeof LoadPyodide>[0]);
  python.setInterruptBuffer(header.subarray(headerIndex.interrupt, headerIndex.interrupt + 1));
  const begin = () => {
    Atomics.store(header, headerIndex.interrupt, 0);
    Atomics.add(header, headerIndex.requestsBegun, 1);
  };
  const makeAnswer = python.runPython(episodesProgram, { filename: 'playground.py' }) as (
    begin: () => void,
  ) => AnswerMessage;
  return makeAnswer(begin);
}

/** The number of random bytes that Pyodide requests from its shell. */
const requestedBytes = (command: string) => Number(/-c(\d+)/.exec(command)?.[1] ?? 0);

function base64(count: number, nextByte: () => number): string {
  const BASE64_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  let out = '';
  for (let at = 0; at < count; at += 3) {
    const bits = (nextByte() << 16) | (nextByte() << 8) | nextByte();
    for (const shift of [18, 12, 6, 0]) out += BASE64_ALPHABET[(bits >> shift) & 63] ?? '';
  }
  const padding = (3 - (count % 3)) % 3;
  return padding === 0 ? out : out.slice(0, -padding) + '='.repeat(padding);
}

/** Answers the host for ever. It never returns, so the thread's event loop never runs again. */
export function serveForever(
  answer: AnswerMessage,
  { sendText, receiveText, waitForever }: Pick<typeof SharedChannelModule, 'sendText' | 'receiveText' | 'waitForever'>,
  channel: SharedChannelModule.SharedChannel,
): never {
  const wait = waitForever(channel);
  for (;;) {
    const request = receiveText(channel, Infinity, wait);
    let reply: string;
    try {
      reply = answer(request);
    } catch (error) {
      reply = JSON.stringify({ ended: String(error) });
    }
    sendText(channel, reply, wait);
  }
}
