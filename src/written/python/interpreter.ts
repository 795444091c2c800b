// This file imports only types, because Node runs its text in a separate thread.
import type { loadPyodide as LoadPyodide } from 'pyodide';
import type * as SharedChannelModule from './sharedChannel.ts';

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

export type AnswerMessage = (text: string) => string;

/** Limit on Python's memory and its files together. The files are outside of Python's memory. */
const MAX_MEMORY_BYTES = 512 * 2 ** 20;
const WASM_PAGE_BYTES = 65_536;
const PYODIDE_ABI = '2026_0'; // of Pyodide 314, which checks that a package list has it
/** What a file or folder takes beside its contents, in bytes. */
const NODE_BYTES = 4096;
/** Limit on the Python functions that C may call. JavaScript has a program for each. */
const MAX_CALLBACKS = 1000;
const NO_ADDRESS = -4; // EAI_FAIL
const [NO_SPACE, TOO_MANY_FILES, NOT_PERMITTED, NO_SOCKETS] = [51, 33, 63, 5]; // WASI's error numbers

/**
 * The functions in JavaScript that Python may call while a person's file runs: the system calls of a program without
 * network and processes, and what it takes to convert a text. The file can undo any change of Python's own modules.
 * So the others, such as Pyodide's conversions, which take memory outside of Python's, are refused here.
 */
const ALLOWED_IMPORTS = [
  /^(?:__syscall|fd|environ|clock|invoke|_Py|_PyEM)_/,
  /^_(?:tzset|timegm|mktime|localtime|gmtime|setitimer|mmap|munmap|msync|abort)_js$/,
  /^(?:_try_fcntl64|_maybe_poll_async|getprotobyname|ffi_call_js|ffi_prep_closure_loc_js|can_run_sync_js|random_get|proc_exit|exit|__assert_fail|__call_sighandler)$/,
  /^_?emscripten_(?:date_now|get_now|get_heap_max|resize_heap|runtime_keepalive_\w+|system|get_progname)$/,
  /^(?:js2python_js|_python2js_(?:ascii|ucs[124])|JsvArray_(?:New|Get)|destroy_proxies|pyproxy_Check)$/,
  /^Jsv(?:(?:Error|Promise|Generator|AsyncGenerator|NoValue)_Check|_GetError_import|UTF8ToString)$/,
];
/** System calls that only fail, with these results. */
const FAILING_IMPORTS: ReadonlyMap<string, number> = new Map([
  ['__syscall_pipe', -TOO_MANY_FILES],
  ['__syscall_mknodat', -NOT_PERMITTED],
  ['__syscall_socket', -NO_SOCKETS],
  ['getaddrinfo', NO_ADDRESS],
  ['getnameinfo', NO_ADDRESS],
]);

type Import = (...values: readonly unknown[]) => unknown;
type Write = (stream: { readonly node: FileNode }, data: unknown, from: number, length: number, at: number) => number;

/** A file or folder in Pyodide's file system, which is in JavaScript's memory. */
interface FileNode {
  readonly contents?: Uint8Array | object; // of a file, or the nodes of a folder
  readonly name_next?: FileNode; // the next one with the same hash
}

/** The parts of Emscripten's file system that allocate memory, which its types don't declare. */
interface FileSystem {
  readonly nameTable: readonly (FileNode | undefined)[];
  readonly streams: readonly ({ readonly node: FileNode } | null | undefined)[];
  readonly devices: Readonly<Record<string, { readonly stream_ops: { write: Write } }>>;
  readonly ErrnoError: new (number: number) => Error;
  readonly filesystems: {
    readonly MEMFS: {
      createNode: Import;
      resizeFileStorage: (node: FileNode, size: number) => void;
      readonly stream_ops: { write: Write };
      readonly ops_table: { readonly file: { readonly stream: { write: Write } } };
    };
  };
}

/** The function by which Python tells the host that it begins a request, once Python is closed. */
let begun: unknown = null;
/** Why Python was stopped. Pyodide gives the error other words. */
let refusal: string | null = null;
let callbackCount = 0;
let fileBytes = 0;
/** Whether a request of the current message has begun. */
let isServing = false;

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
    if (this.buffer.byteLength + pages * WASM_PAGE_BYTES + fileBytes > MAX_MEMORY_BYTES)
      throw new RangeError('Python may not have more memory.');
    return Reflect.apply(grow, this, [pages]);
  };
  const { instantiate } = WebAssembly;
  Object.assign(WebAssembly, {
    instantiate: async (program: BufferSource, imports?: WebAssembly.Imports) =>
      instantiate(program, imports && guardedImports(imports)),
  });
}

/** Python's imports, of which most refuse once a person's file runs. */
function guardedImports(imports: WebAssembly.Imports): WebAssembly.Imports {
  const guarded = Object.entries(imports).map(([module, functions]) => {
    if (module.startsWith('GOT.')) return [module, functions]; // addresses, which it makes as they are asked for
    return [module, Object.fromEntries(Object.entries(functions).map(([name, value]) => [name, guard(name, value)]))];
  });
  return Object.fromEntries(guarded) as WebAssembly.Imports;
}

