// The numbers of a run as text.

const share = (/** @type {number} */ x) => `${(100 * x).toFixed(0)} %`;

/** @param {string} place @param {Awaited<ReturnType<typeof import('./measure.mjs').measure>>} result */
export function table(place, { ceilings: top, workloads }) {
  const matmul = Object.entries(top.matmulGflops).map(([variant, gflops]) => `${variant} ${gflops.toFixed(1)}`);
  const lines = [
    `${place}: ${top.adapter}, subgroups of ${top.lanes}`,
    `  products GFLOP/s: ${matmul.join(', ')}`,
    `  copy ${top.copyGBps.toFixed(1)} GB/s; dispatch ${top.dispatchUs.toFixed(1)} µs, of it JavaScript ` +
      `${top.jsUsPerDispatch.toFixed(2)} µs; submit ${top.submitUs.toFixed(0)} µs; read-back ${top.readbackUs.toFixed(0)} µs`,
  ];
  for (const [id, w] of Object.entries(workloads)) {
    const { dispatches, submits, readbacks, uploadBytes, creations } = w.counts;
    const training = 'stepMs' in w;
    const { n, best, median } = training ? w.stepMs : w.generateMs;
    lines.push(
      `  ${id}: ${w.tokensPerSecond.toFixed(0)} tokens/s, ${w.gflops.toFixed(2)} GFLOP/s; ${median.toFixed(1)} ms (best ` +
        `${best.toFixed(1)}, n ${n}); ${dispatches} dispatches, ${submits} submits, ${readbacks} read-backs, ` +
        `${uploadBytes} bytes up, ${creations} creations; of the roofline ${share(w.ofRoofline)}`,
    );
    if (!training) continue;
    lines.push(
      `      of the best product ${share(w.ofBestMatmul)}; first step after ${w.firstStepMs.toFixed(0)} ms; JavaScript ` +
        `${w.jsUsPerDispatch.toFixed(2)} µs a dispatch; loss ${w.firstLoss.toFixed(3)} → ${w.lastLoss.toFixed(3)}`,
    );
  }
  return lines.join('\n');
}
