import { metricWords } from '../../domain/evaluationSet.ts';
import type { Run } from '../../runs/run.ts';
import { LineChart } from '../curves/LineChart.tsx';
import type { Plot } from '../curves/plot.ts';
import { useView } from '../curves/view.ts';
import { shownText } from '../run/metricText.ts';
import { axisEnd } from '../curves/axes.ts';
import { courseOf, newestOf, scaleOf } from './courses.ts';
import { KEPT_METRICS, type KeptMetric, lastOf } from './keptRun.ts';
import { type Line, linesOf } from './line.ts';
import { useRuns } from './runStore.ts';

const BOX = { width: 160, height: 56, left: 0, right: 0, top: 2, bottom: 2 }; // px

interface Props {
  readonly line: Line;
  readonly all: readonly Run[]; // the axes hold for all runs, as above
}

/** Every metric that is kept of a run, small, with what it came to; a press draws it large. */
export function EveryCurve({ line, all }: Props) {
  const shown = useRuns((s) => s.metric);
  return (
    <section aria-labelledby="every-curve">
      <h3 id="every-curve">All curves of this run</h3>
      <ul className="every-curve">
        {KEPT_METRICS.map((metric) => (
          <li key={metric}>
            <button type="button" aria-pressed={metric === shown} onClick={() => useRuns.setState({ metric })}>
              <span className="line between">
                <span className="soft">{metricWords(metric, line.run.begun).label}</span>
                <b>{shownText(metric, lastOf(line.run, metric))}</b>
              </span>
              <Small line={line} all={all} metric={metric} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Small({ line, all, metric }: Props & { readonly metric: KeptMetric }) {
  const smoothing = useView((s) => s.smoothing);
  const course = courseOf(line.run, metric, smoothing);
  const plot: Plot = { ...BOX, x: { from: 0, to: axisEnd(newestOf(all)) }, y: scaleOf(metric, all, false).axis };
  return (
    <LineChart fit="stretch" chart={{ plot, rules: [plot.y.domain[0]], lines: course ? linesOf(line, course) : [] }} />
  );
}
