import {
  equal,
  integer,
  less,
  loadInteger,
  minus,
  plus,
  select,
  times,
  unsigned,
  type Integer,
  type Local,
  type Value,
} from './instructions.ts';
import { routine, type Routine } from './routine.ts';

/*
 * Instructions on memory that threads share (WebAssembly threads proposal, opcode prefix 0xfe): each happens at once for all of them, in one order.
 * Addresses are multiples of four.
 */

const ATOMIC = 0xfe;
const i32 = (...code: number[]): Value<'i32'> => ({ kind: 'i32', code });
/** As naturally aligned as they must be, from the address itself on. */
const AT = [2, 0] as const;

/** The int32 at an address. */
const atomicLoad = (at: Integer) => i32(...integer(at).code, ATOMIC, 0x10, ...AT);
/** Adds to the int32 at an address, or takes from it; what was there before. */
const atomicAdd = (at: Integer, by: Integer) => i32(...integer(at).code, ...integer(by).code, ATOMIC, 0x1e, ...AT); // prettier-ignore
const atomicTake = (at: Integer, by: Integer) => i32(...integer(at).code, ...integer(by).code, ATOMIC, 0x25, ...AT); // prettier-ignore
/** Wakes up to `count` threads that sleep at an address. Returns how many woke. */
const wake = (at: Integer, count: Integer) => i32(...integer(at).code, ...integer(count).code, ATOMIC, 0x00, ...AT); // prettier-ignore
/** Sleeps until `wake` is called for this address. Returns at once if the address does not hold `expected`. */
const sleep = (at: Integer, expected: Integer) =>
  i32(...integer(at).code, ...integer(expected).code, 0x42, 0x7f, ATOMIC, 0x01, ...AT); // −1 ns: however long

/** The value, which the variable holds from then on. */
const kept = (local: Local<'i32'>, value: Integer) => i32(...integer(value).code, 0x22, ...unsigned(local.index));

/*
 * How threads share a call of a kernel. The call is cut into parts that may be computed in any order. A thread that is free takes the next part, so a
 * thread that is late, slow or not started yet doesn't hold up the others. Threads communicate through a block of the memory they share.
 */

/** Byte offsets within the block. Fields that different threads write often have a cache line each. */
export const BLOCK = {
  open: 0, // parts that no thread has taken yet
  left: 64, // parts that are not done
  calls: 128, // calls so far; helpers sleep until it changes
  asleep: 132, // helpers that sleep, or are about to
  stop: 136, // not 0: helpers must end
  up: 140, // helpers that have begun
  failed: 144, // not 0: a helper failed
  parts: 188, // of the call that is under way
  kernel: 192, // of the call that is under way: its index
  scratchAt: 196, // bytes of a part's record to the parameter that is where the first thread's scratch memory lies
  scratchBytes: 200, // of each thread; 0: the kernel needs none
  taken: 256, // parts that each thread took since it began, a line for each
  records: 1280, // of each part its parameters
} as const;

/** Bytes of a line of the cache. */
export const LINE = 64;

/** Bytes of a part's record. */
export const RECORD = 64;
/** Most parts of a call, and most threads. */
export const MOST_PARTS = 64;
export const MOST_THREADS = 16;
/** Bytes of the block. */
export const BLOCK_BYTES = BLOCK.records + MOST_PARTS * RECORD;

/**
 * How often a thread looks whether there is something to do before it sleeps: some tens of microseconds, for falling asleep and being woken takes
 * about as long, and between the calls of a layer there is less.
 */
const LOOKS = 20_000;

/** The routines that helpers and their leader run, to stand behind the kernels of a module. */
export function teamKernels(kernels: readonly Routine[]): readonly Routine[] {
  const take = takeParts(kernels);
  return [take, lead(kernels.length), help(kernels.length), breakOff];
}

