export interface KnobRange {
  readonly min: number;
  readonly max: number;
  readonly integer?: boolean;
  readonly log?: boolean;
}

/** Steps of a slider that is not linear. */
export const SLIDER_STEPS = 400;
const DECADES_ABOVE_ZERO = 5; // a log slider that begins at 0 spans this many below its maximum
const WIDE_RATIO = 500;

/** How slider positions map to values: in even steps, by decades ('log'), or finer towards the minimum ('cubic'). */
export function scaleOf({ min, max, integer, log }: KnobRange): 'linear' | 'log' | 'cubic' {
  if (log || (max - min >= WIDE_RATIO && min > 0 && max / min >= WIDE_RATIO)) return 'log';
  if (integer) return max - min >= WIDE_RATIO ? 'cubic' : 'linear';
  return max >= 5 ? 'cubic' : 'linear';
}

function logMinimum({ min, max }: KnobRange): number {
  return min > 0 ? min : max * 10 ** -DECADES_ABOVE_ZERO;
}

/** The slider position (0 … SLIDER_STEPS) of a value. */
export function sliderPosition(value: number, range: KnobRange): number {
  const { min, max } = range;
  const share = (value - min) / (max - min);
  switch (scaleOf(range)) {
    case 'linear':
      return Math.round(share * SLIDER_STEPS);
    case 'cubic':
      return Math.round(Math.cbrt(share) * SLIDER_STEPS);
    case 'log': {
      const low = logMinimum(range);
      if (value < low) return 0;
      return Math.round(1 + ((SLIDER_STEPS - 1) * Math.log(value / low)) / Math.log(max / low));
    }
  }
}

/** The value at a slider position, rounded to what a person would type. */
export function sliderValue(position: number, range: KnobRange): number {
  const { min, max, integer } = range;
  if (position <= 0) return min;
  if (position >= SLIDER_STEPS) return max;
  const share = position / SLIDER_STEPS;
  let value: number;
  switch (scaleOf(range)) {
    case 'linear':
      value = min + share * (max - min);
      if (!integer) value = Number(value.toFixed(max - min > 1 ? 2 : 3));
      break;
    case 'cubic':
      value = Number((min + share ** 3 * (max - min)).toPrecision(2));
      break;
    case 'log': {
      const low = logMinimum(range);
      value = Number((low * (max / low) ** ((position - 1) / (SLIDER_STEPS - 1))).toPrecision(2));
    }
  }
  return Math.min(max, Math.max(min, integer ? Math.round(value) : value));
}

/** Rounds like `sliderValue`, but if possible never to the old value. */
export function valueAfterSlide(position: number, value: number, range: KnobRange): number {
  const direction = Math.sign(position - sliderPosition(value, range));
  for (
    let nextPosition = position;
    direction !== 0 && nextPosition >= 0 && nextPosition <= SLIDER_STEPS;
    nextPosition += direction
  ) {
    const moved = sliderValue(nextPosition, range);
    if (moved !== value) return moved;
  }
  return sliderValue(position, range);
}
