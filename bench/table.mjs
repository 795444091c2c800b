// The numbers of a run as text.

const share = (/** @type {number} */ x) => `${(100 * x).toFixed(0)} %`;

/** @param {string} place @param {Awaited<ReturnType<typeof import('./measure.mjs').measure>>} result */
export function table(place, { ceilings: top, workloads }) {
  const matmul = Object.entries(top.matmulGflops).map(([variant, gflops]) => `${variant} ${gflops.toFixed(1)}`);
  const larger = Object.entries(top.productsByEdge).map(([edge, gflops]) => `tiles ${edge}³ ${gflops.toFixed(1)}`);
  const lines = [
    `${place}: ${top.adapter}, subgroups of ${top.lanes}`,
    `  products GFLOP/s: ${[...matmul, ...larger].join(', ')}`,
    `  copy ${top.copyGBps.toFixed(1)} GB/s; dispatch ${top.dispatchUs.toFixed(1)} µs, of it JavaScript ` +
      `${top.jsUsPerDispatch.toFixed(2)} µs; submit ${top.submitUs.toFixed(0)} µs; read-back ${top.readbackUs.toFixed(0)} µs`,
  ];
  for (const [id, w] of Object.entries(workloads)) {
    const { dispatches, submits, readbacks, uploadBytes, creations, jsUsPerDispatch } = w.counts;
    const { n, best, median } = 'stepMs' in w ? w.stepMs : 'updateMs' in w ? w.updateMs : w.generateMs;
    lines.push(
      `  ${id}: ${w.tokensPerSecond.toFixed(0)} tokens/s, ${w.gflops.toFixed(2)} GFLOP/s; ${median.toFixed(1)} ms (best ` +
        `${best.toFixed(1)}, n ${n}); ${dispatches} dispatches, ${submits} submits, ${readbacks} read-backs, ` +
        `${uploadBytes} bytes up, ${creations} creations, JavaScript ${jsUsPerDispatch.toFixed(2)} µs a dispatch; of the ` +
        `roofline ${share(w.ofRoofline)}`,
    );
    if ('stageMs' in w)
      lines.push(`      ${parts(w)}; reward ${w.firstReward.toFixed(3)} → ${w.lastReward.toFixed(3)}`);
    if (!('stepMs' in w)) continue;
    lines.push(
      `      of the best product ${share(w.ofBestMatmul)}; first step after ${w.firstStepMs.toFixed(0)} ms; ` +
        `loss ${w.firstLoss.toFixed(3)} → ${w.lastLoss.toFixed(3)}`,
    );
  }
  return lines.join('\n');
}

/**
 * The stages of updates that wait for the device after each, and how fast tokens are drawn there.
 * @param {{ stageMs: { [stage: string]: number }, drawnPerSecond: number }} w
 */
function parts({ stageMs, drawnPerSecond }) {
  const ran = Object.entries(stageMs).filter(([, ms]) => ms > 0);
  const all = ran.reduce((sum, [, ms]) => sum + ms, 0);
  const each = ran.map(([stage, ms]) => `${stage} ${ms.toFixed(1)} ms (${share(ms / all)})`);
  return `${each.join(', ')}; ${drawnPerSecond.toFixed(0)} drawn tokens/s`;
}

/**
 * @typedef {{ size: string, times: number, value: number, n: number, flops: number, ms: number, cpuMs: number,
 *   bestCpuMs: number }} Growth
 */

/** Beyond this many times the growth of the arithmetic time has grown too much, if least and median say so. */
const SURPRISE = 1.15;

/**
 * Time against sizes, each beside half its size: how much the arithmetic grew and how much the least CPU time did.
 * @param {readonly Growth[]} rows
 */
export function scalingTable(rows) {
  const lines = ['size         median ms   CPU ms   least CPU ms    FLOPs ×   time ×'];
  for (const [i, { size, times, value, n, flops, ms, cpuMs, bestCpuMs }] of rows.entries()) {
    const half = times > 1 ? rows[i - 1] : undefined;
    const [work, time] = half ? [flops / half.flops, bestCpuMs / half.bestCpuMs] : [NaN, NaN];
    const growth = half ? `${work.toFixed(2).padStart(9)}${time.toFixed(2).padStart(9)}` : '';
    const numbers = [ms.toFixed(1).padStart(11), cpuMs.toFixed(1).padStart(9), bestCpuMs.toFixed(1).padStart(15)];
    const often = half ? cpuMs / half.cpuMs : NaN;
    const surprise = Math.min(time, often) > SURPRISE * work ? '   more than its arithmetic' : '';
    lines.push(`${`${size} ${value}`.padEnd(10)}${numbers.join('')}${growth}${surprise}   n ${n}`);
  }
  return lines.join('\n');
}
