import { type Helper, arithmeticName, type Threads } from './threads.ts';
import { OFFSET, CACHE_LINE, MAX_PARTS, MAX_THREADS, MAX_TURNS, RECORD_BYTES } from '../wasm/teamKernels.ts';

/** Bytes of scratch memory of each thread, or of each part of a pass. Pages that are never written cost no memory. */
export const SCRATCH_BYTES = 2 ** 20;

/** Kernel calls that all parts of a pass make together, at most: enough for about a hundred layers. */
const MAX_RECORDS = 2 ** 15;
const BLOCK_BYTES = OFFSET.records + MAX_RECORDS * RECORD_BYTES;

/** Parts of a pass, at most. It doesn't depend on the number of threads, and so neither does the order of sums. */
export const PASS_PARTS = 8;

/** Returns the bytes of shared memory that a team of `count` threads needs. */
export const teamBytes = (count: number) => BLOCK_BYTES + Math.max(count, PASS_PARTS) * SCRATCH_BYTES;

/** Calls `add`, which adds to numbers that other parts add to as well. All parts take turns, in their order. */
export type InTurn = (add: () => void) => void;

/**
 * A part of a pass. It calls kernels, which may run later, on another thread. All parts call `inTurn` equally often,
 * and never within it.
 */
export type PassPart = (inTurn: InTurn) => void;

export function runInOrder(parts: readonly PassPart[]): void {
  for (const part of parts) part((add) => add());
}

export interface TeamInstance {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly parameters: ReadonlyMap<string, readonly string[]>; // names of each kernel's; the kernels are in their order
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
  #records = -1; // number of recorded kernel calls; −1: calls are not recorded
  #recordedPart = 0; // of the pass that is recorded
  #helpers: readonly Helper[];

  /** `blockAddress` is the address of `teamBytes` bytes that belong to the team, a multiple of 64. */
  constructor(instance: TeamInstance, { count, start, minWork }: Threads, blockAddress: number) {
    if (count > MAX_THREADS)
      throw new RangeError(`A team of ${count} threads is too large: the limit is ${MAX_THREADS}.`);
    const { module, memory, parameters } = instance;
    this.count = count;
    this.minWork = minWork;
    this.#block = blockAddress;
    this.scratch = blockAddress + BLOCK_BYTES;
    this.#words = new Int32Array(memory.buffer, blockAddress, BLOCK_BYTES / 4);
    this.#instance = instance;
    this.#lead = instance.kernel('lead');
    this.#indices = new Map([...parameters.keys()].map((name, index) => [name, index]));
    this.#helpers = Array.from({ length: count - 1 }, (_, i) =>
      start({ module, memory, block: blockAddress, thread: i + 1 }),
    );
  }

  /** Waits until every helper has started or failed to start. Resolves to the number of threads that compute. */
  async whenStarted(): Promise<number> {
    const startedHelpers = await Promise.all(this.#helpers.map(({ started }) => started));
    return 1 + startedHelpers.filter(Boolean).length;
  }

  get isRecording(): boolean {
    return this.#records >= 0;
  }

  /** Address of the scratch memory of the part that is recorded: another thread may compute it beside other parts. */
  get scratchOfPart(): number {
    return this.scratch + this.#recordedPart * SCRATCH_BYTES;
  }

  /** Adds a call to the part of a pass that is recorded. */
  record(name: string, parameters: Part): void {
    if (this.#records >= MAX_RECORDS)
      throw new RangeError(`A pass makes more than ${MAX_RECORDS} kernel calls. Use a model with fewer layers.`);
    const at = (OFFSET.records + this.#records * RECORD_BYTES) / 4;
    this.#words[at] = this.#indices.get(name)!;
    for (let i = 0; i < parameters.length; i++) this.#words[at + 1 + i] = parameters[i]!;
    this.#records++;
  }

  /** Records the calls of all parts, then computes the parts on all threads. Returns when all are done. */
  runPass(parts: readonly PassPart[]): void {
    if (this.#helpers.length === 0 || parts.length === 1) {
      runInOrder(parts);
      return;
    }
    const words = this.#words;
    words.fill(0, OFFSET.turns / 4, OFFSET.records / 4);
    words[OFFSET.scratchBytes / 4] = 0;
    this.#records = 0;
    try {
      for (const [index, part] of parts.entries()) {
        words[OFFSET.firstRecords / 4 + index] = this.#records;
        this.#recordedPart = index;
        let turns = 0;
        part((add) => {
          if (turns === MAX_TURNS) throw new RangeError(`A pass takes more than ${MAX_TURNS} turns.`);
          const turn = this.#block + OFFSET.turns + 4 * turns;
          this.record('awaitTurn', [turn, index, this.#block + OFFSET.failed]);
          add();
          this.record('endTurn', [turn, index]);
          turns++;
        });
      }
      words[OFFSET.firstRecords / 4 + parts.length] = this.#records;
    } finally {
      this.#records = -1;
    }
    this.#compute('A pass', parts.length);
  }

  #compute(name: string, parts: number): void {
    this.#lead(this.#block, parts);
    if (Atomics.load(this.#words, OFFSET.failed / 4) !== 0)
      throw new Error(`${name}: a thread failed while computing it.`);
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
    words[OFFSET.scratchAt / 4] = 4 + 4 * (scratch?.parameter ?? 0);
    // whole cache lines, so that no two threads write to the same line
    words[OFFSET.scratchBytes / 4] = scratch ? 64 * Math.ceil(scratch.bytes / 64) : 0;
    this.#records = 0;
    for (const [index, part] of parts.entries()) {
      words[OFFSET.firstRecords / 4 + index] = index;
      this.record(name, part);
    }
    words[OFFSET.firstRecords / 4 + parts.length] = parts.length;
    this.#records = -1;
    this.#compute(name, parts.length);
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
