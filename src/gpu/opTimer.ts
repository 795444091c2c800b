import { submit, type Gpu } from './device.ts';
import type { Dispatch } from './plan.ts';
import { Readback } from './readback.ts';
import { Arena } from './tensor.ts';

/** Timestamps and clocks are coarse, browsers quantise both to 0.1 ms: what is timed takes at least so long. */
const LEAST_MS = 3;
const MOST_REPEATS = 512;

/** Times recorded dispatches by repeating them. What they write they write again, so call it where nothing matters but the time. */
export interface OpTimer {
  readonly clock: 'timestamps' | 'queue';
  /** ms of one dispatch. */
  time(op: Dispatch): Promise<number>;
  close(): void;
}

/** By timestamps of the device where it has them, else by the queue's clock around a submit of its own. */
export async function openOpTimer(gpu: Gpu, now: () => number): Promise<OpTimer> {
  const stamps = gpu.device.features.has('timestamp-query') ? await stampedRun(gpu) : null;
  const run = stamps?.run ?? clockedRun(gpu, now);
  // of an empty run, which the clock counts and timestamps do not
  const overhead = stamps ? 0 : Math.min(await run(null, 0), await run(null, 0), await run(null, 0));
  return {
    clock: stamps ? 'timestamps' : 'queue',
    close: stamps?.close ?? (() => undefined),
    async time(op) {
      // the lesser of two, as other work only ever adds to a time
      const least = async (repeats: number) =>
        Math.max(0, Math.min(await run(op, repeats), await run(op, repeats)) - overhead) / repeats;
      await run(op, 1); // warms up
      const once = await least(1);
      if (once >= LEAST_MS) return once;
      return least(Math.min(MOST_REPEATS, Math.ceil(LEAST_MS / Math.max(once, LEAST_MS / MOST_REPEATS))));
    },
  };
}

type TimedRun = (op: Dispatch | null, repeats: number) => Promise<number>;

function encode(pass: GPUComputePassEncoder, op: Dispatch | null, repeats: number): void {
  if (!op?.entry.pipeline) return;
  pass.setPipeline(op.entry.pipeline);
  pass.setBindGroup(0, op.group);
  for (let i = 0; i < repeats; i++) pass.dispatchWorkgroups(...op.grid);
}

function clockedRun(gpu: Gpu, now: () => number): TimedRun {
  return async (op, repeats) => {
    const began = now();
    submit(gpu, (encoder) => {
      const pass = encoder.beginComputePass();
      encode(pass, op, repeats);
      pass.end();
    });
    await gpu.device.queue.onSubmittedWorkDone();
    return now() - began;
  };
}

async function stampedRun(gpu: Gpu): Promise<{ readonly run: TimedRun; readonly close: () => void }> {
  const set = gpu.device.createQuerySet({ type: 'timestamp', count: 2 });
  const arena = new Arena(gpu);
  const stamps = arena.declare('timestamps', [4], [], GPUBufferUsage.QUERY_RESOLVE);
  await arena.allocate();
  const readback = new Readback(gpu, 'timestamps', [stamps]);
  const run: TimedRun = async (op, repeats) => {
    submit(gpu, (encoder) => {
      const pass = encoder.beginComputePass({
        timestampWrites: { querySet: set, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 },
      });
      encode(pass, op, repeats);
      pass.end();
      encoder.resolveQuerySet(set, 0, 2, stamps.buffer, 0);
      readback.encode(encoder);
    });
    const [words] = await readback.read();
    const [begin, end] = new BigUint64Array(words!.buffer, words!.byteOffset, 2);
    return Math.max(0, Number(end! - begin!)) / 1e6; // ns
  };
  const close = () => {
    set.destroy();
    readback.destroy();
    arena.destroy();
  };
  return { run, close };
}
