import { METRICS, type MetricName } from '../domain/metrics.ts';
import { mergeToCount } from '../runs/buckets.ts';
import type { PackedRun } from '../runs/packed.ts';
import { Series } from '../runs/series.ts';

/** The curves in the picture, with their colours. Their values are from 0 to 1. */
const CURVES: readonly (readonly [MetricName, string])[] = [
  ['rollout/success', '#2f6fde'],
  ['eval/success', '#d9480f'],
];
const SIZE = { width: 640, height: 280, left: 44, right: 16, top: 16, bottom: 56 };

/**
 * curves.svg: the share of solved tasks over updates, in training and in evaluation. Readable on light and dark
 * backgrounds.
 */
export function curvesFile({ points, update }: PackedRun): string {
  const { width, height, left, right, top, bottom } = SIZE;
  const lastUpdate = Math.max(1, update);
  const x = (at: number) => (left + (at / lastUpdate) * (width - left - right)).toFixed(1);
  const y = (value: number) => (top + (1 - value) * (height - top - bottom)).toFixed(1);
  const grid = [0, 0.25, 0.5, 0.75, 1].map(
    (value) =>
      `<line x1="${left}" x2="${width - right}" y1="${y(value)}" y2="${y(value)}" stroke="#8888" stroke-width="0.5"/>` +
      `<text x="${left - 6}" y="${Number(y(value)) + 4}" text-anchor="end">${value * 100} %</text>`,
  );
  const lines = CURVES.map(([name, colour], i) => {
    const curve = points.get(name);
    const buckets = curve ? mergeToCount(Series.of(curve).buckets, 300) : [];
    const path = buckets.map(({ last, sum, count }) => `${x(last)},${y(sum / count)}`).join(' ');
    const legendX = left + i * 260;
    return (
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>` +
      `<line x1="${legendX}" x2="${legendX + 18}" y1="${height - 12}" y2="${height - 12}" stroke="${colour}" stroke-width="3"/>` +
      `<text x="${legendX + 24}" y="${height - 8}">${METRICS[name].label}</text>`
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
