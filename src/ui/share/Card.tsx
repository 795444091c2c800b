import { useId, type Ref } from 'react';
import { AXIS, across, down, type Frame, frameOf } from '../curves/frame.ts';
import { LINES } from '../curves/curves.ts';
import { Sketch } from '../curves/Sketch.tsx';
import { Drawing, IS_SVG, taskTitle } from '../drawings/Drawing.tsx';
import { live } from '../run/liveStore.ts';
import { SMOOTHING } from '../../runs/smoothing.ts';
import { CardFrame, PAD } from './CardFrame.tsx';
import { CardTokens } from './CardTokens.tsx';
import { cardWords, type Moment } from './moment.ts';

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
  return (
    <CardFrame {...{ ref, headline, address, hatched }} title={view ? taskTitle(view) : ''} words={success}>
      {board && (
        <svg {...BOARD}>
          <Drawing view={view} turn={turn} group={group} />
        </svg>
      )}
      <CardCurve id={id} until={moment.until} />
      <CardTokens
        rollout={rollout}
        positions={rollout.words.slice(0, shown).map((_, t) => t)}
        isTrained={(t) => batch.lossMask[from + t] !== 0}
        box={board ? TOKENS : BOARD}
      />
    </CardFrame>
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
