import { type Helper, arithmeticName, type Threads } from './threads.ts';
import { OFFSET, BLOCK_BYTES, CACHE_LINE, MAX_PARTS, MAX_THREADS, RECORD_BYTES } from '../wasm/teamKernels.ts';

/** Bytes of scratch memory of each thread. Pages that are never written cost no memory. */
export const SCRATCH_BYTES = 2 ** 20;

/** Returns the bytes of shared memory that a team of `count` threads needs. */
export const teamBytes = (count: number) => BLOCK_BYTES + count * SCRATCH_BYTES;

export interface TeamInstance {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly names: readonly string[]; // of the kernels, in their order
  readonly kernel: (name: string) => (...parameters: readonly number[]) => void;
}

/** The kernel's parameters for one part of a call. One of them may be the address of scratch memory. */
export type Part = readonly number[];

export interface Scratch {
  readonly parameter: number; // index of the parameter that is the address of the scratch memory
  readonly bytes: number; // bytes that each thread needs
}

/** The caller's thread and its helpers. `close` ends the helpers; then the caller's thread computes alone. */
export class Team {
  readonly count: number;
  readonly minWork: number | undefined; // see Threads
  readonly scratch: number; // address of the first thread's scratch memory
  readonly #block: number; // address of the control block in teamKernels.ts
  readonly #words: Int32Array; // the block as int32
  readonly #instance: TeamInstance;
  readonly #indices: ReadonlyMap<string, number>;
  readonly #lead: (block: number, parts: number) => void;
  #helpers: readonly Helper[];

  /** `blockAddress` is the address of `teamBytes` bytes that belong to the team, a multiple of 64. */
  constructor(instance: TeamInstance, { count, start, minWork }: Threads, blockAddress: number) {
    if (count > MAX_THREADS)
      throw new RangeError(`A team of ${count} threads is too large: the limit is ${MAX_THREADS}.`);
    const { module, memory, names } = instance;
    this.count = count;
    this.minWork = minWork;
    this.#block = blockAddress;
    this.scratch = blockAddress + BLOCK_BYTES;
    this.#words = new Int32Array(memory.buffer, blockAddress, BLOCK_BYTES / 4);
    this.#instance = instance;
    this.#lead = instance.kernel('lead');
    this.#indices = new Map(names.map((name, index) => [name, index]));
    this.#helpers = Array.from({ length: count - 1 }, (_, i) =>
      start({ module, memory, block: blockAddress, thread: i + 1 }),
    );
  }

  /** Waits until every helper has started or failed to start. Resolves to the number of threads that compute. */
  async whenStarted(): Promise<number> {
    const startedHelpers = await Promise.all(this.#helpers.map(({ started }) => started));
    return 1 + startedHelpers.filter(Boolean).length;
  }

  /** Computes the parts of one kernel call, in any order and on any thread. Returns when all parts are done. */
  run(name: string, parts: readonly Part[], scratch: Scratch | null = null): void {
    const words = this.#words;
    if (parts.length > MAX_PARTS)
      throw new RangeError(`${name}: ${parts.length} parts are too many: the limit is ${MAX_PARTS}.`);
    if (scratch && scratch.bytes > SCRATCH_BYTES) {
      throw new RangeError(
        `${name}: ${scratch.bytes} bytes of scratch memory are too many: the limit is ${SCRATCH_BYTES}.`,
      );
    }
    if (this.#helpers.length === 0) {
      for (const part of parts) this.#instance.kernel(name)(...part);
      return;
    }
    words[OFFSET.kernel / 4] = this.#indices.get(name)!;
    words[OFFSET.scratchAt / 4] = 4 * (scratch?.parameter ?? 0);
    // whole cache lines, so that no two threads write to the same line
    words[OFFSET.scratchBytes / 4] = scratch ? 64 * Math.ceil(scratch.bytes / 64) : 0;
    let record = OFFSET.records / 4;
    for (const part of parts) {
      for (let i = 0; i < part.length; i++) words[record + i] = part[i]!;
      record += RECORD_BYTES / 4;
    }
    this.#lead(this.#block, parts.length);
    if (Atomics.load(words, OFFSET.failed / 4) !== 0) throw new Error(`${name}: a thread failed while computing it.`);
  }

  partCounts(): readonly number[] {
    return Array.from({ length: this.count }, (_, thread) =>
      Atomics.load(this.#words, (OFFSET.partCounts + thread * CACHE_LINE) / 4),
    );
  }

  close(): void {
    Atomics.store(this.#words, OFFSET.stop / 4, 1);
    Atomics.add(this.#words, OFFSET.calls / 4, 1);
    Atomics.notify(this.#words, OFFSET.calls / 4);
    for (const { end } of this.#helpers) end();
    this.#helpers = []; // no call is shared any more, so a helper that hasn't ended yet can't take a part and lose it
  }
}

/** Contains the number of threads. Waits until the helpers have started; those that failed to start aren't counted. */
export async function nameWhenStarted({
  name,
  team,
}: {
  readonly name: string;
  readonly team?: Team;
}): Promise<string> {
  if (!team) return name;
  const count = await team.whenStarted();
  return count === team.count ? name : arithmeticName({ count, reason: 'others could not begin' });
}
