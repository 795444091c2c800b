import { METRICS } from '../../domain/metrics.ts';
import { SHARE_AXIS } from '../../page/curves/axes.ts';
import { LineChart } from './LineChart.tsx';
import { type Chart, type Plot, xPixel, yPixel } from '../../page/curves/plot.ts';
import { percent } from '../../page/words/numberText.ts';
import './successCurve.css';

const SMALL_SIZE = { width: 320, height: 58 };
const MARGINS = { left: 44, right: 8, top: 6, bottom: 7 };
const TITLED_BOTTOM = 20; // bottom margin with the names of the updates

interface Props {
  readonly success: readonly number[]; // by update from 1
  readonly updates: readonly number[]; // updates that can be shown
  readonly shownIndex: number; // index, in `updates`, of the update shown
  readonly axisEnd?: number; // end of the axis, if more updates are to come
  readonly comparedSuccess?: readonly number[]; // success of another run, to compare with
  readonly size?: { readonly width: number; readonly height: number };
  readonly label?: string;
  readonly hasDots?: boolean; // false: only the dot of the update shown
  readonly hasTitles?: boolean; // both axes have titles
}

export function curvePlot({
  updates,
  until,
  size = SMALL_SIZE,
  hasTitles = false,
}: Pick<Props, 'updates' | 'size' | 'hasTitles'> & { readonly until: number }): Plot {
  const from = Math.min(1, ...updates);
  const x = { from, to: Math.max(from + 1, until) };
  return { ...MARGINS, ...size, bottom: hasTitles ? TITLED_BOTTOM : MARGINS.bottom, x, y: SHARE_AXIS };
}

/** The success curve of a run, highlighted up to the update shown. Its dots are the updates that can be shown. */
export function SuccessCurve({
  success,
  updates,
  shownIndex,
  axisEnd = success.length,
  comparedSuccess,
  size = SMALL_SIZE,
  label,
  hasDots = true,
  hasTitles = false,
}: Props) {
  const plot = curvePlot({ updates, until: axisEnd, size, hasTitles });
  const shownUpdate = updates[shownIndex] ?? success.length;
  const line = (cssClass: string, y: readonly number[]) => ({ cssClass, x: y.map((_, i) => i + 1), y });
  const chart: Chart = {
    plot,
    valueTicks: SHARE_AXIS.ticks.map((share) => ({ value: share, text: percent(share) })),
    gridLines: SHARE_AXIS.ticks,
    updateTicks: hasTitles
      ? [
          { value: plot.x.from, text: `update ${plot.x.from}`, anchor: 'start' },
          { value: plot.x.to, text: `update ${axisEnd}`, anchor: 'end' },
        ]
      : [],
    lines: [
      ...(comparedSuccess ? [line('ahead', comparedSuccess)] : []),
      line('ahead', success),
      line('so-far', success.slice(0, shownUpdate)),
    ],
  };
  const description =
    label ??
    `${METRICS['rollout/success'].label} of the recorded run: from ${percent(success[0])} to ${percent(success.at(-1))} in ${success.length} updates`;
  return (
    <LineChart className="replay-curve" fit="box" label={description} chart={chart}>
      {hasTitles && (
        <text x={plot.left + 4} y={plot.top + 12}>
          {METRICS['rollout/success'].label}
        </text>
      )}
      {updates.map(
        (update, i) =>
          (hasDots || i === shownIndex) && (
            <circle
              key={update}
              cx={xPixel(plot, update)}
              cy={yPixel(plot, success[Math.max(0, update - 1)] ?? 0)}
              r={i === shownIndex ? 4.5 : 3}
              data-now={i === shownIndex}
            />
          ),
      )}
    </LineChart>
  );
}
