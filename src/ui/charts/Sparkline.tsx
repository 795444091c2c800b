import { meanCurve } from '../../base/statistics.ts';
import { SHARE_AXIS } from '../../page/curves/axes.ts';
import { LineChart } from './LineChart.tsx';
import { percent } from '../../page/words/numberText.ts';

// px; the margins are half of the widest stroke
const PLOT_BOX = { width: 112, height: 30, left: 1.5, right: 1.5, top: 1.5, bottom: 1.5 };

/** The axis is from 0 to 1. Each seed is a thin line, their mean is bold, and a band goes from lowest to highest. */
export function Sparkline({ curves }: { readonly curves: readonly (readonly number[])[] }) {
  const mean = meanCurve(curves);
  const updates = mean.length;
  if (updates === 0) return <span className="faint">–</span>;
  const seeds = curves.length === 1 ? 'one seed' : `mean of ${curves.length} seeds`;
  const x = mean.map((_, i) => i);
  const boundOver = (bound: (...values: number[]) => number) =>
    x.map((i) => bound(...curves.flatMap((curve) => curve[i] ?? [])));
  return (
    <LineChart
      className="sparkline"
      fit="box"
      label={`Training success, ${seeds}: from ${percent(mean[0])} to ${percent(mean.at(-1))} in ${updates} updates`}
      chart={{
        plot: { ...PLOT_BOX, x: { from: 0, to: Math.max(1, updates - 1) }, y: SHARE_AXIS },
        gridLines: [0],
        bands: curves.length > 1 ? [{ x, low: boundOver(Math.min), high: boundOver(Math.max) }] : [],
        lines: [...curves.map((y) => ({ cssClass: 'one', x, y })), { cssClass: 'mean', x, y: mean }],
      }}
    />
  );
}
