import { useMemo } from 'react';
import type { RunConfig } from '../../config/fields.ts';
import type { BatchView } from '../../domain/batch.ts';
import { isClipped, type LogprobsAroundUpdate, fullStrength } from '../../page/rollout/channels.ts';
import { percent, shortNumber, signedNumber } from '../../page/words/numberText.ts';
import type { BatchSource } from '../../page/training/inspect.ts';
import { selectToken, useSelection } from '../../page/view/selectionStore.ts';

const WIDTH = 360;
const HEIGHT = 200;
const PAD = { left: 40, right: 10, top: 10, bottom: 26 };
const SELECT_DISTANCE = 18; // in units of the drawing; a press within this distance of a point selects it

/** Which tokens a surrogate stops, in words. */
const CLIP_RULES: Readonly<Record<RunConfig['surrogate'], string>> = {
  clipped:
    'Tokens are clipped if their ratio is in a shaded area before the last optimizer step. The plot shows the ratios after that step, so a square can lie outside of the areas and a dot inside.',
  gspo: 'GSPO clips all tokens of a rollout together, by the geometric mean of their ratios.',
  cispo: 'CISPO stops no token: a ratio beyond the limits only counts as the limit.',
  'dppo-tv': 'DPPO-TV stops a token when its probability, not its ratio, has moved too far.',
  plain: 'The plain surrogate has no clip.',
};

interface Point {
  readonly row: number;
  readonly t: number;
  readonly advantage: number;
  readonly logRatio: number;
  readonly clipped: boolean; // in the last epoch
}

/** Every trained token by its advantage and its ratio after the update: where the clip acts and which tokens it stopped. */
export function ClipMap({
  source,
  logprobs,
}: {
  readonly source: BatchSource;
  readonly logprobs: LogprobsAroundUpdate;
}) {
  const { batch, config } = source;
  const row = useSelection((s) => s.row);
  const token = useSelection((s) => s.token);
  const points = useMemo(() => pointsOf(batch, logprobs), [batch, logprobs]);
  const scale = useMemo(() => scalesOf(points, config), [points, config]);
  const { x, y, low, high, reach } = scale;
  const clipped = points.filter((point) => point.clipped).length;
  const dots = (wantClipped: boolean) =>
    points
      .filter((point) => point.clipped === wantClipped)
      .map(({ advantage, logRatio }) => `M${x(advantage).toFixed(1)} ${y(logRatio).toFixed(1)}h0`)
      .join('');
  const chosen = points.find((point) => point.row === row && point.t === token);
  const summary = `${points.length} trained tokens have an advantage other than 0. Clipping kept ${clipped} of them (${percent(clipped / Math.max(1, points.length))}) from being pushed further in the last pass over the batch (epoch).`;
  const choose = (at: { readonly x: number; readonly y: number }) => {
    const distanceTo = (p: Point) => Math.hypot(x(p.advantage) - at.x, y(p.logRatio) - at.y);
    const nearest = points.reduce<Point | null>(
      (best, p) => (best && distanceTo(best) <= distanceTo(p) ? best : p),
      null,
    );
    if (!nearest || distanceTo(nearest) > SELECT_DISTANCE) return;
    useSelection.setState({ row: nearest.row, revealed: null, branch: null });
    selectToken(nearest.t, batch.turns[nearest.row * batch.length + nearest.t] ?? null);
  };
  return (
    <figure className="row clip-map" data-testid="clip-map">
      {/* oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- with the keyboard, tokens are chosen in the rollout */}
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT + 4}`} // 4 px more for the descenders of the axis title
        role="img"
        aria-label={`Ratio against advantage. ${summary}`}
        onClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const unitsPerPx = WIDTH / box.width;
          choose({ x: (event.clientX - box.left) * unitsPerPx, y: (event.clientY - box.top) * unitsPerPx });
        }}
      >
        {config.surrogate === 'clipped' && (
          <>
            <rect className="clip-zone" x={x(0)} y={PAD.top} width={x(reach.x) - x(0)} height={y(high) - PAD.top} />
            <rect className="clip-zone" x={PAD.left} y={y(low)} width={x(0) - PAD.left} height={y(-reach.y) - y(low)} />
          </>
        )}
        <Axes scale={scale} />
        <path className="clip-dots" d={dots(false)} />
        <path className="clip-dots held" d={dots(true)} />
        {chosen && <circle className="clip-chosen" cx={x(chosen.advantage)} cy={y(chosen.logRatio)} r={7} />}
      </svg>
      <figcaption>
        {summary}{' '}
        <span className="faint">
          A dot is a token; a square is a token that was clipped in the last epoch. Height: the token’s probability
          after the update, divided by that before. {CLIP_RULES[config.surrogate]}
        </span>
      </figcaption>
    </figure>
  );
}

function Axes({ scale: { x, y, low, high, reach } }: { readonly scale: ReturnType<typeof scalesOf> }) {
  return (
    <>
      <path
        className="clip-axis"
        d={`M${PAD.left} ${y(0)}H${WIDTH - PAD.right}M${x(0)} ${PAD.top}V${HEIGHT - PAD.bottom}`}
      />
      {[high, 0, low].map((at) => (
        <text key={at} x={PAD.left - 5} y={y(at) + 3.5} textAnchor="end">
          {shortNumber(Math.exp(at))}
        </text>
      ))}
      {[-reach.x, 0, reach.x].map((at, i) => (
        <text key={i} x={x(at)} y={HEIGHT - 11} textAnchor={(['start', 'middle', 'end'] as const)[i]}>
          {signedNumber(at)}
        </text>
      ))}
      <text className="clip-title" x={WIDTH - PAD.right} y={HEIGHT - 1} textAnchor="end">
        advantage
      </text>
      <text className="clip-title" x={2} y={PAD.top + 7}>
        ratio
      </text>
    </>
  );
}

/**
 * The scales of the drawing: `x` of an advantage and `y` of a log ratio, the largest values shown (`reach`), and the
 * log ratios at which clipping begins (`low`, `high`).
 */
function scalesOf(points: readonly Point[], config: RunConfig) {
  const [low, high] = [Math.log(Math.max(0.05, 1 - config.clipLow)), Math.log(1 + config.clipHigh)];
  const reach = {
    x: Math.max(1e-6, fullStrength(points.map(({ advantage }) => Math.abs(advantage)))),
    y: Math.max(1.5 * high, -1.5 * low, fullStrength(points.map(({ logRatio }) => Math.abs(logRatio)))),
  };
  const [w, h] = [WIDTH - PAD.left - PAD.right, HEIGHT - PAD.top - PAD.bottom];
  const cut = (v: number) => Math.max(-1, Math.min(1, v));
  return {
    ...{ low, high, reach },
    x: (advantage: number) => PAD.left + (w * (cut(advantage / reach.x) + 1)) / 2,
    y: (logRatio: number) => PAD.top + (h * (1 - cut(logRatio / reach.y))) / 2,
  };
}

function pointsOf(batch: BatchView, logprobs: LogprobsAroundUpdate): Point[] {
  const points: Point[] = [];
  batch.lossMask.forEach((inLoss, i) => {
    const advantage = batch.advantages[i] ?? 0;
    const logRatio = (logprobs.after[i] ?? 0) - (logprobs.before[i] ?? 0);
    if (inLoss === 0 || advantage === 0 || !Number.isFinite(logRatio)) return;
    const row = Math.floor(i / batch.length);
    points.push({ row, t: i % batch.length, advantage, logRatio, clipped: isClipped(batch, i) });
  });
  return points;
}
