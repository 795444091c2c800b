import {
  integer,
  less,
  load,
  plus,
  storeCode,
  times,
  unsigned,
  type Integer,
  type Kind,
  type Lanes,
  type Local,
  type Value,
  type Vector,
} from './instructions.ts';

const TYPE: Record<Kind, number> = { i32: 0x7f, v128: 0x7b };
const END = 0x0b;
const NO_RESULT = 0x40;

/** A function of a WebAssembly module under construction. Each method appends a statement. */
export class Routine {
  readonly name: string;
  readonly parameters: readonly string[]; // names; all are int32
  readonly #code: number[] = [];
  readonly #locals: Kind[] = [];

  constructor(name: string, parameters: readonly string[]) {
    this.name = name;
    this.parameters = parameters;
  }

  /** Creates a variable and assigns the value. Inside a loop, each iteration assigns it again. */
  let<K extends Kind>(value: Value<K>): Local<K> {
    const index = this.parameters.length + this.#locals.length;
    this.#locals.push(value.kind);
    const local = { kind: value.kind, index, code: [0x20, ...unsigned(index)] };
    this.set(local, value);
    return local;
  }

  set<K extends Kind>(local: Local<K>, value: Value<K>): void {
    this.#code.push(...value.code, 0x21, ...unsigned(local.index));
  }

  store(at: Integer, value: Vector, lanes: Lanes = 4, offset = 0): void {
    this.#code.push(...storeCode(at, value, lanes, offset));
  }

  storeInteger(at: Integer, value: Integer): void {
    this.#code.push(...integer(at).code, ...integer(value).code, 0x36, 2, 0);
  }

  /** Stores an int32 atomically, for threads that share the memory. */
  atomicStore(at: Integer, value: Integer): void {
    this.#code.push(...integer(at).code, ...integer(value).code, 0xfe, 0x17, 2, 0);
  }

  /** Computes the value only for its side effects. */
  drop(value: Value<Kind>): void {
    this.#code.push(...value.code, 0x1a);
  }

  call(index: number, parameters: readonly Value<'i32'>[]): void {
    this.#code.push(...parameters.flatMap(({ code }) => code), 0x10, ...unsigned(index));
  }

  /** for (let i = from; i < to; i += step). */
  loop(from: Integer, to: Integer, step: number, body: (i: Local<'i32'>) => void): void {
    const i = this.let(integer(from));
    this.while(less(i, to), () => {
      body(i);
      this.set(i, plus(i, step));
    });
  }

  /** Takes blocks of the largest of `sizes` (descending) that still fits. `body` gets the byte offset, and is emitted once per size. */
  blocks<S extends number>(count: Integer, sizes: readonly S[], body: (offset: Local<'i32'>, size: S) => void): void {
    const end = this.let(times(count, 4));
    const offset = this.let(integer(0));
    for (const size of sizes) {
      this.while(less(offset, plus(end, 4 - 4 * size)), () => {
        body(offset, size);
        this.set(offset, plus(offset, 4 * size));
      });
    }
  }

  when(condition: Integer, body: () => void): void {
    this.#code.push(...integer(condition).code, 0x04, NO_RESULT);
    body();
    this.#code.push(END);
  }

  while(condition: Value<'i32'>, body: () => void): void {
    // if (condition) do body while (condition): one jump per iteration
    this.#code.push(...condition.code, 0x04, NO_RESULT, 0x03, NO_RESULT);
    body();
    this.#code.push(...condition.code, 0x0d, 0, END, END);
  }

  /** Returns the function's bytes for the code section of a module. */
  encode(): number[] {
    const locals = [...unsigned(this.#locals.length), ...this.#locals.flatMap((kind) => [1, TYPE[kind]])];
    const body = [...locals, ...this.#code, END];
    return [...unsigned(body.length), ...body];
  }
}

/** Builds a routine. `body` gets the parameters, all int32, by name. */
export function routine<N extends string>(
  names: readonly N[],
  name: string,
  body: (f: Routine, parameters: Record<N, Local<'i32'>>) => void,
): Routine {
  const f = new Routine(name, names);
  const locals = names.map((n, index): [N, Local<'i32'>] => [
    n,
    { kind: 'i32', index, code: [0x20, ...unsigned(index)] },
  ]);
  const parameters = Object.fromEntries(locals) as Record<N, Local<'i32'>>;
  body(f, parameters);
  return f;
}

/** Returns the byte offsets and lanes of the vectors of a row of `width` float32. The last vector may have two lanes. */
export function vectorsOf(width: number): { readonly offset: number; readonly lanes: Lanes }[] {
  return Array.from({ length: Math.ceil(width / 4) }, (_, i) => ({
    offset: 16 * i,
    lanes: width - 4 * i >= 4 ? 4 : 2,
  }));
}

export function loadRow(f: Routine, at: Integer, width: number): Local<'v128'>[] {
  return vectorsOf(width).map(({ offset, lanes }) => f.let(load(at, lanes, offset)));
}

/** Creates variables with `count` addresses that are `step` bytes apart. */
export function pointers(f: Routine, first: Integer, step: Integer, count: number): Local<'i32'>[] {
  const all = [f.let(plus(first, 0))];
  while (all.length < count) all.push(f.let(plus(all.at(-1)!, step)));
  return all;
}

/** Largest number of pages that a module with shared memory declares. */
const MAX_PAGES = 65_536;

/** A module that imports its memory as `host.memory`; `shared` allows threads to share it. */
export function encodeModule(routines: readonly Routine[], shared = false): Uint8Array<ArrayBuffer> {
  const text = (s: string) => [...unsigned(s.length), ...new TextEncoder().encode(s)];
  const vector = (items: readonly (readonly number[])[]) => [...unsigned(items.length), ...items.flat()];
  const section = (id: number, bytes: readonly number[]) => [id, ...unsigned(bytes.length), ...bytes];
  const types = routines.map((f) => [0x60, ...vector(f.parameters.map(() => [TYPE.i32])), 0]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, vector(types)),
    ...section(2, vector([[...text('host'), ...text('memory'), 2, ...(shared ? [3, 1, ...unsigned(MAX_PAGES)] : [0, 1])]])), // prettier-ignore
    ...section(3, vector(routines.map((_, i) => unsigned(i)))),
    ...section(7, vector(routines.map((f, i) => [...text(f.name), 0, ...unsigned(i)]))),
    ...section(10, vector(routines.map((f) => f.encode()))),
  ]);
}
