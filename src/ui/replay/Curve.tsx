import { METRICS } from '../../domain/metrics.ts';
import { SHARES } from '../curves/axes.ts';
import { type Chart, LineChart } from '../curves/LineChart.tsx';
import { across, down, type Plot } from '../curves/plot.ts';
import { percent } from '../parts/numberText.ts';

const SMALL = { width: 320, height: 58 };
const MARGINS = { left: 44, right: 8, top: 6, bottom: 7 };
const TITLED_BOTTOM = 20; // bottom margin with the names of the updates

interface Props {
  readonly success: readonly number[]; // by update from 1
  readonly updates: readonly number[]; // updates that can be shown
  readonly at: number; // index of the update shown
  readonly until?: number; // end of the axis, if more updates are to come
  readonly behind?: readonly number[]; // success of another run, to compare with
  readonly size?: { readonly width: number; readonly height: number };
  readonly label?: string;
  readonly dots?: boolean; // false: only the dot of the update shown
  readonly titled?: boolean; // both axes have titles
}

/** The plot of a success curve whose axis ends at update `until`. */
export function curvePlot({
  updates,
  until,
  size = SMALL,
  titled = false,
}: Pick<Props, 'updates' | 'size' | 'titled'> & { readonly until: number }): Plot {
  const from = Math.min(1, ...updates);
  const x = { from, to: Math.max(from + 1, until) };
  return { ...MARGINS, ...size, bottom: titled ? TITLED_BOTTOM : MARGINS.bottom, x, y: SHARES };
}

/** The success curve of a run, highlighted up to the update shown. Its dots are the updates that can be shown. */
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
  const plot = curvePlot({ updates, until, size, titled });
  const shownUpdate = updates[at] ?? success.length;
  const line = (name: string, y: readonly number[]) => ({ name, x: y.map((_, i) => i + 1), y });
  const chart: Chart = {
    plot,
    values: SHARES.ticks.map((share) => ({ at: share, text: percent(share) })),
    rules: SHARES.ticks,
    updates: titled
      ? [
          { at: plot.x.from, text: `update ${plot.x.from}`, anchor: 'start' },
          { at: plot.x.to, text: `update ${until}`, anchor: 'end' },
        ]
      : [],
    lines: [
      ...(behind ? [line('ahead', behind)] : []),
      line('ahead', success),
      line('so-far', success.slice(0, shownUpdate)),
    ],
  };
  const description =
    label ??
    `${METRICS['rollout/success'].label} of the recorded run: from ${percent(success[0])} to ${percent(success.at(-1))} in ${success.length} updates`;
  return (
    <LineChart className="replay-curve" fit="box" label={description} chart={chart}>
      {titled && (
        <text x={plot.left + 4} y={plot.top + 12}>
          {METRICS['rollout/success'].label}
        </text>
      )}
      {updates.map(
        (update, i) =>
          (dots || i === at) && (
            <circle
              key={update}
              cx={across(plot, update)}
              cy={down(plot, success[Math.max(0, update - 1)] ?? 0)}
              r={i === at ? 4.5 : 3}
              data-now={i === at}
            />
          ),
      )}
    </LineChart>
  );
}
