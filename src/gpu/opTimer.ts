import { submit, type Gpu } from './device.ts';
import type { Dispatch } from './plan.ts';
import { Readback } from './readback.ts';
import { Arena } from './tensor.ts';

/** Minimum ms of a timed run. Timestamps and clocks are coarse: browsers quantise both to 0.1 ms. */
const MIN_TIMED_MS = 3;
const MAX_REPEATS = 512;

/** Repeats dispatches to time them, which overwrites their outputs: call it only if these no longer matter. */
export interface OpTimer {
  readonly clock: 'timestamps' | 'queue';
  /** Time of one dispatch, in ms. */
  time(op: Dispatch): Promise<number>;
  close(): void;
}

/** Opens a timer. It uses the device's timestamps if there are any, otherwise the clock around a submit per run. */
export async function openOpTimer(gpu: Gpu, now: () => number): Promise<OpTimer> {
  const timestamps = gpu.device.features.has('timestamp-query') ? await timestampedRun(gpu) : null;
  const run = timestamps?.run ?? clockedRun(gpu, now);
  // time of an empty run, which the clock includes and timestamps do not
  const overhead = timestamps ? 0 : Math.min(await run(null, 0), await run(null, 0), await run(null, 0));
  return {
    clock: timestamps ? 'timestamps' : 'queue',
    close: timestamps?.close ?? (() => undefined),
    async time(op) {
      // the shorter of two, because other work can only add time
      const shortest = async (repeats: number) =>
        Math.max(0, Math.min(await run(op, repeats), await run(op, repeats)) - overhead) / repeats;
      await run(op, 1); // warms up
      const single = await shortest(1);
      if (single >= MIN_TIMED_MS) return single;
      return shortest(Math.min(MAX_REPEATS, Math.ceil(MIN_TIMED_MS / Math.max(single, MIN_TIMED_MS / MAX_REPEATS))));
    },
  };
}

type TimedRun = (op: Dispatch | null, repeats: number) => Promise<number>;

function encode(pass: GPUComputePassEncoder, op: Dispatch | null, repeats: number): void {
  if (!op?.entry.pipeline) return;
  pass.setPipeline(op.entry.pipeline);
  pass.setBindGroup(0, op.bindGroup);
  for (let i = 0; i < repeats; i++) pass.dispatchWorkgroups(...op.grid);
}

function clockedRun(gpu: Gpu, now: () => number): TimedRun {
  return async (op, repeats) => {
    const startedAt = now();
    submit(gpu, (encoder) => {
      const pass = encoder.beginComputePass();
      encode(pass, op, repeats);
      pass.end();
    });
    await gpu.device.queue.onSubmittedWorkDone();
    return now() - startedAt;
  };
}

async function timestampedRun(gpu: Gpu): Promise<{ readonly run: TimedRun; readonly close: () => void }> {
  const querySet = gpu.device.createQuerySet({ type: 'timestamp', count: 2 });
  const arena = new Arena(gpu);
  const timestamps = arena.declare('timestamps', [4], [], GPUBufferUsage.QUERY_RESOLVE);
  await arena.allocate();
  const readback = new Readback(gpu, 'timestamps', [timestamps]);
  const run: TimedRun = async (op, repeats) => {
    submit(gpu, (encoder) => {
      const pass = encoder.beginComputePass({
        timestampWrites: { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 },
      });
      encode(pass, op, repeats);
      pass.end();
      encoder.resolveQuerySet(querySet, 0, 2, timestamps.buffer, 0);
      readback.encode(encoder);
    });
    const [words] = await readback.read();
    const [begin, end] = new BigUint64Array(words!.buffer, words!.byteOffset, 2);
    return Math.max(0, Number(end! - begin!)) / 1e6; // ns
  };
  const close = () => {
    querySet.destroy();
    readback.destroy();
    arena.destroy();
  };
  return { run, close };
}
