import { memo } from 'react';
import { Area, ComposedChart, Line, ReferenceLine, XAxis, YAxis } from 'recharts';
import { BaselineName } from './BaselineName.tsx';
import { AXIS, baselineNames, BEHIND, type Frame, MARGIN, ticksOf } from './frame.ts';
import { short } from '../parts/numberText.ts';

/** A line without dots that is drawn at once. */
const STILL = { type: 'linear', dot: false, activeDot: false, isAnimationActive: false, connectNulls: true } as const;
/** An axis of numbers, whose ticks are chosen here. */
const NUMBERS = { type: 'number', tickLine: false, interval: 0, tick: { fill: 'var(--ink-3)', fontSize: 10 } } as const;

interface ViewBox {
  readonly viewBox: { readonly x: number };
}

/** One curve: every update faint, its smoothed course, extremes as a band once updates share a position. */
export const Chart = memo(function Chart({ frame }: { readonly frame: Frame }) {
  const { width, height, side, right, rows, x, y, thinned, zoomed, baselines, marks } = frame;
  const names = baselineNames(frame);
  return (
    <ComposedChart width={width} height={height} data={rows} margin={{ ...MARGIN, right }} accessibilityLayer={false}>
      <XAxis
        dataKey="x"
        {...NUMBERS}
        domain={[x.from, x.to]}
        ticks={ticksOf(x)}
        allowDataOverflow={zoomed}
        height={AXIS}
        axisLine={{ stroke: 'var(--line-strong)' }}
        tickMargin={3}
        padding={{ right: BEHIND }}
      />
      <YAxis
        {...NUMBERS}
        domain={y.domain}
        scale={y.log ? 'log' : 'linear'}
        ticks={y.ticks}
        allowDataOverflow={zoomed}
        width={side}
        axisLine={false}
        tickFormatter={short}
      />
      {marks.map(({ update, text }) => (
        <ReferenceLine
          key={update}
          x={update}
          stroke="var(--flag)"
          strokeDasharray="2 3"
          ifOverflow="hidden"
          label={({ viewBox }: ViewBox) => (
            <text className="mark-label" x={viewBox.x + 2} y={MARGIN.top + 8}>
              {text}
            </text>
          )}
        />
      ))}
      {thinned && (
        <Area
          dataKey="band"
          stroke="none"
          fill="var(--curve)"
          fillOpacity={0.2}
          isAnimationActive={false}
          activeDot={false}
        />
      )}
      <Line dataKey="raw" stroke="var(--curve)" strokeOpacity={0.4} strokeWidth={1} {...STILL} />
      <Line dataKey="smooth" stroke="var(--curve)" strokeWidth={2} {...STILL} />
      {frame.traces.length > 1 && (
        <Line dataKey="held" stroke="var(--curve-2)" strokeWidth={2} strokeDasharray="5 3" {...STILL} />
      )}
      {baselines.map(({ label, share }, i) => (
        <ReferenceLine
          key={label}
          y={share}
          stroke="var(--baseline)"
          strokeDasharray="3 4"
          label={() => names[i] && <BaselineName name={names[i]} />}
        />
      ))}
    </ComposedChart>
  );
});
