// Repeating, timing and counting what is awaited.

/** @param {readonly number[]} values */
export function spread(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return { n: values.length, best: sorted[0] ?? NaN, median: sorted[Math.floor(sorted.length / 2)] ?? NaN };
}

/** ms of an awaited run. @param {() => Promise<unknown>} run */
export async function timed(run) {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** Repeats an awaited run for about `seconds`. @param {() => Promise<unknown>} run @param {number} seconds */
export async function repeat(run, seconds) {
  /** @type {number[]} */
  const ms = [];
  const end = performance.now() + seconds * 1000;
  do ms.push(await timed(run));
  while (performance.now() < end && ms.length < 200);
  return spread(ms);
}

const PRODUCTS = 3; // before a step and after it

/**
 * Repeats a step for about `seconds`, with products before and after each: an adapter's speed may change by the second, so
 * only neighbours compare. Returns the ms, and step ms beside product ms: the median of the rounds.
 * @param {() => Promise<unknown>} step @param {() => Promise<unknown>} product @param {number} seconds
 */
export async function interleaved(step, product, seconds) {
  const products = async () => {
    let ms = 0;
    for (let i = 0; i < PRODUCTS; i++) ms += await timed(product);
    return ms / PRODUCTS;
  };
  /** @type {number[]} */
  const ms = [];
  /** @type {number[]} */
  const times = [];
  const end = performance.now() + seconds * 1000;
  let before = await products();
  do {
    const own = await timed(step);
    const after = await products();
    ms.push(own);
    times.push(own / ((before + after) / 2));
    before = after;
  } while (performance.now() < end && ms.length < 200);
  return { ...spread(ms), products: spread(times).median };
}

const CALLS = /** @type {const} */ (['begin', 'decode', 'load', 'score', 'credit', 'learn', 'report']);

/**
 * The engine's counters over one run, and the ms its calls took until they returned or first waited: what JavaScript does.
 * @param {import('../src/model/policy.ts').Policy} policy @param {() => Promise<unknown>} run
 */
export async function counted(policy, run) {
  let jsMs = 0;
  const own = CALLS.map((name) => {
    const call = /** @type {(...args: unknown[]) => unknown} */ (policy[name]);
    const timedCall = (/** @type {unknown[]} */ ...args) => {
      const start = performance.now();
      const result = call.apply(policy, args);
      jsMs += performance.now() - start;
      return result;
    };
    return [name, timedCall];
  });
  const before = policy.counters();
  Object.assign(policy, Object.fromEntries(own));
  try {
    await run();
  } finally {
    for (const name of CALLS) Reflect.deleteProperty(policy, name); // what the class has shows again
  }
  const after = policy.counters();
  const { dispatches, submits, readbacks, uploadBytes, creations } = before;
  return {
    dispatches: after.dispatches - dispatches,
    submits: after.submits - submits,
    readbacks: after.readbacks - readbacks,
    uploadBytes: after.uploadBytes - uploadBytes,
    creations: after.creations - creations,
    jsUsPerDispatch: (jsMs * 1000) / (after.dispatches - dispatches),
  };
}
