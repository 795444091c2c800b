import { METRICS, type MetricName } from '../domain/metrics.ts';
import { atMost } from '../runs/buckets.ts';
import type { PackedRun } from '../runs/packed.ts';
import { Series } from '../runs/series.ts';

/** Shares of 1, drawn over each other. */
const LINES: readonly (readonly [MetricName, string])[] = [
  ['rollout/success', '#2f6fde'],
  ['eval/success', '#d9480f'],
];
const SIZE = { width: 640, height: 280, left: 44, right: 16, top: 16, bottom: 56 };

/** curves.svg: how the share of solved tasks went, in training and on evaluated tasks; readable on light and dark. */
export function curvesFile({ points, update }: PackedRun): string {
  const { width, height, left, right, top, bottom } = SIZE;
  const most = Math.max(1, update);
  const x = (at: number) => (left + (at / most) * (width - left - right)).toFixed(1);
  const y = (share: number) => (top + (1 - share) * (height - top - bottom)).toFixed(1);
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<line x1="${left}" x2="${width - right}" y1="${y(share)}" y2="${y(share)}" stroke="#8888" stroke-width="0.5"/>` +
      `<text x="${left - 6}" y="${Number(y(share)) + 4}" text-anchor="end">${share * 100} %</text>`,
  );
  const lines = LINES.map(([name, colour], i) => {
    const curve = points.get(name);
    const drawn = curve ? atMost(Series.of(curve).buckets, 300) : [];
    const path = drawn.map(({ last, sum, count }) => `${x(last)},${y(sum / count)}`).join(' ');
    const key = left + i * 260;
    return (
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>` +
      `<line x1="${key}" x2="${key + 18}" y1="${height - 12}" y2="${height - 12}" stroke="${colour}" stroke-width="3"/>` +
      `<text x="${key + 24}" y="${height - 8}">${METRICS[name].label}</text>`
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" font-family="sans-serif" font-size="12" fill="#777">`,
    '<title>Share of tasks solved, update by update</title>',
    ...grid,
    `<text x="${left}" y="${height - bottom + 18}">0</text>`,
    `<text x="${width - right}" y="${height - bottom + 18}" text-anchor="end">update ${update}</text>`,
    ...lines,
    '</svg>\n',
  ].join('\n');
}
