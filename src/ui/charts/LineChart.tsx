import { memo, type ReactNode, useId } from 'react';
import {
  bandPath,
  type Chart,
  LINE_END_GAP,
  linePath,
  VALUE_GAP,
  verticalLine,
  xPixel,
  yPixel,
} from '../../page/curves/plot.ts';
import './lineChart.css';

const CLIP_MARGIN = 1; // px by which lines may leave the plot: half of the widest stroke

interface Props {
  readonly chart: Chart;
  readonly className?: string;
  readonly label?: string; // the chart in words; absent if they are elsewhere on the page
  readonly fit?: 'box' | 'stretch'; // sized by CSS in proportion ('box') or stretched; absent: the plot's size
  readonly children?: ReactNode; // painted over the lines
}

export const LineChart = memo(function LineChart({ chart, className = '', label, fit, children }: Props) {
  const {
    plot,
    valueTicks = [],
    updateTicks = [],
    gridLines = [],
    flags = [],
    bands = [],
    lines,
    baselines = [],
  } = chart;
  const id = useId();
  const { width, height, left, right, top } = plot;
  const floor = height - plot.bottom;
  const end = width - right + LINE_END_GAP;
  return (
    <svg
      className={className === '' ? 'line-chart' : `line-chart ${className}`}
      viewBox={`0 0 ${width} ${height}`}
      {...(fit === undefined && { width, height })}
      {...(fit === 'stretch' && { preserveAspectRatio: 'none' })}
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      <clipPath id={id}>
        <rect
          x={left - CLIP_MARGIN}
          y={0}
          width={Math.max(0, width - left - right) + 2 * CLIP_MARGIN}
          height={floor + CLIP_MARGIN}
        />
      </clipPath>
      {gridLines.map((value) => (
        <path key={value} className="rule" d={`M${left} ${yPixel(plot, value)}H${end}`} />
      ))}
      <g className="values">
        {valueTicks.map(({ value: at, text }) => (
          <text key={at} x={left - VALUE_GAP} y={yPixel(plot, at) + 4} textAnchor="end">
            {text}
          </text>
        ))}
      </g>
      <g className="updates">
        {updateTicks.map(({ value: at, text, anchor }) => (
          <text key={at} x={xPixel(plot, at)} y={floor + 16} textAnchor={anchor ?? 'middle'}>
            {text}
          </text>
        ))}
      </g>
      {flags.map(({ update, text }) => (
        <g key={update}>
          <path className="flag" d={verticalLine(plot, update)} />
          <text className="mark-label" x={xPixel(plot, update) + 2} y={top + 8}>
            {text}
          </text>
        </g>
      ))}
      <g clipPath={`url(#${id})`}>
        {bands.map(({ x, low, high, colour }, i) => (
          <path key={i} className="band" d={bandPath(plot, x, low, high) || undefined} style={{ fill: colour }} />
        ))}
        {lines.map(({ cssClass, x, y, colour, dash, run }, i) => (
          <path
            key={i}
            className={cssClass}
            d={linePath(plot, x, y) || undefined}
            style={{ stroke: colour }}
            strokeDasharray={dash}
            data-run={run}
          />
        ))}
      </g>
      {baselines.map(({ text, x, y, line }) => (
        <g key={text}>
          <path className="level" d={`M${left} ${line}H${end}`} />
          <path className="level-lead" d={`M${x - 7} ${line}L${x - 2} ${y - 3}`} />
          <text className="level-label" x={x} y={y}>
            {text}
          </text>
        </g>
      ))}
      {children}
    </svg>
  );
});
