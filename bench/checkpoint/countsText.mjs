// What countsChild.mjs found, as text, and what is predicted from it.
import { ASSUMED, CLASSES, predicted } from './prediction.mjs';

const sum = (/** @type {readonly any[]} */ kernels, /** @type {(kernel: any) => number} */ of) =>
  kernels.reduce((all, kernel) => all + kernel.dispatches * of(kernel), 0);
const dispatches = (/** @type {readonly any[]} */ kernels) => sum(kernels, () => 1);

/** @param {any} found @param {readonly number[]} shares of the peak that products reach */
export function countsText({ adapter, memory, ran, whole, drawn }, shares) {
  const { measured, byPlans } = ran;
  const steps = drawn.steps;
  const each = (/** @type {string} */ key) => (drawn.counts[key] / steps).toFixed(1);
  const lines = [
    `${adapter}; ${(memory / 1e6).toFixed(0)} MB`,
    `an update of ${ran.work.nodes} tokens of the tree, run: ${measured.dispatches} dispatches, ${measured.submits} submits, ${measured.readbacks} read-backs, ${(measured.uploadBytes / 1e6).toFixed(1)} MB up, ${measured.creations} creations; by its plans ${dispatches(byPlans.kernels)}, ${byPlans.submits}, ${byPlans.readbacks}`,
    `an update of ${whole.work.nodes} (${whole.work.learned} learned from), by its plans: ${dispatches(whole.kernels)} dispatches, ${whole.submits} submits, ${whole.readbacks} read-backs; ${(sum(whole.kernels, ({ flops }) => flops) / 1e9).toFixed(0)} GFLOP in passes of ${whole.size} tokens, ${(sum(whole.kernels, ({ bytes }) => bytes) / 1e9).toFixed(0)} GB at least`,
    `a token drawn by ${drawn.rows} rows, run: ${each('dispatches')} dispatches, ${each('submits')} submits, ${each('readbacks')} read-backs, ${(sum(drawn.kernels, ({ flops }) => flops) / 1e9).toFixed(1)} GFLOP, ${(sum(drawn.kernels, ({ bytes }) => bytes) / 1e6).toFixed(0)} MB at least`,
    `PREDICTIONS, nothing measured: each dispatch max(FLOP/(share·peak), bytes/(${ASSUMED.bandwidthShare}·bandwidth), ${ASSUMED.launchUs} µs), ${ASSUMED.submitUs} µs a submit, ${ASSUMED.readbackUs} µs a read-back`,
  ];
  const perToken = { submits: drawn.counts.submits / steps, readbacks: drawn.counts.readbacks / steps };
  for (const gpu of CLASSES) {
    for (const share of shares) {
      const update = predicted(whole.kernels, whole, gpu, share);
      const token = predicted(drawn.kernels, perToken, gpu, share);
      lines.push(`  ${gpu.name}, products at ${(100 * share).toFixed(0)} %: an update ${update.toFixed(2)} s; ${drawn.rows} rows draw ${(drawn.rows / token).toFixed(0)} tokens/s`); // prettier-ignore
    }
  }
  return lines.join('\n');
}
