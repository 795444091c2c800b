import { setup as ownSetup } from '../../bench/peer.mjs';
import { updates } from '../../bench/update.mjs';
import { batch, GENERATION, prompts, WORKLOADS } from '../../bench/workloads.mjs';

/** An engine in a page, this project's or another: what bench/peer.mjs and bench/peers give. */
interface Engine {
  readonly params: number;
  readonly step: (how: { readonly read: boolean }) => Promise<number>;
  readonly generate?: () => Promise<number>;
  readonly dispose: () => Promise<unknown>;
}
type Setup = (config: object, ctx: object) => Promise<Engine>;
type Size = keyof typeof WORKLOADS;

const MAX_STEPS = 200; // of a slot
let engine: Engine | null = null;

/**
 * Sets an engine up for training steps of a size, or for drawing tokens (G1), and takes the first one. `script` is the
 * address of another engine's bundle; null: this project's.
 */
export async function open(workload: Size | 'G1', script: string | null) {
  const setup = script === null ? (ownSetup as Setup) : ((await import(/* @vite-ignore */ script)) as { setup: Setup }).setup; // prettier-ignore
  const began = performance.now();
  const c = WORKLOADS[workload === 'G1' ? 'W1' : workload];
  engine =
    workload === 'G1'
      ? await setup(c, { ...batch(c), want: 'generate', generation: { ...GENERATION, prompts: prompts(c) } })
      : await setup(c, { ...batch(c), want: 'train' });
  const setupMs = performance.now() - began;
  const first = await slot(0);
  return { params: engine.params, setupMs, firstMs: performance.now() - began, ...first, vocabulary: c.V };
}

/** Repeats a step, or drawing, for about `seconds`, at least once. A step ends when its loss has been read. */
export async function slot(seconds: number) {
  if (!engine) throw new Error('No engine is open in this page.');
  const ms: number[] = [];
  let [loss, tokens] = [NaN, 0];
  const end = performance.now() + 1000 * seconds;
  do {
    const began = performance.now();
    if (engine.generate) tokens = await engine.generate();
    else loss = await engine.step({ read: true });
    ms.push(performance.now() - began);
  } while (performance.now() < end && ms.length < MAX_STEPS);
  return { ms, loss, tokens };
}

export async function close(): Promise<void> {
  await engine?.dispose();
  engine = null;
}

/** Whole updates of the RL loop at a size. */
export function update(size: Size, seconds: number) {
  return updates(WORKLOADS[size], navigator.gpu, { seconds });
}
