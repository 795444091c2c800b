import { METRICS } from '../../domain/metrics.ts';
import { percent } from '../parts/numberText.ts';

const SMALL = { width: 320, height: 58 };
const PAD = { left: 34, right: 8, top: 6, bottom: 7 };
const TITLED = 20; // below the plot, where the updates are named

interface Props {
  readonly success: readonly number[]; // by update from 1
  readonly updates: readonly number[]; // that can be shown
  readonly at: number; // which of them is
  readonly until?: number; // updates that there is room for, where more are to come
  readonly behind?: readonly number[]; // success of another run, to compare with
  readonly size?: { readonly width: number; readonly height: number };
  readonly label?: string;
  readonly dots?: boolean; // false: none but that of the update in view
  readonly titled?: boolean; // both axes say what they are of
}

/** Where an update stands on a curve of some width, and which one stands at a place. */
export function curveScale(width: number, first: number, last: number) {
  const room = width - PAD.left - PAD.right;
  const updates = Math.max(1, last - first);
  return {
    x: (update: number) => PAD.left + ((update - first) * room) / updates,
    update: (x: number) => first + ((x - PAD.left) * updates) / Math.max(1, room),
  };
}

/** Success of a run, drawn as far as the update in view; its dots are the updates that can be shown. */
export function Curve({
  success,
  updates,
  at,
  until = success.length,
  behind,
  size = SMALL,
  label,
  dots = true,
  titled = false,
}: Props) {
  const { width, height } = size;
  const { x } = curveScale(width, Math.min(1, ...updates), until);
  const bottom = titled ? TITLED : PAD.bottom;
  const y = (share: number) => height - bottom - share * (height - PAD.top - bottom);
  const path = (values: readonly number[]) =>
    values.map((share, i) => `${i === 0 ? 'M' : 'L'}${x(i + 1).toFixed(1)} ${y(share).toFixed(1)}`).join('');
  const now = updates[at] ?? success.length;
  const last = success.length;
  return (
    <svg
      className="replay-curve"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={
        label ??
        `${METRICS['rollout/success'].label} of the recorded run: from ${percent(success[0])} to ${percent(success.at(-1))} in ${last} updates`
      }
    >
      {[0, 0.5, 1].map((share) => (
        <g key={share}>
          <path className="grid" d={`M${PAD.left} ${y(share)}H${width - PAD.right}`} />
          <text x={PAD.left - 5} y={y(share) + 3} textAnchor="end">
            {percent(share)}
          </text>
        </g>
      ))}
      {titled && (
        <>
          <text x={PAD.left + 4} y={PAD.top + 12}>
            {METRICS['rollout/success'].label}
          </text>
          <text x={PAD.left} y={height - 5}>
            {updates[0] === 0 ? 'update 0' : 'update 1'}
          </text>
          <text x={width - PAD.right} y={height - 5} textAnchor="end">
            update {until}
          </text>
        </>
      )}
      {behind && <path className="ahead" d={path(behind)} />}
      <path className="ahead" d={path(success)} />
      <path className="so-far" d={path(success.slice(0, now))} />
      {updates.map(
        (update, i) =>
          (dots || i === at) && (
            <circle
              key={update}
              cx={x(update)}
              cy={y(success[Math.max(0, update - 1)] ?? 0)}
              r={i === at ? 4.5 : 3}
              data-now={i === at}
            />
          ),
      )}
    </svg>
  );
}
