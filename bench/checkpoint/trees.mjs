// What the sources of other working trees may lack, or have under another name: threads, fused products, plans of memory.
import * as fused from '../../src/cli/fusedProducts.ts';
import * as node from '../../src/cli/nodeThreads.ts';
import * as memory from '../../src/model/cpu/adapters/memory.ts';
import { ADAPTERS } from './batch.mjs';

/** To be called before anything is computed: as the programs of src/cli do. */
export function prepare() {
  /** @type {Partial<typeof fused>} */ (fused).allowFusedProducts?.();
}

/** What makes a policy or a text model compute in so many threads; nothing where one is asked for, or the tree has none. @param {number} count */
export function threaded(count) {
  if (count <= 1) return {};
  const { nodeThreads } = /** @type {Partial<typeof node>} */ (node);
  if (!nodeThreads) throw new Error(`bench: that working tree computes in one thread, not in ${count}.`);
  return { threads: nodeThreads(count) };
}

/**
 * Memory by purpose and the sizes of passes, as such a policy is opened.
 * @param {import('../../src/model/policy.ts').PolicySpec} spec @param {import('../../src/model/weightSource.ts').WeightSource} weights
 * @param {{ maxTokens?: number, keptTokens?: number, maxBytes?: number }} [options] maxBytes: for trees that can make do with less
 */
export function planOf(spec, weights, options = {}) {
  const { adaptedPolicyPlan, passSizes } = /** @type {any} */ (memory);
  const parts = memory.adaptedPolicyMemory(spec, weights, ADAPTERS, options);
  const { capacity, keptTokens } = (passSizes ?? noSizes)(spec, options) ?? adaptedPolicyPlan(spec, weights, ADAPTERS, options).passes; // prettier-ignore
  return { parts, bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0), capacity, keptTokens };
}

const noSizes = () => null;
