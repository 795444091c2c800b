import type { EnvView } from '../../domain/envView.ts';

type View = Extract<EnvView, { kind: 'number-line' }>;
const WIDTH = { narrow: 320, wide: 400 }; // in units of the drawing
const PAD = { left: 36, right: 22 }; // on the left wide enough for a turn's number of two digits beside a guess of 0
const LEFTMOST_ARROW = 22; // where an arrow to the left ends at most, beside the number of the turn
const AXIS_HEIGHT = 46; // height of the axis
const ROW_HEIGHT = 46;
const MIN_ROWS = 4; // drawings with fewer rows have the same height, so that they are drawn at the same scale

/** The numbers that are still possible after the first `n` guesses. */
function possibleRange(view: View, n: number): { low: number; high: number } {
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
  readonly minRows?: number; // smallest number of rows to leave space for
  readonly wide?: boolean; // there is more space beside the drawing than below it
  readonly hideSolution?: boolean; // doesn't show the hidden number
}

/** Each turn is a row: the interval of possible numbers, the guess, and an arrow in the direction of the tool's answer. */
export function NumberLine({ view, turn, minRows = 0, wide = false, hideSolution = false }: NumberLineProps) {
  const width = wide ? WIDTH.wide : WIDTH.narrow;
  const unitWidth = (width - PAD.left - PAD.right) / Math.max(1, view.range - 1);
  const x = (value: number) => PAD.left + value * unitWidth;
  const height = AXIS_HEIGHT + ROW_HEIGHT * Math.max(MIN_ROWS, minRows, view.guesses.length) + 8;
  const tickStep = Math.max(1, Math.ceil(view.range / 16));
  const ticks = Array.from({ length: Math.ceil(view.range / tickStep) }, (_, i) => i * tickStep);
  const guessText = view.guesses.map((g) => `turn ${g.turn}: ${g.value}, ${g.answer}`).join('; ');
  return (
    <svg
      className="env-svg"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio={minRows > 0 ? 'xMidYMid' : 'xMidYMin'}
      role="img"
      aria-label={`Number line 0 to ${view.range - 1}${hideSolution ? '' : `, hidden number ${view.target}`}. ${guessText || 'No guess yet.'}`}
    >
      <line className="axis" x1={PAD.left} x2={width - PAD.right} y1={AXIS_HEIGHT - 14} y2={AXIS_HEIGHT - 14} />
      {ticks.map((n) => (
        <g key={n} className={n === view.target && !hideSolution ? 'tick target-tick' : 'tick'}>
          <line x1={x(n)} x2={x(n)} y1={AXIS_HEIGHT - 18} y2={AXIS_HEIGHT - 14} />
          <text x={x(n)} y={AXIS_HEIGHT - 22} textAnchor="middle">
            {n}
          </text>
        </g>
      ))}
      {!hideSolution && (
        <>
          <line className="target-line" x1={x(view.target)} x2={x(view.target)} y1={AXIS_HEIGHT - 14} y2={height - 4} />
          <text className="target-label" x={Math.min(x(view.target), width - 26)} y={11} textAnchor="middle">
            hidden
          </text>
        </>
      )}
      {view.guesses.map((guess, i) => (
        <Guess
          key={guess.turn}
          {...{ view, guess, index: i, x, unitWidth, width }}
          isCurrent={guess.turn === turn}
          isLater={guess.turn > turn && turn > 0}
        />
      ))}
    </svg>
  );
}

interface GuessProps {
  readonly view: View;
  readonly guess: View['guesses'][number];
  readonly index: number;
  readonly x: (value: number) => number;
  readonly unitWidth: number;
  readonly width: number;
  readonly isCurrent: boolean;
  readonly isLater: boolean;
}
const ARROW_LENGTH = 26;
const CHAR_WIDTH = 6; // of an answer

function Guess({ view, guess, index, x, unitWidth, width, isCurrent, isLater }: GuessProps) {
  const y = AXIS_HEIGHT + ROW_HEIGHT * index + 16;
  const { low, high } = possibleRange(view, index);
  const guessX = x(guess.value);
  const direction = guess.answer === 'higher' ? 1 : guess.answer === 'lower' ? -1 : 0;
  const halfStep = Math.min(7, unitWidth / 2);
  const end = Math.max(LEFTMOST_ARROW, Math.min(width - 4, guessX + direction * (13 + ARROW_LENGTH)));
  const answerWidth = CHAR_WIDTH * guess.answer.length;
  const edges = low <= high ? [x(low) - halfStep, x(high) + halfStep] : [];
  const fits = (from: number, side: number) => {
    const [left, right] = side > 0 ? [from, from + answerWidth] : [from - answerWidth, from];
    return left >= LEFTMOST_ARROW && right <= width && !edges.some((edge) => edge > left - 2 && edge < right + 2);
  };
  // the answer is written after its arrow or on the other side of the guess, where it doesn't cross an edge of the
  // interval, otherwise below
  const [aheadX, behindX] = [end + direction * 5, guessX - direction * 15];
  const side = direction === 0 ? 0 : fits(aheadX, direction) ? direction : fits(behindX, -direction) ? -direction : 0;
  return (
    <g className="guess" data-now={isCurrent} data-later={isLater}>
      {low <= high && (
        <rect
          className="interval"
          x={x(low) - halfStep}
          width={x(high) - x(low) + 2 * halfStep}
          y={y - 12}
          height={24}
          rx={6}
        />
      )}
      <text className="turn-number" x={3} y={y + 4}>
        {guess.turn}
      </text>
      {direction !== 0 && (
        <path
          className="pointer"
          d={`M${guessX + direction * 14} ${y}H${end}m${-direction * 5} -4l${direction * 5} 4l${-direction * 5} 4`}
        />
      )}
      <circle className="guess-dot" data-answer={guess.answer} cx={guessX} cy={y} r={11} />
      <text className="guess-value" x={guessX} y={y + 4} textAnchor="middle">
        {guess.value}
      </text>
      <text
        className="guess-answer"
        x={side === 0 ? guessX : side === direction ? aheadX : behindX}
        y={side === 0 ? y + 24 : y + 4}
        textAnchor={side > 0 ? 'start' : side < 0 ? 'end' : 'middle'}
      >
        {guess.answer}
      </text>
    </g>
  );
}
