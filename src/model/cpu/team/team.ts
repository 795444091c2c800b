import { type Helper, nameOf, type Threads } from './threads.ts';
import { BLOCK, BLOCK_BYTES, LINE, MOST_PARTS, MOST_THREADS, RECORD } from '../wasm/teamKernels.ts';

/** Scratch memory of each thread. Pages that are never written cost no memory. */
export const SCRATCH_BYTES = 2 ** 20;

/** Bytes of shared memory that a team of so many takes. */
export const teamBytes = (count: number) => BLOCK_BYTES + count * SCRATCH_BYTES;

/** An instance that a team works for. */
export interface Teamwork {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly names: readonly string[]; // of the kernels, in their order
  readonly kernel: (name: string) => (...parameters: readonly number[]) => void;
}

/** Parameters of a part: numbers, one of them maybe the address of scratch memory. */
export type Part = readonly number[];

/** Which parameter of a kernel is an address of scratch memory, and how much a thread needs of it. */
export interface Scratch {
  readonly parameter: number;
  readonly bytes: number;
}

/** Threads that compute parts of calls: this one and its helpers, which end with `close`. After that this one does everything. */
export class Team {
  readonly count: number;
  readonly least: number | undefined; // see Threads
  readonly scratch: number; // where the first thread's begins
  readonly #block: number;
  readonly #words: Int32Array; // of the block
  readonly #work: Teamwork;
  readonly #indices: ReadonlyMap<string, number>;
  readonly #lead: (block: number, parts: number) => void;
  #helpers: readonly Helper[];

  /** `at` is where `teamBytes` of the memory are the team's, a multiple of 64. */
  constructor(work: Teamwork, { count, start, least }: Threads, at: number) {
    if (count > MOST_THREADS)
      throw new RangeError(`A team of ${count} threads is too large: the limit is ${MOST_THREADS}.`);
    const { module, memory, names } = work;
    this.count = count;
    this.least = least;
    this.#block = at;
    this.scratch = at + BLOCK_BYTES;
    this.#words = new Int32Array(memory.buffer, at, BLOCK_BYTES / 4);
    this.#work = work;
    this.#lead = work.kernel('lead');
    this.#indices = new Map(names.map((name, index) => [name, index]));
    this.#helpers = Array.from({ length: count - 1 }, (_, i) => start({ module, memory, block: at, thread: i + 1 }));
  }

  /** Resolves when every helper is there or known not to come; how many threads compute. */
  async begun(): Promise<number> {
    const all = await Promise.all(this.#helpers.map(({ begun }) => begun));
    return 1 + all.filter(Boolean).length;
  }

  /** Computes the parts of one call of a kernel, in any order and by whichever thread; returns when all are done. */
  run(name: string, parts: readonly Part[], scratch: Scratch | null = null): void {
    const words = this.#words;
    if (parts.length > MOST_PARTS)
      throw new RangeError(`${name}: ${parts.length} parts are too many: the limit is ${MOST_PARTS}.`);
    if (scratch && scratch.bytes > SCRATCH_BYTES) {
      throw new RangeError(
        `${name}: ${scratch.bytes} bytes of scratch memory are too many: the limit is ${SCRATCH_BYTES}.`,
      );
    }
    if (this.#helpers.length === 0) {
      for (const part of parts) this.#work.kernel(name)(...part);
      return;
    }
    words[BLOCK.kernel / 4] = this.#indices.get(name)!;
    words[BLOCK.scratchAt / 4] = 4 * (scratch?.parameter ?? 0);
    // whole lines of the cache, so that no two threads write to one
    words[BLOCK.scratchBytes / 4] = scratch ? 64 * Math.ceil(scratch.bytes / 64) : 0;
    let record = BLOCK.records / 4;
    for (const part of parts) {
      for (let i = 0; i < part.length; i++) words[record + i] = part[i]!;
      record += RECORD / 4;
    }
    this.#lead(this.#block, parts.length);
    if (Atomics.load(words, BLOCK.failed / 4) !== 0) throw new Error(`${name}: a thread that computed it broke off.`);
  }

  /** How many parts each thread took so far. */
  taken(): readonly number[] {
    return Array.from({ length: this.count }, (_, thread) =>
      Atomics.load(this.#words, (BLOCK.taken + thread * LINE) / 4),
    );
  }

  /** Ends the helpers. */
  close(): void {
    Atomics.store(this.#words, BLOCK.stop / 4, 1);
    Atomics.add(this.#words, BLOCK.calls / 4, 1);
    Atomics.notify(this.#words, BLOCK.calls / 4);
    for (const { end } of this.#helpers) end();
    this.#helpers = []; // one that has yet to end may take no part with it
  }
}

/** The name of an arithmetic, which says how many threads compute. Waits until its helper threads have begun; helpers that could not begin are not counted. */
export async function nameOfBegun({ name, team }: { readonly name: string; readonly team?: Team }): Promise<string> {
  if (!team) return name;
  const count = await team.begun();
  return count === team.count ? name : nameOf({ count, why: 'others could not begin' });
}
