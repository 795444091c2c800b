import { meanCurve } from '../../experiments/statistics.ts';
import { percent } from './numberText.ts';

const WIDTH = 112;
const HEIGHT = 30;
const PAD = 1.5; // half of the widest stroke

/** Success by update, 0 to 1 on every row alike: each seed thin, their mean bold, and the room from the lowest to the highest. */
export function Sparkline({ curves }: { readonly curves: readonly (readonly number[])[] }) {
  const mean = meanCurve(curves);
  const longest = mean.length;
  if (longest === 0) return <span className="faint">–</span>;
  const seeds = curves.length === 1 ? 'one seed' : `mean of ${curves.length} seeds`;
  return (
    <svg
      className="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Training success, ${seeds}: from ${percent(mean[0])} to ${percent(mean.at(-1))} in ${longest} updates`}
    >
      <path className="floor" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
      {curves.length > 1 && <path className="room" d={room(curves, longest)} />}
      {curves.map((curve, seed) => (
        <path key={seed} className="one" d={line(curve, longest)} />
      ))}
      <path className="mean" d={line(mean, longest)} />
    </svg>
  );
}

/** From the highest of the curves at each update back along the lowest. */
function room(curves: readonly (readonly number[])[], longest: number): string {
  const at = (i: number) => curves.flatMap((curve) => curve[i] ?? []);
  const all = Array.from({ length: longest }, (_, i) => at(i));
  const upper = line(
    all.map((values) => Math.max(...values)),
    longest,
  );
  const lower = line(
    all.map((values) => Math.min(...values)),
    longest,
  );
  return `${upper}L${lower.slice(1).split('L').toReversed().join('L')}Z`;
}

function line(curve: readonly number[], longest: number): string {
  const x = (i: number) => PAD + (i * (WIDTH - 2 * PAD)) / Math.max(1, longest - 1);
  const y = (value: number) => HEIGHT - PAD - value * (HEIGHT - 2 * PAD);
  return curve.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join('');
}
