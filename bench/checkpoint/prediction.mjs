// Predictions for GPUs that nobody measured, from counts that hold on any adapter. By each dispatch:
//   seconds = max(FLOP / (share · peak), bytes / (share · bandwidth), launch), and submits and read-backs on top;
// bytes are the least traffic, every operand once.

/** @typedef {import('./countsChild.mjs').Kernel} Kernel */

/** f32 TFLOP/s and GB/s of classes of GPUs: about an integrated one, a laptop's, a desktop's. */
export const CLASSES = [
  { name: '1 TFLOP/s, 50 GB/s', tflops: 1, gbps: 50 },
  { name: '5 TFLOP/s, 250 GB/s', tflops: 5, gbps: 250 },
  { name: '20 TFLOP/s, 700 GB/s', tflops: 20, gbps: 700 },
];

/** What is assumed beside. */
export const ASSUMED = { bandwidthShare: 0.6, launchUs: 5, submitUs: 30, readbackUs: 1000 };

/**
 * Seconds of dispatches, submits and read-backs, and what share of the dispatches' is spent on launches.
 * @param {readonly Kernel[]} kernels @param {{ submits: number, readbacks: number }} counts @param {typeof CLASSES[number]} gpu @param {number} share of the peak
 */
export function predicted(kernels, { submits, readbacks }, { tflops, gbps }, share) {
  const { bandwidthShare, launchUs, submitUs, readbackUs } = ASSUMED;
  const each = (/** @type {Kernel} */ { flops, bytes }) => Math.max(flops / (share * tflops * 1e12), bytes / (bandwidthShare * gbps * 1e9), launchUs / 1e6); // prettier-ignore
  const dispatches = kernels.reduce((sum, kernel) => sum + kernel.dispatches * each(kernel), 0);
  return dispatches + (submits * submitUs + readbacks * readbackUs) / 1e6;
}
