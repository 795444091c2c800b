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
 * Atomic instructions on memory that threads share (WebAssembly threads proposal, opcode prefix 0xfe). All threads see
 * them in the same order. Addresses are multiples of four.
 */

const ATOMIC = 0xfe;
const i32 = (...code: number[]): Value<'i32'> => ({ kind: 'i32', code });
/** Memory argument of the instructions: alignment 2² bytes, which is required, and offset 0. */
const ALIGNED = [2, 0] as const;

const atomicLoad = (at: Integer) => i32(...integer(at).code, ATOMIC, 0x10, ...ALIGNED);
/** Adds to the int32 at an address. Returns the value before. */
const atomicAdd = (at: Integer, by: Integer) => i32(...integer(at).code, ...integer(by).code, ATOMIC, 0x1e, ...ALIGNED); // prettier-ignore
/** Subtracts from the int32 at an address. Returns the value before. */
const atomicSubtract = (at: Integer, by: Integer) => i32(...integer(at).code, ...integer(by).code, ATOMIC, 0x25, ...ALIGNED); // prettier-ignore
/** Wakes up to `count` threads that sleep at an address. Returns how many woke. */
const wake = (at: Integer, count: Integer) => i32(...integer(at).code, ...integer(count).code, ATOMIC, 0x00, ...ALIGNED); // prettier-ignore
const FOREVER = [0x7f]; // −1 ns
const TEN_MS = [0x80, 0xad, 0xe2, 0x04]; // 10⁷ ns
/** Sleeps until `wake` is called for this address, or the time is over. Returns at once if the address does not hold `expected`. */
const sleep = (at: Integer, expected: Integer, time = FOREVER) =>
  i32(...integer(at).code, ...integer(expected).code, 0x42, ...time, ATOMIC, 0x01, ...ALIGNED);

/** Sets the variable and returns its new value. */
const setAndGet = (local: Local<'i32'>, value: Integer) => i32(...integer(value).code, 0x22, ...unsigned(local.index));

/*
 * How threads share work. The work is split into parts, and a part is a list of kernel calls. Parts can be computed in
 * any order. A free thread takes the next part, so a thread that is slow or hasn't started yet doesn't hold up the
 * others. Where several parts add to the same numbers, they take turns in the order of the parts, so that the sums have
 * the same bits with any number of threads. Threads communicate through a control block in shared memory.
 */

/** Byte offsets of the fields of the control block. Fields that different threads write often have a cache line each. */
export const OFFSET = {
  untaken: 0, // number of parts that no thread has taken yet
  unfinished: 64, // number of parts that aren't finished
  calls: 128, // number of calls so far; helpers sleep until it changes
  sleeping: 132, // number of helpers that sleep, or are about to
  stop: 136, // not 0: helpers must end
  started: 140, // number of helpers that have started
  failed: 144, // not 0: a helper failed
  parts: 188, // number of parts of the current work
  scratchAt: 196, // offset in a record of the parameter that is the address of scratch memory
  scratchBytes: 200, // bytes of scratch memory per thread; 0: the kernels need none
  partCounts: 256, // number of parts that each thread has taken since its start, a cache line for each thread
  firstRecords: 1280, // index of each part's first record, then the number of records
  turns: 1600, // for each place where parts take turns: the part whose turn it is
  records: 5696, // a record for each kernel call: the kernel's index, then the parameters
} as const;

/** Bytes of a cache line. */
export const CACHE_LINE = 64;

export const RECORD_BYTES = 64;
export const MAX_PARTS = 64;
export const MAX_THREADS = 16;
export const MAX_TURNS = (OFFSET.records - OFFSET.turns) / 4;

/** Checks for work before sleeping: tens of microseconds, as long as a sleep and a wake, longer than pauses between a layer's calls. */
const MAX_POLLS = 20_000;

/** Kernels of a part that adds to numbers to which other parts add too: they wait for the part's turn, and end it. */
export const turnKernels: readonly Routine[] = [
  routine(['turn', 'part', 'failed'], 'awaitTurn', (f, { turn, part, failed }) => {
    const current = f.let(atomicLoad(turn));
    const polls = f.let(integer(0));
    f.while(select(less(current, part), equal(atomicLoad(failed), 0), 0), () => {
      f.set(polls, plus(polls, 1));
      // not forever: nobody ends the turn of a helper that failed
      f.when(less(MAX_POLLS, polls), () => f.drop(sleep(turn, current, TEN_MS)));
      f.set(current, atomicLoad(turn));
    });
  }),
  routine(['turn', 'part'], 'endTurn', (f, { turn, part }) => {
    f.atomicStore(turn, plus(part, 1));
    f.drop(wake(turn, MAX_THREADS));
  }),
];

