// Imports nothing: Node runs its text in a thread of its own.

/** What the language itself has (ECMAScript 2026), and decoders of text: nothing of it reaches a network, a storage, a file or another thread. */
const KEPT: ReadonlySet<PropertyKey> = new Set([
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
 * Takes away everything that the thread's global object has besides the language: network, storage, files, messages, other threads,
 * timers and the console. No text becomes code any more either, so nothing can be imported. Throws where something can't be taken away.
 * Code that needs one of these later has to keep a reference to it before the call.
 */
export function bareRealm(): void {
  for (let level: object | null = globalThis; level && level !== Object.prototype; level = parent(level)) {
    for (const name of Reflect.ownKeys(level)) if (!KEPT.has(name)) Reflect.deleteProperty(level, name);
    const left = Reflect.ownKeys(level).filter((name) => !KEPT.has(name) && !isConstant(level, name));
    if (left.length > 0) {
      throw new Error(`Python isn’t started here: ${left.map(String).join(', ')} can’t be taken away.`);
    }
  }
  for (const name of ['compileStreaming', 'instantiateStreaming']) Reflect.deleteProperty(WebAssembly, name);
  noCodeFromText();
  stacksAsText();
}

/** Whether it is a number or a text for good, such as Chromium's `TEMPORARY`: nothing can be done with it. */
function isConstant(level: object, name: PropertyKey): boolean {
  const found = Reflect.getOwnPropertyDescriptor(level, name);
  const value: unknown = found?.value;
  return found?.writable === false && ['number', 'string'].includes(typeof value);
}

const parent = (level: object): object | null => Object.getPrototypeOf(level) as object | null;

/** `eval` is gone with the other globals; the constructors of functions are reached from every function. */
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
  for (const prototype of functions.map(parent)) {
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
  // it stays as it is
}

/** V8 would hand out the functions of a stack, those of the host among them. */
function stacksAsText(): void {
  for (const name of ['prepareStackTrace', 'stackTraceLimit'] as const) {
    const value: unknown = Reflect.get(Error, name);
    Object.defineProperty(Error, name, { get: () => value, set: ignore, configurable: false });
  }
}
