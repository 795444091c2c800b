import { percent } from '../parts/format.ts';

const WIDTH = 320;
const HEIGHT = 58;
const PAD = { left: 34, right: 8, top: 6, bottom: 7 };

interface Props {
  readonly success: readonly number[]; // by update from 1
  readonly updates: readonly number[]; // that can be shown
  readonly at: number; // which of them is
}

/** Success of the recorded run, drawn as far as the update in view; its dots are the updates that can be shown. */
export function Curve({ success, updates, at }: Props) {
  const last = success.length;
  const x = (update: number) => PAD.left + ((update - 1) * (WIDTH - PAD.left - PAD.right)) / Math.max(1, last - 1);
  const y = (share: number) => HEIGHT - PAD.bottom - share * (HEIGHT - PAD.top - PAD.bottom);
  const path = (to: number) =>
    success
      .slice(0, to)
      .map((share, i) => `${i === 0 ? 'M' : 'L'}${x(i + 1).toFixed(1)} ${y(share).toFixed(1)}`)
      .join('');
  const now = updates[at] ?? last;
  return (
    <svg
      className="replay-curve"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Success of the recorded run: from ${percent(success[0])} to ${percent(success.at(-1))} in ${last} updates`}
    >
      {[0, 0.5, 1].map((share) => (
        <g key={share}>
          <path className="grid" d={`M${PAD.left} ${y(share)}H${WIDTH - PAD.right}`} />
          <text x={PAD.left - 5} y={y(share) + 3} textAnchor="end">
            {percent(share)}
          </text>
        </g>
      ))}
      <path className="ahead" d={path(last)} />
      <path className="so-far" d={path(now)} />
      {updates.map((update, i) => (
        <circle
          key={update}
          cx={x(update)}
          cy={y(success[update - 1] ?? 0)}
          r={i === at ? 4.5 : 3}
          data-now={i === at}
        />
      ))}
    </svg>
  );
}
