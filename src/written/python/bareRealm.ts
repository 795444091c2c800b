// This file imports nothing, because Node runs its text in a separate thread.

/**
 * The globals of the language itself (ECMAScript 2026), and text decoders. None of them gives access to network,
 * storage, files or other threads.
 */
const ALLOWED_GLOBALS: ReadonlySet<PropertyKey> = new Set([
  ...['globalThis', 'undefined', 'NaN', 'Infinity', 'Object', 'Boolean', 'Symbol', 'Number', 'BigInt', 'String'],
  ...['Math', 'Date', 'RegExp', 'JSON', 'Intl', 'Reflect', 'Proxy', 'Promise', 'Iterator', 'Array', 'Map', 'Set'],
  ...[
    'WeakMap',
    'WeakSet',
    'WeakRef',
    'FinalizationRegistry',
    'ArrayBuffer',
    'SharedArrayBuffer',
    'DataView',
    'Atomics',
  ],
  ...['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array'],
  ...['BigInt64Array', 'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array', 'WebAssembly'],
  ...['Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'],
  ...['SuppressedError', 'DisposableStack', 'AsyncDisposableStack', 'parseInt', 'parseFloat', 'isFinite', 'isNaN'],
  ...['decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'unescape'],
  ...['TextDecoder', 'TextEncoder'],
]);

/**
 * Removes everything from the thread's global object except the language: network, storage, files, messages, other
 * threads, timers and the console. Text can't be run as code any more either, so nothing can be imported. Throws if
 * something can't be removed. Code that needs one of these later must keep a reference to it before the call.
 */
export function bareRealm(): void {
  for (let level: object | null = globalThis; level && level !== Object.prototype; level = prototypeOf(level)) {
    for (const name of Reflect.ownKeys(level)) if (!ALLOWED_GLOBALS.has(name)) Reflect.deleteProperty(level, name);
    const notRemoved = Reflect.ownKeys(level).filter((name) => !ALLOWED_GLOBALS.has(name) && !isConstant(level, name));
    if (notRemoved.length > 0) {
      throw new Error(`Python isn’t started here: ${notRemoved.map(String).join(', ')} can’t be taken away.`);
    }
  }
  for (const name of ['compileStreaming', 'instantiateStreaming']) Reflect.deleteProperty(WebAssembly, name);
  noCodeFromText();
  stacksAsText();
}

/** Whether a global is a constant number or text, such as Chromium's `TEMPORARY`, which does no harm. */
function isConstant(level: object, name: PropertyKey): boolean {
  const found = Reflect.getOwnPropertyDescriptor(level, name);
  const value: unknown = found?.value;
  return found?.writable === false && ['number', 'string'].includes(typeof value);
}

const prototypeOf = (level: object): object | null => Object.getPrototypeOf(level) as object | null;

/**
 * Blocks the function constructors, which can be reached from every function. `eval` was removed with the other
 * globals.
 */
function noCodeFromText(): void {
  const functions = [
    async () => Promise.resolve(),
    function* () {
      yield 0;
    },
    async function* () {
      yield await Promise.resolve(0);
    },
    () => 0,
  ];
  for (const prototype of functions.map(prototypeOf)) {
    function refuse(): never {
      throw new TypeError('Text can’t be run as code here.');
    }
    refuse.prototype = prototype; // so that `instanceof` still recognizes functions
    Object.defineProperty(prototype, 'constructor', { value: refuse, writable: false, configurable: false });
    if (Object.getPrototypeOf(prototype) === Object.prototype)
      Object.defineProperty(globalThis, 'Function', { value: refuse });
  }
}

function ignore(): void {
  // the value can't be changed
}

/**
 * Makes stacks plain text. With its own `prepareStackTrace`, a program could get the functions on the stack, including
 * the host's.
 */
function stacksAsText(): void {
  for (const name of ['prepareStackTrace', 'stackTraceLimit'] as const) {
    const value: unknown = Reflect.get(Error, name);
    Object.defineProperty(Error, name, { get: () => value, set: ignore, configurable: false });
  }
}
