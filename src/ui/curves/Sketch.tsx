import { BaselineName } from './BaselineName.tsx';
import { across, AXIS, baselineNames, down, type Frame, MARGIN, type Row, ticksOf, VALUE_GAP } from './frame.ts';
import { short } from '../parts/numberText.ts';

/**
 * A chart in plain lines: while what is in view moves, for Recharts takes several times longer for each than there is from one paint to
 * the next, and on a recording, so that a first visit needs no library. It draws the same positions at the same places.
 */
export function Sketch({ frame }: { readonly frame: Frame }) {
  const { width, height, side, right, x, y, rows, thinned, marks, id } = frame;
  const floor = height - AXIS;
  const path = (valueOf: (row: Row) => number | undefined) =>
    rows
      .flatMap((row) => {
        const value = valueOf(row);
        return value === undefined ? [] : `${across(frame, row.x).toFixed(1)} ${down(frame, value).toFixed(1)}`;
      })
      .join('L');
  const band = rows.filter((row) => row.band);
  const edge = (row: Row, at: 0 | 1) =>
    `${across(frame, row.x).toFixed(1)} ${down(frame, row.band?.[at] ?? 0).toFixed(1)}`;
  const line = (d: string) => (d === '' ? undefined : `M${d}`);
  return (
    <svg className="chart-over sketch" width={width} height={height} aria-hidden="true">
      <clipPath id={id}>
        <rect x={side} y={0} width={Math.max(0, across(frame, x.to) - side)} height={floor} />
      </clipPath>
      <path className="floor" d={`M${side} ${floor}H${width - right}`} />
      {y.ticks.map((tick) => (
        <text key={tick} x={side - VALUE_GAP} y={down(frame, tick) + 4} textAnchor="end">
          {short(tick)}
        </text>
      ))}
      {ticksOf(x).map((tick) => (
        <text key={tick} x={across(frame, tick)} y={floor + 16} textAnchor="middle">
          {tick}
        </text>
      ))}
      {marks.map(({ update, text }) => (
        <g key={update}>
          <path className="mark" d={`M${across(frame, update)} ${MARGIN.top}V${floor}`} />
          <text className="mark-label" x={across(frame, update) + 2} y={MARGIN.top + 8}>
            {text}
          </text>
        </g>
      ))}
      <g clipPath={`url(#${id})`}>
        {thinned && (
          <path
            className="band"
            d={line([...band.map((row) => edge(row, 1)), ...band.toReversed().map((row) => edge(row, 0))].join('L'))}
          />
        )}
        <path className="raw" d={line(path(({ raw }) => raw))} />
        <path className="smooth" d={line(path(({ smooth }) => smooth))} />
        <path className="held" d={line(path(({ held }) => held))} />
      </g>
      <Baselines frame={frame} />
    </svg>
  );
}

/** What a curve is compared with, each with its name. */
function Baselines({ frame }: { readonly frame: Frame }) {
  const { width, side, right } = frame;
  return baselineNames(frame).map((name) => (
    <g key={name.text}>
      <path className="baseline" d={`M${side} ${name.line}H${width - right}`} />
      <BaselineName name={name} />
    </g>
  ));
}
