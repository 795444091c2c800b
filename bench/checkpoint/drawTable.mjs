// Tokens a second by slot, as text.
import { over } from './slots.mjs';

/** @param {readonly import('./slots.mjs').Record_[]} records */
export function drawTable(records) {
  const names = [...new Set(records.map(({ slot }) => slot))];
  const copy = Math.max(...records.map((record) => /** @type {number} */ (record['copyGBps'] ?? 0)));
  const lines = names.map((name) => {
    const own = records.filter(({ slot }) => slot === name);
    const ms = over(own, ({ took, count }) => (1000 * took.s) / count);
    const cpu = over(own, ({ took, count }) => (1000 * took.cpuS) / count);
    const [first] = /** @type {any[]} */ (own);
    const rows = Number(/-(\d+)x/.exec(name)?.[1]);
    const gbps = first.weightBytes ? first.weightBytes / rows / ms.best / 1e6 : NaN;
    const bytes = Number.isFinite(gbps) ? `; ${(first.weightBytes / rows / 1e6).toFixed(1)} MB of weights a token, ${gbps.toFixed(1)} GB/s of ${copy.toFixed(1)} that a copy reads` : ''; // prettier-ignore
    const processor = Number.isFinite(cpu.median) ? `; of processors ${cpu.median.toFixed(2)} ms a token, least ${cpu.best.toFixed(2)}` : ''; // prettier-ignore
    const loads = own.map(({ loadAfter }) => loadAfter.toFixed(1)).join(' ');
    return [
      `  ${name}: ${first.backend}: ${(1000 / ms.median).toFixed(1)} tokens/s, best ${(1000 / ms.best).toFixed(1)}, n ${ms.n}${processor}${bytes}; load ${loads}`, // prettier-ignore
      `      ${JSON.stringify(first.text.slice(0, 90))}`,
    ].join('\n');
  });
  return lines.join('\n');
}
