import type { Ref } from 'react';
import { firstIndexFrom } from '../../runs/buckets.ts';
import { frameOf } from '../../page/view/frame.ts';
import { LineChart } from '../charts/LineChart.tsx';
import { type Chart, xPixel, yPixel } from '../../page/curves/plot.ts';
import { Drawing, IS_SVG, taskTitle } from '../drawings/Drawing.tsx';
import { isPredicted } from '../../page/rollout/channels.ts';
import { viewUpTo } from '../../page/rollout/viewUpTo.ts';
import { useLive } from '../../page/view/liveStore.ts';
import { SMOOTHING } from '../../runs/smoothing.ts';
import { CardFrame, maskNote, PAD } from './CardFrame.tsx';
import { CardTokens } from './CardTokens.tsx';
import { cardWords, type Moment } from '../../page/share/moment.ts';

const METRIC = 'rollout/success';
const CURVE_ZOOM = 1.65; // of the curve, which is laid out at the page's size
const BOARD = { x: PAD, y: 196, width: 540, height: 344 };
const CURVE = { x: 632, y: 226, width: 520, height: 178 };
const TOKENS = { x: 632, y: 426, width: 520, height: 114 };
const CURVE_RIGHT = 18; // margin of the curve, for half the number of the last update
const NO_POINTS = { x: [], y: [] };

interface Props {
  readonly moment: Moment;
  readonly address: string; // without protocol
  readonly ref?: Ref<SVGSVGElement>;
}

export function Card({ moment, address, ref }: Props) {
  const { episode, batch, turn, rollout, shown, whole } = moment;
  const { headline, success } = cardWords(moment, useLive.getState().series.get(METRIC)?.points ?? NO_POINTS);
  const view = episode?.view;
  const board = view && IS_SVG[view.kind];
  const group = batch.episodes.filter((other) => other.group === episode?.group).map((each) => each.view);
  const from = rollout.row * batch.length;
  const shownKinds = rollout.kinds.slice(0, shown);
  const untrained = shownKinds.flatMap((kind, t) =>
    kind === 'observation' && batch.lossMask[from + t] === 0 ? [from + t] : [],
  );
  const note = maskNote(
    untrained.some((i) => !isPredicted(batch, i)),
    untrained.some((i) => isPredicted(batch, i)),
  );
  return (
    <CardFrame {...{ ref, headline, address, note }} title={view ? taskTitle(view) : ''} words={success}>
      {board && (
        <svg {...BOARD}>
          <Drawing view={viewUpTo(view, turn, whole)} turn={turn} group={group} />
        </svg>
      )}
      <CardCurve lastCurveUpdate={moment.lastCurveUpdate} />
      <CardTokens
        rollout={rollout}
        positions={rollout.words.slice(0, shown).map((_, t) => t)}
        isTrained={(t) => batch.lossMask[from + t] !== 0}
        isPredicted={(t) => isPredicted(batch, from + t)}
        box={board ? TOKENS : BOARD}
      />
    </CardFrame>
  );
}

/** The success curve up to the moment's update, with a dot at its end. */
function CardCurve({ lastCurveUpdate }: { readonly lastCurveUpdate: number }) {
  const { x, y, width, height } = CURVE;
  if (!useLive.getState().series.has(METRIC)) return null;
  const whole = frameOf(
    { metric: METRIC, width: width / CURVE_ZOOM, height: height / CURVE_ZOOM },
    { visibleRange: null, smoothing: SMOOTHING, log: false },
  );
  const plot = { ...whole.plot, right: CURVE_RIGHT };
  const [raw, smooth, ...others] = whole.lines.map((line) => pointsUpTo(line, lastCurveUpdate));
  const last = (smooth?.x.length ?? 0) - 1;
  const chart: Chart = {
    ...whole,
    plot,
    bands: whole.bands?.map((band) => pointsUpTo(band, lastCurveUpdate)) ?? [],
    lines: [raw, smooth, ...others].flatMap((line) => line ?? []),
    baselines: [], // names of baselines would take space from the curve
  };
  return (
    <>
      <text className="card-soft" x={x} y={y - 12} fontSize={20}>
        Success by update{whole.traces.length > 1 && ' (dashed: evaluated)'}
      </text>
      <g className="card-curve" transform={`translate(${x} ${y}) scale(${CURVE_ZOOM})`}>
        <LineChart chart={chart} />
        {smooth && last >= 0 && (
          <circle cx={xPixel(plot, smooth.x[last] ?? 0)} cy={yPixel(plot, smooth.y[last] ?? 0)} r={4.5} />
        )}
      </g>
    </>
  );
}

/** The points of a line or a band up to an update. */
function pointsUpTo<Points extends { readonly x: ArrayLike<number> }>(points: Points, lastCurveUpdate: number): Points {
  const count = firstIndexFrom(points.x, lastCurveUpdate + 1);
  return { ...points, x: Array.from(points.x).slice(0, count) };
}
