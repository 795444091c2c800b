import { useRef, useState } from 'react';
import { METRICS } from '../../domain/metrics.ts';
import { linearAxis } from '../../page/curves/axes.ts';
import { type Plot, xPixel, yPixel } from '../../page/curves/plot.ts';
import { useChartView } from '../../page/curves/view.ts';
import { useSize } from '../../page/browser/useSize.ts';
import { useChartVersion } from '../../page/view/chartClock.ts';
import { TOP_MARGIN, X_AXIS_HEIGHT, Y_AXIS_WIDTH } from '../../page/view/frame.ts';
import {
  inputPlane,
  type InputPlane as Plane,
  type PlanePoint,
  PLANE_SOURCES,
  type PlaneSourceName,
  REGIMES,
  regimeAhead,
} from '../../page/view/inputPlane.ts';
import { useMarkedUpdate, useRecording } from '../../page/view/markedUpdate.ts';
import { pointNear, traceOf } from '../../page/view/traces.ts';
import { shortNumber } from '../../page/words/numberText.ts';
import { LineChart } from '../charts/LineChart.tsx';
import './inputPlane.css';

const RIGHT = 14; // px: half of the last tick's text

/** RAGEN-2's plane over the updates of the run in view, and the first turn's mutual information: exact beside sampled. */
export function InputPlane() {
  const [source, setSource] = useState<PlaneSourceName>('all');
  const box = useRef<HTMLDivElement>(null);
  const { width, height } = useSize(box);
  useChartVersion('collapse/mi_seq_estimate');
  const recorded = useRecording() !== null;
  const marked = useMarkedUpdate();
  const crosshair = useChartView((s) => s.crosshairUpdate);
  const update = crosshair ?? (recorded ? marked : null) ?? Infinity;
  const plane = inputPlane(source);
  const plot: Plot = {
    ...{ width, height, left: Y_AXIS_WIDTH, right: RIGHT, top: TOP_MARGIN, bottom: X_AXIS_HEIGHT },
    ...axesOf(plane),
  };
  const near = pointNear(traceOf(PLANE_SOURCES[source].information, null), update);
  const shown = plane.points.find((point) => point.update === near?.update) ?? plane.points.at(-1);
  const sentence = shown
    ? planeSentence(plane, shown)
    : recorded
      ? 'Not in the recording. Train to see it.'
      : 'Not measured. See “Measure mutual information every”.';
  return (
    <figure className="card chart input-plane" data-testid="input-plane">
      <figcaption>
        <span className="cut soft" title={METRICS['collapse/conditional_entropy_seq_est'].doc}>
          Does it read the input?
        </span>
        <select
          className="small end"
          aria-label="Turns in the plane"
          value={source}
          onChange={(event) => setSource(event.target.value as PlaneSourceName)}
        >
          {Object.entries(PLANE_SOURCES).map(([name, { label }]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </figcaption>
      <div className="plane-box" ref={box} role="img" aria-label={sentence}>
        {width > 40 && shown && <Path plot={plot} plane={plane} shown={shown} />}
      </div>
      <p className="small">{sentence}</p>
      <p className="small soft">{firstTurnSentence(update)}</p>
      <p className="small faint">
        Across: H(Z|X), how varied turns are after a context. Up: mutual information. ○ first measurement.
      </p>
    </figure>
  );
}

function axesOf({ points, bound }: Plane): Pick<Plot, 'x' | 'y'> {
  const highest = Math.max(0.01, ...points.map(({ entropy }) => entropy));
  const lowest = Math.min(0, ...points.map(({ information }) => information));
  const bucket = { ...{ first: 0, last: 0, count: 1, smooth: 0, sum: 0 }, min: 0, max: highest };
  return {
    x: { from: 0, to: linearAxis([bucket]).domain[1] },
    y: { domain: [lowest, Math.max(bound, 0.01)], log: false },
  };
}

/** Where the run is, and which way it has gone since the first measurement. */
function planeSentence(plane: Plane, shown: PlanePoint): string {
  const first = plane.points[0]!;
  const ahead = regimeAhead(first, shown, plane);
  const now = (name: 'entropy' | 'information') =>
    first === shown ? shortNumber(shown[name]) : `${shortNumber(first[name])} → ${shortNumber(shown[name])}`;
  const updates = first === shown ? `Update ${shown.update}` : `Updates ${first.update} → ${shown.update}`;
  const direction = ahead ? ` Towards ${ahead.name}: ${ahead.doc}.` : '';
  return `${updates}: H(Z|X) ${now('entropy')}, mutual information ${now('information')} of at most ${shortNumber(plane.bound)} nats.${direction}`;
}

interface PathProps {
  readonly plot: Plot;
  readonly plane: Plane;
  readonly shown: PlanePoint;
}

function Path({ plot, plane, shown }: PathProps) {
  const { points, bound } = plane;
  const first = points[0]!;
  const ahead = regimeAhead(first, shown, plane);
  const place = ({ entropy, information }: PlanePoint) => ({
    cx: xPixel(plot, entropy),
    cy: yPixel(plot, information),
  });
  return (
    <LineChart
      chart={{
        plot,
        valueTicks: [0, bound].map((value) => ({ value, text: shortNumber(value) })),
        updateTicks: [0, plot.x.to / 2, plot.x.to].map((value) => ({ value, text: shortNumber(value) })),
        gridLines: [0],
        lines: [
          { cssClass: 'raw', x: points.map(({ entropy }) => entropy), y: points.map(({ information }) => information) },
        ],
      }}
    >
      {REGIMES.map((regime) => (
        <text
          key={regime.name}
          className="regime"
          data-ahead={regime === ahead}
          x={xPixel(plot, regime.entropy === 'low' ? 0 : plot.x.to) + (regime.entropy === 'low' ? 4 : 0)}
          y={regime.information === 'high' ? plot.top + 10 : yPixel(plot, 0) - 5}
          textAnchor={regime.entropy === 'low' ? 'start' : 'end'}
        >
          {regime.name}
        </text>
      ))}
      {points.map((point) => (
        <circle key={point.update} className="dot" {...place(point)} r={2} />
      ))}
      <circle className="start" {...place(first)} r={4} />
      <circle className="now" {...place(shown)} r={5} />
    </LineChart>
  );
}

/** The mutual information of task and first turn at the newest measurement up to `update`, in words. */
function firstTurnSentence(update: number): string {
  const sampled = pointNear(traceOf('collapse_first_turn_sample/mi_seq_estimate', null), update);
  const measured = traceOf('collapse/conditional_entropy_seq_est', null).x.length > 0;
  if (!sampled) {
    return measured ? 'First turn: all tasks have the same prompt, so it can’t depend on the task.' : '';
  }
  const at = (name: Parameters<typeof traceOf>[0]) => {
    const point = pointNear(traceOf(name, null), sampled.update);
    return point?.update === sampled.update ? point.value : undefined;
  };
  const exact = at('collapse_first_turn_exact/mi_seq');
  const error = at('collapse_first_turn_sample/mi_seq_error');
  const bound = at('collapse_first_turn_sample/mi_upper_bound') ?? 0;
  const estimate = `${shortNumber(sampled.value)} ± ${shortNumber(error)}`;
  const most = `of at most ${shortNumber(bound)} nats (${Math.round(Math.exp(bound))} tasks)`;
  return exact === undefined
    ? `First turn, update ${sampled.update}: ${estimate} sampled, ${most}. Too many first turns are possible to compute it exactly.`
    : `First turn, update ${sampled.update}: ${shortNumber(exact)} exact, ${estimate} sampled, ${most}.`;
}
