// What is measured, and its arithmetic: one canonical count of FLOPs a workload, so that GFLOP/s rank as tokens/s do.

/** @type {Readonly<Record<'W1' | 'W2' | 'W3', import('./peer.mjs').Workload>>} */
export const WORKLOADS = {
  W1: { V: 128, C: 64, L: 2, H: 4, T: 64, B: 64, F: 256, lr: 3e-3 },
  W2: { V: 256, C: 128, L: 4, H: 4, T: 128, B: 16, F: 512, lr: 2e-3 },
  W3: { V: 1024, C: 256, L: 6, H: 8, T: 256, B: 4, F: 1024, lr: 1e-3 },
};

/** G1 draws from the model of W1. */
export const GENERATION = { sequences: 64, prompt: 16, newTokens: 48 };

/** Tokens and FLOPs: 6 a matrix element and token, and causal attention. @param {import('./peer.mjs').Workload} c */
export function accounting(c) {
  const tokens = c.B * c.T;
  const elements = c.L * (4 * c.C * c.C + 2 * c.C * c.F) + c.V * c.C;
  const attention = 6 * c.L * c.C * (c.T + 1);
  return { tokens, flops: tokens * (6 * elements + attention), forwardFlopsPerToken: 2 * elements + attention / 3 };
}

/** One batch to learn by heart: a fixed walk over the vocabulary, y the token after x. @param {import('./peer.mjs').Workload} c */
export function batch(c) {
  const x = new Uint32Array(c.B * c.T);
  const y = new Uint32Array(c.B * c.T);
  const next = (/** @type {number} */ v) => (v * 5 + 7) % c.V; // one cycle through all of a power of two
  for (let b = 0; b < c.B; b++) {
    let token = (b * 31) % c.V;
    for (let t = 0; t < c.T; t++) {
      x[b * c.T + t] = token;
      token = next(token);
      y[b * c.T + t] = token;
    }
  }
  return { x, y };
}

/** Prompts of G1. @param {import('./peer.mjs').Workload} c */
export function prompts(c) {
  return Uint32Array.from({ length: GENERATION.sequences * GENERATION.prompt }, (_, i) => (i * 37) % c.V);
}
