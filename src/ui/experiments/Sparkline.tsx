import { meanCurve } from '../../experiments/statistics.ts';
import { SHARES } from '../curves/axes.ts';
import { LineChart } from '../curves/LineChart.tsx';
import { percent } from '../parts/numberText.ts';

const BOX = { width: 112, height: 30, left: 1.5, right: 1.5, top: 1.5, bottom: 1.5 }; // px; half of the widest stroke around

/** Success by update, 0 to 1 on every row alike: each seed thin, their mean bold, and the room from the lowest to the highest. */
export function Sparkline({ curves }: { readonly curves: readonly (readonly number[])[] }) {
  const mean = meanCurve(curves);
  const longest = mean.length;
  if (longest === 0) return <span className="faint">–</span>;
  const seeds = curves.length === 1 ? 'one seed' : `mean of ${curves.length} seeds`;
  const x = mean.map((_, i) => i);
  const extreme = (of: (...values: number[]) => number) =>
    x.map((i) => of(...curves.flatMap((curve) => curve[i] ?? [])));
  return (
    <LineChart
      className="sparkline"
      fit="box"
      label={`Training success, ${seeds}: from ${percent(mean[0])} to ${percent(mean.at(-1))} in ${longest} updates`}
      chart={{
        plot: { ...BOX, x: { from: 0, to: Math.max(1, longest - 1) }, y: SHARES },
        rules: [0],
        bands: curves.length > 1 ? [{ x, low: extreme(Math.min), high: extreme(Math.max) }] : [],
        lines: [...curves.map((y) => ({ name: 'one', x, y })), { name: 'mean', x, y: mean }],
      }}
    />
  );
}
