import { useRef } from 'react';
import { short } from '../parts/numberText.ts';
import { useSize } from '../parts/useSize.ts';
import { useLive } from '../run/liveStore.ts';
import { AXIS, MARGIN, SIDE } from './frame.ts';
import { lossPath } from './lossPath.ts';

/** The loss of the imitation before a run beside a checkpoint, by step, as far as this page has heard; nothing before two steps. */
export function ImitationCurve() {
  const losses = useLive((s) => s.losses);
  return losses.length < 2 ? null : <Curve losses={losses} />;
}

function Curve({ losses }: { readonly losses: readonly number[] }) {
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  const [first = NaN, last = NaN] = [losses[0], losses.at(-1)];
  const frame = { left: SIDE, top: MARGIN.top, right: width - MARGIN.right, bottom: height - AXIS };
  const { path, most } = lossPath(losses, frame);
  return (
    <figure
      className="card chart"
      title="−mean log π of the demonstrations, before each step"
      data-testid="imitation-curve"
    >
      <figcaption>
        <span className="cut soft">Imitation loss</span>
        <span className="end strong">{short(last)}</span>
      </figcaption>
      <div
        className="plot"
        ref={box}
        role="img"
        aria-label={`Imitation loss over ${losses.length} steps: ${short(first)} at the first, ${short(last)} at the last.`}
      >
        {width > 40 && (
          <svg className="chart-over sketch" width={width} height={height} aria-hidden="true">
            <path className="floor" d={`M${frame.left} ${frame.bottom}H${frame.right}`} />
            <text x={frame.left - 8} y={frame.top + 4} textAnchor="end">
              {short(most)}
            </text>
            <text x={frame.left - 8} y={frame.bottom + 4} textAnchor="end">
              0
            </text>
            <text x={frame.right} y={frame.bottom + 16} textAnchor="end">
              step {losses.length}
            </text>
            <path className="smooth" d={path} />
          </svg>
        )}
      </div>
    </figure>
  );
}
