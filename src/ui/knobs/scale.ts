/** The range of a numeric knob, for its slider. */
export interface Range {
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
export function scaleOf({ min, max, integer, log }: Range): 'linear' | 'log' | 'cubic' {
  if (log || (max - min >= WIDE_RATIO && min > 0 && max / min >= WIDE_RATIO)) return 'log';
  if (integer) return max - min >= WIDE_RATIO ? 'cubic' : 'linear';
  return max >= 5 ? 'cubic' : 'linear';
}

function floorOf({ min, max }: Range): number {
  return min > 0 ? min : max * 10 ** -DECADES_ABOVE_ZERO;
}

/** The slider position (0 … SLIDER_STEPS) of a value. */
export function toSlider(value: number, range: Range): number {
  const { min, max } = range;
  const share = (value - min) / (max - min);
  switch (scaleOf(range)) {
    case 'linear':
      return Math.round(share * SLIDER_STEPS);
    case 'cubic':
      return Math.round(Math.cbrt(share) * SLIDER_STEPS);
    case 'log': {
      const low = floorOf(range);
      if (value < low) return 0;
      return Math.round(1 + ((SLIDER_STEPS - 1) * Math.log(value / low)) / Math.log(max / low));
    }
  }
}

/** The value at a slider position, rounded to what a person would type. */
export function fromSlider(position: number, range: Range): number {
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
      const low = floorOf(range);
      value = Number((low * (max / low) ** ((position - 1) / (SLIDER_STEPS - 1))).toPrecision(2));
    }
  }
  return Math.min(max, Math.max(min, integer ? Math.round(value) : value));
}

/**
 * The value after a slider moved from `value` to `position`: rounded like `fromSlider`, but if possible never the old
 * value again.
 */
export function movedTo(position: number, value: number, range: Range): number {
  const by = Math.sign(position - toSlider(value, range));
  for (let at = position; by !== 0 && at >= 0 && at <= SLIDER_STEPS; at += by) {
    const moved = fromSlider(at, range);
    if (moved !== value) return moved;
  }
  return fromSlider(position, range);
}