/** Takes and computes parts until none is left. */
const takeParts = (kernels: readonly Routine[]) =>
  routine(['block', 'thread'], 'take', (f, { block, thread }) => {
    const open = f.let(integer(0));
    f.while(less(0, kept(open, atomicTake(plus(block, BLOCK.open), 1))), () => {
      // the first part first: what a thread reads in one it often reads on in the next
      const part = minus(loadInteger(plus(block, BLOCK.parts)), open);
      const record = f.let(plus(block, plus(times(part, RECORD), BLOCK.records)));
      const kernel = f.let(loadInteger(plus(block, BLOCK.kernel)));
      const bytes = f.let(loadInteger(plus(block, BLOCK.scratchBytes)));
      f.when(bytes, () => {
        const at = f.let(plus(record, loadInteger(plus(block, BLOCK.scratchAt))));
        f.storeInteger(at, plus(loadInteger(at), times(thread, bytes)));
      });
      for (const [index, { parameters }] of kernels.entries()) {
        f.when(equal(kernel, index), () => {
          const given = Array.from({ length: parameters }, (_, i) => loadInteger(plus(record, 4 * i)));
          f.call(index, given);
        });
      }
      f.drop(atomicAdd(plus(block, plus(BLOCK.taken, times(thread, LINE))), 1));
      // a leader that does not sleep is told for nothing
      const last = equal(atomicTake(plus(block, BLOCK.left), 1), 1);
      f.when(last, () => f.when(thread, () => f.drop(wake(plus(block, BLOCK.left), 1))));
    });
  });

/** Opens the call that the block describes, computes parts of it like the helpers do, and returns when all parts are done. */
const lead = (take: number) =>
  routine(['block', 'parts'], 'lead', (f, { block, parts }) => {
    const left = f.let(plus(block, BLOCK.left));
    f.storeInteger(plus(block, BLOCK.parts), parts);
    f.atomicStore(left, parts);
    f.atomicStore(plus(block, BLOCK.open), parts);
    f.drop(atomicAdd(plus(block, BLOCK.calls), 1));
    // one that falls asleep after this looks once more before, and finds the parts
    f.when(atomicLoad(plus(block, BLOCK.asleep)), () => f.drop(wake(plus(block, BLOCK.calls), MOST_THREADS)));
    f.call(take, [block, integer(0)]);
    const undone = f.let(atomicLoad(left));
    const looks = f.let(integer(0));
    f.while(undone, () => {
      f.set(looks, plus(looks, 1));
      f.when(less(LOOKS, looks), () => f.drop(sleep(left, undone)));
      f.set(undone, atomicLoad(left));
    });
  });

/** A helper's life: computes parts where there are some, else looks for a while, then sleeps. */
const help = (take: number) =>
  routine(['block', 'thread'], 'help', (f, { block, thread }) => {
    const [open, calls, asleep, stop] = (['open', 'calls', 'asleep', 'stop'] as const).map((name) => f.let(plus(block, BLOCK[name]))); // prettier-ignore
    f.drop(atomicAdd(plus(block, BLOCK.up), 1));
    const looks = f.let(integer(0));
    const isIdle = less(atomicLoad(open!), 1);
    f.while(equal(atomicLoad(stop!), 0), () => {
      f.set(looks, integer(0));
      f.while(select(less(looks, LOOKS), isIdle, 0), () => f.set(looks, plus(looks, 1)));
      f.when(isIdle, () => {
        const seen = f.let(atomicLoad(calls!));
        f.drop(atomicAdd(asleep!, 1));
        f.when(select(atomicLoad(stop!), 0, isIdle), () => f.drop(sleep(calls!, seen)));
        f.drop(atomicTake(asleep!, 1));
      });
      f.call(take, [block, thread]);
    });
  });

/** Called for a helper in which a kernel trapped: the call ends without its part, and the caller learns that it failed. */
const breakOff = routine(['block'], 'breakOff', (f, { block }) => {
  f.atomicStore(plus(block, BLOCK.failed), integer(1));
  f.atomicStore(plus(block, BLOCK.left), integer(0));
  f.drop(wake(plus(block, BLOCK.left), 1));
});