/** Returns the routines that the leader and the helpers run. In the module they must directly follow the kernels. */
export function teamKernels(kernels: readonly Routine[]): readonly Routine[] {
  const take = takeParts(kernels);
  return [take, lead(kernels.length), help(kernels.length), breakOff];
}

/** Builds the routine that takes and computes parts until none is left. */
const takeParts = (kernels: readonly Routine[]) =>
  routine(['block', 'thread'], 'take', (f, { block, thread }) => {
    const open = f.let(integer(0));
    f.while(less(0, setAndGet(open, atomicSubtract(plus(block, OFFSET.untaken), 1))), () => {
      // parts are taken in ascending order, because a thread often goes on reading where its last part ended
      const part = minus(loadInteger(plus(block, OFFSET.parts)), open);
      const first = f.let(plus(block, plus(times(part, 4), OFFSET.firstRecords)));
      const records = plus(block, OFFSET.records);
      const record = f.let(plus(records, times(loadInteger(first), RECORD_BYTES)));
      const end = f.let(plus(records, times(loadInteger(plus(first, 4)), RECORD_BYTES)));
      const bytes = f.let(loadInteger(plus(block, OFFSET.scratchBytes)));
      f.while(less(record, end), () => {
        f.when(bytes, () => {
          const at = f.let(plus(record, loadInteger(plus(block, OFFSET.scratchAt))));
          f.storeInteger(at, plus(loadInteger(at), times(thread, bytes)));
        });
        const kernel = f.let(loadInteger(record));
        for (const [index, { parameters }] of kernels.entries()) {
          f.when(equal(kernel, index), () => {
            const values = parameters.map((_, i) => loadInteger(plus(record, 4 + 4 * i)));
            f.call(index, values);
          });
        }
        f.set(record, plus(record, RECORD_BYTES));
      });
      f.drop(atomicAdd(plus(block, plus(OFFSET.partCounts, times(thread, CACHE_LINE))), 1));
      // waking has no effect if the leader doesn't sleep
      const last = equal(atomicSubtract(plus(block, OFFSET.unfinished), 1), 1);
      f.when(last, () => f.when(thread, () => f.drop(wake(plus(block, OFFSET.unfinished), 1))));
    });
  });

/** Opens the call that the control block describes, computes parts as helpers do, and returns when all parts are done. */
const lead = (take: number) =>
  routine(['block', 'parts'], 'lead', (f, { block, parts }) => {
    const left = f.let(plus(block, OFFSET.unfinished));
    f.storeInteger(plus(block, OFFSET.parts), parts);
    f.atomicStore(left, parts);
    f.atomicStore(plus(block, OFFSET.untaken), parts);
    f.drop(atomicAdd(plus(block, OFFSET.calls), 1));
    // a helper that goes to sleep after this line checks once more before it sleeps, and finds the parts
    f.when(atomicLoad(plus(block, OFFSET.sleeping)), () => f.drop(wake(plus(block, OFFSET.calls), MAX_THREADS)));
    f.call(take, [block, integer(0)]);
    const unfinished = f.let(atomicLoad(left));
    const polls = f.let(integer(0));
    f.while(unfinished, () => {
      f.set(polls, plus(polls, 1));
      f.when(less(MAX_POLLS, polls), () => f.drop(sleep(left, unfinished)));
      f.set(unfinished, atomicLoad(left));
    });
  });

/** Until `stop` is set: computes parts if there are any, otherwise polls for a while, then sleeps. */
const help = (take: number) =>
  routine(['block', 'thread'], 'help', (f, { block, thread }) => {
    const [untaken, calls, sleeping, stop] = (['untaken', 'calls', 'sleeping', 'stop'] as const).map((name) => f.let(plus(block, OFFSET[name]))); // prettier-ignore
    f.drop(atomicAdd(plus(block, OFFSET.started), 1));
    const polls = f.let(integer(0));
    const isIdle = less(atomicLoad(untaken!), 1);
    f.while(equal(atomicLoad(stop!), 0), () => {
      f.set(polls, integer(0));
      f.while(select(less(polls, MAX_POLLS), isIdle, 0), () => f.set(polls, plus(polls, 1)));
      f.when(isIdle, () => {
        const callsSeen = f.let(atomicLoad(calls!));
        f.drop(atomicAdd(sleeping!, 1));
        f.when(select(atomicLoad(stop!), 0, isIdle), () => f.drop(sleep(calls!, callsSeen)));
        f.drop(atomicSubtract(sleeping!, 1));
      });
      f.call(take, [block, thread]);
    });
  });

/** Used when a kernel traps in a helper: ends the call without the helper's part, and tells the caller that it failed. */
const breakOff = routine(['block'], 'breakOff', (f, { block }) => {
  f.atomicStore(plus(block, OFFSET.failed), integer(1));
  f.atomicStore(plus(block, OFFSET.unfinished), integer(0));
  f.drop(wake(plus(block, OFFSET.unfinished), 1));
});
