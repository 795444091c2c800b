import { useId, type Ref } from 'react';
import { AXIS, across, down, type Frame, frameOf } from '../curves/frame.ts';
import { LINES } from '../curves/curves.ts';
import { Sketch } from '../curves/Sketch.tsx';
import { Drawing, IS_SVG, taskTitle } from '../drawings/Drawing.tsx';
import { live } from '../run/liveStore.ts';
import { SMOOTHING } from '../../runs/smoothing.ts';
import { CardTokens } from './CardTokens.tsx';
import { cardWords, type Moment } from './moment.ts';
import '../styles/env.css';
import '../styles/charts.css';
import '../styles/share-card.css';

/** Size of a card in its own units: what sites that show links ask for, 1.91 to 1. */
export const CARD = { width: 1200, height: 630 };
const PAD = 48;
const METRIC = 'rollout/success';
const ZOOM = 1.65; // of the curve, which is drawn as small as on the page
const BOARD = { x: PAD, y: 196, width: 540, height: 344 };
const CURVE = { x: 632, y: 226, width: 520, height: 178 };
const TOKENS = { x: 632, y: 426, width: 520, height: 114 };
const RIGHT = 14; // of the curve, for half the number of the last update
const NOTHING = { x: [], y: [] };

interface Props {
  readonly moment: Moment;
  readonly address: string; // as people read it
  readonly ref?: Ref<SVGSVGElement>;
}

/** A moment as one picture: the board, the rollout's tokens, the curve up to there, a sentence, and the page's address. */
export function Card({ moment, address, ref }: Props) {
  const id = useId();
  const { episode, batch, turn, rollout, shown } = moment;
  const { headline, success } = cardWords(moment, live.series.get(METRIC)?.points ?? NOTHING);
  const view = episode?.view;
  const board = view && IS_SVG[view.kind];
  const group = batch.episodes.filter((other) => other.group === episode?.group).map((each) => each.view);
  const from = rollout.row * batch.length;
  const hatched = rollout.kinds
    .slice(0, shown)
    .some((kind, t) => kind === 'observation' && batch.lossMask[from + t] === 0);
  const { width, height } = CARD;
  return (
    <svg
      ref={ref}
      className="share-card"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${headline}. ${success}`}
    >
      <rect className="card-ground" width={width} height={height} />
      <rect className="card-edge" width={width} height={8} />
      <text className="card-soft" x={PAD} y={66} fontSize={25}>
        <tspan className="card-brand">Rollout Playground</tspan>
        {view && ` · ${taskTitle(view)}`}
      </text>
      <text className="card-head" x={PAD} y={124} fontSize={44}>
        {headline}
      </text>
      <text className="card-soft" x={PAD} y={166} fontSize={27}>
        {success}
      </text>
      {board && (
        <svg {...BOARD}>
          <Drawing view={view} turn={turn} group={group} />
        </svg>
      )}
      <CardCurve id={id} until={moment.until} />
      <CardTokens moment={moment} box={board ? TOKENS : { ...BOARD }} />
      <text className="card-faint" x={PAD} y={height - 38} fontSize={22}>
        {address}
      </text>
      {hatched && (
        <text className="card-faint" x={width - PAD} y={height - 38} fontSize={20} textAnchor="end">
          Hatched: written by the tool, not trained
        </text>
      )}
    </svg>
  );
}

/** Success by update, up to where the moment is, with a dot there. */
function CardCurve({ id, until }: { readonly id: string; readonly until: number }) {
  const { x, y, width, height } = CURVE;
  if (!live.series.has(METRIC)) return null;
  const whole = frameOf(
    { id, metric: METRIC, names: LINES[METRIC] ?? [METRIC], width: width / ZOOM, height: height / ZOOM, version: 0 },
    { range: null, smoothing: SMOOTHING, log: false },
  );
  // names of baselines would take the room of the curve
  const frame: Frame = { ...whole, rows: whole.rows.filter((row) => row.x <= until), baselines: [], right: RIGHT };
  const last = frame.rows.findLast((row) => row.smooth !== undefined);
  return (
    <>
      <text className="card-soft" x={x} y={y - 12} fontSize={20}>
        Success by update{frame.traces.length > 1 && ' (dashed: evaluated)'}
      </text>
      <g className="card-curve" transform={`translate(${x} ${y}) scale(${ZOOM})`}>
        <Sketch frame={frame} />
        {last && (
          <circle
            cx={across(frame, last.x)}
            cy={Math.min(down(frame, last.smooth ?? 0), frame.height - AXIS)}
            r={4.5}
          />
        )}
      </g>
    </>
  );
}
