import { metricWords } from '../../domain/evaluationSet.ts';
import type { Run } from '../../runs/run.ts';
import { useView } from '../curves/view.ts';
import { shownText } from '../run/metricText.ts';
import { courseOf } from './courses.ts';
import { KEPT_METRICS, type KeptMetric, lastOf } from './keptRun.ts';
import { DASHES, type Line } from './line.ts';
import { endOf, scaleOf } from './curvePlacement.ts';
import { useRuns } from './runStore.ts';

const WIDTH = 160;
const HEIGHT = 56;

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

function Small({ line: { run, slot }, all, metric }: Props & { readonly metric: KeptMetric }) {
  const smoothing = useView((s) => s.smoothing);
  const course = courseOf(run, metric, smoothing);
  const { domain } = scaleOf(metric, all, false).axis;
  const x = (update: number) => (WIDTH * update) / endOf(all);
  const y = (value: number) => 2 + ((domain[1] - value) / (domain[1] - domain[0])) * (HEIGHT - 4);
  const path = (ys: ArrayLike<number>) =>
    Array.from(course?.x ?? [], (u, i) => `${i === 0 ? 'M' : 'L'}${x(u).toFixed(1)} ${y(ys[i] ?? 0).toFixed(1)}`).join(
      '',
    );
  const stroke = { stroke: `var(--run-${slot})` };
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <path className="floor" d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
      {course && <path className="run-raw" d={path(course.y)} style={stroke} />}
      {course && <path className="run-line" d={path(course.smooth)} style={stroke} strokeDasharray={DASHES[slot]} />}
    </svg>
  );
}