function guard(name: string, value: WebAssembly.ImportValue): WebAssembly.ImportValue {
  if (typeof value !== 'function') return value;
  const original = value as Import;
  const isAllowed = ALLOWED_IMPORTS.some((names) => names.test(name));
  const failure = FAILING_IMPORTS.get(name);
  if (failure !== undefined) return () => failure;
  if (name === 'ffi_closure_alloc_js')
    return (...values: readonly unknown[]) => (++callbackCount > MAX_CALLBACKS ? refuse(name) : original(...values));
  if (name === 'ffi_closure_free_js')
    return (...values: readonly unknown[]) => {
      callbackCount--;
      return original(...values);
    };
  if (isAllowed) return value;
  return (...values: readonly unknown[]) => {
    const isBegin = name === 'JsvFunction_CallBound' && values[0] === begun;
    return begun === null || isBegin ? original(...values) : refuse(name);
  };
}

function refuse(name: string): never {
  refusal = `Python can’t use JavaScript here (${name})`;
  throw new Error(refusal);
}

/** Limits the file system together with Python's memory, and discards all output, which devices would collect. */
function limitFiles(files: FileSystem, memoryBytes: () => number): void {
  const { MEMFS } = files.filesystems;
  const bytesOf = ({ contents }: FileNode) => (ArrayBuffer.isView(contents) ? contents.byteLength : 0);
  const usedBytes = () => {
    const nodes = new Set<FileNode>();
    for (let node of files.nameTable) for (; node; node = node.name_next) nodes.add(node);
    for (const stream of files.streams) if (stream) nodes.add(stream.node);
    let bytes = 0;
    for (const node of nodes) bytes += NODE_BYTES + bytesOf(node);
    return bytes;
  };
  const require = (bytes: number) => {
    const isTooMuch = () => memoryBytes() + fileBytes + bytes > MAX_MEMORY_BYTES;
    if (!isTooMuch()) return;
    fileBytes = usedBytes(); // what was deleted was still counted
    if (isTooMuch()) throw new files.ErrnoError(NO_SPACE);
  };
  const growing = <T>(node: FileNode, size: number, change: () => T): T => {
    const before = bytesOf(node);
    require(size - before);
    const result = change();
    fileBytes += bytesOf(node) - before;
    return result;
  };
  const { createNode, resizeFileStorage } = MEMFS;
  const { write } = MEMFS.stream_ops;
  MEMFS.createNode = (...values) => {
    require(NODE_BYTES);
    fileBytes += NODE_BYTES;
    return createNode(...values);
  };
  MEMFS.resizeFileStorage = (node, size) => growing(node, size, () => resizeFileStorage(node, size));
  const limitedWrite: Write = (stream, data, from, length, at) =>
    growing(stream.node, at + length, () => write(stream, data, from, length, at));
  MEMFS.stream_ops.write = MEMFS.ops_table.file.stream.write = limitedWrite;
  const discard: Write = (_stream, _data, _from, length) => length;
  for (const device of Object.values(files.devices)) device.stream_ops.write = discard;
}

/** A Python that has started: how it answers the host, and its memory as it was before any program of the playground or a person. */
export interface StartedPython {
  readonly answer: AnswerMessage;
  readonly snapshot: Uint8Array<ArrayBuffer> | null; // null: it was itself started from one
}

/**
 * Starts Python; its output is discarded. From the snapshot of an earlier start that takes a seventh of the time: all that Python does
 * until it is ready has been done.
 */
export async function startPython(
  { loadPyodide, createPyodideModule }: Pyodide,
  episodesProgram: string,
  { header }: SharedChannelModule.SharedChannel,
  headerIndex: { readonly requestsBegun: number; readonly interrupt: number },
  earlier: Uint8Array<ArrayBuffer> | null,
): Promise<StartedPython> {
  const doNothing = () => undefined;
  const lockfile = { info: { abi_version: PYODIDE_ABI }, packages: {} }; // no package is ever loaded
  const options = {
    ...{ indexURL: '/', createPyodideModule, jsglobals: {}, stdin: () => null, stdout: doNothing, stderr: doNothing },
    ...{ lockFileContents: lockfile, packageBaseUrl: '/', env: { HOME: '/home', PYTHONHASHSEED: '0' } },
    ...(earlier ? { _loadSnapshot: earlier } : { _makeSnapshot: true }),
  };
  const python = await loadPyodide(options as unknown as Parameters<typeof LoadPyodide>[0]);
  const snapshot = earlier
    ? null
    : (python as unknown as { makeMemorySnapshot(): Uint8Array<ArrayBuffer> }).makeMemorySnapshot();
  // Python reads a signal and then writes 0: one that arrives between the two would be lost, so here reading takes it. While it still reads
  // the message, a signal would end it: on a busy machine that may take as long as a short limit.
  const signals = { get: () => (isServing ? Atomics.exchange(header, headerIndex.interrupt, 0) : 0), set: doNothing };
  python.setInterruptBuffer(Object.defineProperty({}, 0, signals) as Int32Array);
  const begin = () => {
    Atomics.store(header, headerIndex.interrupt, 0);
    isServing = true;
    Atomics.add(header, headerIndex.requestsBegun, 1);
  };
  const makeAnswer = python.runPython(episodesProgram, { filename: 'playground.py' }) as (
    begin: () => void,
  ) => AnswerMessage;
  const answer = makeAnswer(begin);
  const memory = (python as unknown as { readonly _module: { readonly HEAP8: Int8Array } })._module;
  limitFiles(python.FS as FileSystem, () => memory.HEAP8.byteLength);
  begun = begin;
  return { answer, snapshot };
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
    isServing = false;
    try {
      reply = answer(request);
    } catch (error) {
      reply = JSON.stringify({ ended: refusal ?? String(error) });
    }
    sendText(channel, reply, wait);
  }
}
