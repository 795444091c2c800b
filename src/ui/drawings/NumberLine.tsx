import type { EnvView } from '../../domain/envView.ts';

type View = Extract<EnvView, { kind: 'number-line' }>;
const WIDTH = { narrow: 320, wide: 400 }; // in units of the drawing
const PAD = 22; // wide enough for the number of the turn beside a guess of 0
const TOP = 46; // height of the axis
const ROW_HEIGHT = 46;
const MIN_ROWS = 4; // drawings with fewer rows have the same height, so that they are drawn at the same scale

/** The numbers that are still possible after the first `n` guesses. */
function interval(view: View, n: number): { low: number; high: number } {
  let [low, high] = [0, view.range - 1];
  for (const { value, answer } of view.guesses.slice(0, n)) {
    if (answer === 'higher') low = Math.max(low, value + 1);
    else if (answer === 'lower') high = Math.min(high, value - 1);
    else if (answer === 'found') [low, high] = [value, value];
  }
  return { low, high };
}

interface NumberLineProps {
  readonly view: View;
  readonly turn: number;
  readonly rows?: number; // smallest number of rows to leave space for
  readonly wide?: boolean; // there is more space beside the drawing than below it
  readonly secret?: boolean; // doesn't show the hidden number
}

/**
 * The number hunt. Each turn is a row: the interval of possible numbers, the guess, and an arrow in the direction of
 * the tool's answer.
 */
export function NumberLine({ view, turn, rows = 0, wide = false, secret = false }: NumberLineProps) {
  const width = wide ? WIDTH.wide : WIDTH.narrow;
  const step = (width - 2 * PAD) / Math.max(1, view.range - 1);
  const x = (value: number) => PAD + value * step;
  const height = TOP + ROW_HEIGHT * Math.max(MIN_ROWS, rows, view.guesses.length) + 8;
  const every = Math.max(1, Math.ceil(view.range / 16));
  const ticks = Array.from({ length: Math.ceil(view.range / every) }, (_, i) => i * every);
  const guessText = view.guesses.map((g) => `turn ${g.turn}: ${g.value}, ${g.answer}`).join('; ');
  return (
    <svg
      className="env-svg"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio={rows > 0 ? 'xMidYMid' : 'xMidYMin'}
      role="img"
      aria-label={`Number line 0 to ${view.range - 1}${secret ? '' : `, hidden number ${view.target}`}. ${guessText || 'No guess yet.'}`}
    >
      <line className="axis" x1={PAD} x2={width - PAD} y1={TOP - 14} y2={TOP - 14} />
      {ticks.map((n) => (
        <g key={n} className={n === view.target && !secret ? 'tick target-tick' : 'tick'}>
          <line x1={x(n)} x2={x(n)} y1={TOP - 18} y2={TOP - 14} />
          <text x={x(n)} y={TOP - 22} textAnchor="middle">
            {n}
          </text>
        </g>
      ))}
      {!secret && (
        <>
          <line className="target-line" x1={x(view.target)} x2={x(view.target)} y1={TOP - 14} y2={height - 4} />
          <text className="target-label" x={Math.min(x(view.target), width - 26)} y={11} textAnchor="middle">
            hidden
          </text>
        </>
      )}
      {view.guesses.map((guess, i) => (
        <Guess
          key={guess.turn}
          {...{ view, guess, i, x, step, width }}
          now={guess.turn === turn}
          later={guess.turn > turn && turn > 0}
        />
      ))}
    </svg>
  );
}

interface GuessProps {
  readonly view: View;
  readonly guess: View['guesses'][number];
  readonly i: number;
  readonly x: (value: number) => number;
  readonly step: number;
  readonly width: number;
  readonly now: boolean;
  readonly later: boolean;
}
const ARROW_LENGTH = 26;
const CHAR_WIDTH = 6; // of an answer

function Guess({ view, guess, i, x, step, width, now, later }: GuessProps) {
  const y = TOP + ROW_HEIGHT * i + 16;
  const { low, high } = interval(view, i);
  const at = x(guess.value);
  const way = guess.answer === 'higher' ? 1 : guess.answer === 'lower' ? -1 : 0;
  const half = Math.min(7, step / 2);
  const end = Math.max(12, Math.min(width - 4, at + way * (13 + ARROW_LENGTH)));
  const word = CHAR_WIDTH * guess.answer.length;
  const edges = low <= high ? [x(low) - half, x(high) + half] : [];
  const fits = (from: number, side: number) => {
    const [left, right] = side > 0 ? [from, from + word] : [from - word, from];
    return left >= 0 && right <= width && !edges.some((edge) => edge > left - 2 && edge < right + 2);
  };
  // the answer is written after its arrow or on the other side of the guess, where it doesn't cross an edge of the
  // interval, otherwise below
  const [ahead, behind] = [end + way * 5, at - way * 15];
  const side = way === 0 ? 0 : fits(ahead, way) ? way : fits(behind, -way) ? -way : 0;
  return (
    <g className="guess" data-now={now} data-later={later}>
      {low <= high && (
        <rect
          className="interval"
          x={x(low) - half}
          width={x(high) - x(low) + 2 * half}
          y={y - 12}
          height={24}
          rx={6}
        />
      )}
      <text className="turn-number" x={3} y={y + 4}>
        {guess.turn}
      </text>
      {way !== 0 && (
        <path className="pointer" d={`M${at + way * 14} ${y}H${end}m${-way * 5} -4l${way * 5} 4l${-way * 5} 4`} />
      )}
      <circle className="guess-dot" data-answer={guess.answer} cx={at} cy={y} r={11} />
      <text className="guess-value" x={at} y={y + 4} textAnchor="middle">
        {guess.value}
      </text>
      <text
        className="guess-answer"
        x={side === 0 ? at : side === way ? ahead : behind}
        y={side === 0 ? y + 24 : y + 4}
        textAnchor={side > 0 ? 'start' : side < 0 ? 'end' : 'middle'}
      >
        {guess.answer}
      </text>
    </g>
  );
}
