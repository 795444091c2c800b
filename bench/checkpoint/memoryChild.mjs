// What an adapted policy really takes, against what it says it will; run by ../adapterMemory.mjs with --expose-gc. Prints a line of JSON.
import { activationSize } from '../../src/model/cpu/activations.ts';
import { adapters, batch, OBJECTIVE, OPTIMIZER } from './batch.mjs';
import { resident } from './machine.mjs';
import { openFile, openPolicy, specOf } from './openPolicy.mjs';
import { planOf, prepare } from './trees.mjs';

/** @typedef {{ model: string, sizes: import('./batch.mjs').Sizes, run: string, threads: number, mostBytes?: number }} Options `run`: estimate, open or update */

/** Listens to arrays over WebAssembly memories: the furthest byte that one of them has, in all memories together. */
function watchMemories() {
  /** @type {Map<ArrayBufferLike, number>} */
  const ends = new Map();
  const isMemory = (/** @type {unknown} */ buffer) =>
    buffer instanceof ArrayBuffer || buffer instanceof SharedArrayBuffer;
  for (const name of /** @type {const} */ (['Float32Array', 'Int32Array', 'Uint8Array'])) {
    globalThis[name] = new Proxy(/** @type {any} */ (globalThis[name]), {
      construct(target, given, by) {
        const made = Reflect.construct(target, given, by);
        const [buffer] = given;
        if (isMemory(buffer) && memories.has(buffer) && given.length > 2) {
          ends.set(buffer, Math.max(ends.get(buffer) ?? 0, made.byteOffset + made.byteLength));
        }
        return made;
      },
    });
  }
  /** @type {Set<unknown>} */
  const memories = new Set();
  WebAssembly.Memory = new Proxy(WebAssembly.Memory, {
    construct(target, given, by) {
      const memory = Reflect.construct(target, given, by);
      memories.add(memory.buffer);
      return memory;
    },
  });
  return () => ({ taken: [...ends.values()].reduce((a, b) => a + b, 0), reserved: [...memories].reduce((/** @type {number} */ sum, buffer) => sum + /** @type {ArrayBuffer} */ (buffer).byteLength, 0) }); // prettier-ignore
}

/** The estimate by part, and that of a policy that keeps all that a pass over all rows computes. @param {any} base @param {any} spec @param {Options} options */
function estimates(base, spec, { sizes, mostBytes }) {
  const plan = planOf(spec, base.weights, mostBytes ? { maxBytes: mostBytes } : {});
  const { capacity, keptTokens, bytes, parts } = plan;
  const { groups, group, common, question, own } = sizes;
  const rows = groups * group;
  const nodes = { shared: common + groups * question + rows * own, alone: rows * (common + question + own) };
  const pass = (/** @type {number} */ tokens, /** @type {number} */ kept) =>
    4 * activationSize(spec.model, { ...capacity, tokens, pairs: tokens * spec.length }, kept);
  const now = pass(capacity.tokens, keptTokens);
  const keeping = Object.fromEntries(Object.entries(nodes).map(([name, n]) => [name, bytes - now + pass(n, n)]));
  return { parts, bytes, passTokens: capacity.tokens, keptTokens, nodes, keeping };
}

/** @param {Options} options */
async function main(options) {
  const taken = watchMemories();
  const { model, sizes, run, threads, mostBytes } = options;
  const base = await openFile(model);
  const rows = sizes.groups * sizes.group;
  const spec = specOf(base, rows, sizes.common + sizes.question + sizes.own);
  const estimate = estimates(base, spec, options);
  if (run === 'estimate') return { estimate };
  const collect = /** @type {() => void} */ (/** @type {any} */ (globalThis).gc);
  collect();
  const [before, buffers] = [resident().now, process.memoryUsage().arrayBuffers];
  const policy = /** @type {any} */ (
    await openPolicy(base, spec, { engine: 'cpu', share: true, threads, ...(mostBytes && { mostBytes }) })
  );
  collect();
  const opened = {
    resident: resident().now - before,
    buffers: process.memoryUsage().arrayBuffers - buffers,
    ...taken(),
  };
  if (run === 'open') return { estimate, opened };
  policy.writeWeights(adapters(policy.model));
  const { record, given } = batch(base, sizes);
  policy.load(record, given);
  await policy.score(1, { reference: false, values: false });
  await policy.learn(Int32Array.from({ length: rows }, (_, row) => row), OBJECTIVE, OPTIMIZER, 1); // prettier-ignore
  const { now, most } = resident();
  return { estimate, opened, updated: { resident: now - before, peak: most - before, ...taken() } };
}

prepare();
console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}'))));
