const MIN_FOUR_DECIMALS = 1e-3; // below this, four decimals would show too few digits

/**
 * A short number: three significant digits, or all digits of the whole number from 100 on. Below 0.001 and from 100,000
 * on it has two significant digits and an exponent. "n/a" for undefined, NaN and infinity.
 */
export function shortNumber(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return 'n/a';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return withMinusSigns(value.toExponential(1).replace('e+', 'e'));
  const text = size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toPrecision(3);
  return (text.includes('.') ? text.replace(/\.?0+$/, '') : text).replace('-', '−');
}

/** Replaces hyphens by minus signs (U+2212), which are as wide as a plus, also in the exponent. */
function withMinusSigns(text: string): string {
  return text.replaceAll('-', '−');
}

/** Like `shortNumber`, with a plus sign: for numbers whose sign is the message. */
export function signedNumber(value: number | undefined): string {
  return value !== undefined && value > 0 ? `+${shortNumber(value)}` : shortNumber(value);
}

/** A number with enough digits to calculate with: five significant ones. */
export function exactNumber(value: number): string {
  return withMinusSigns(String(Number(value.toPrecision(5))));
}

/** Has its sign and four decimals, so that the changes in a list can be added up. Below 0.001: two significant digits. */
export function signedChange(value: number): string {
  if (value === 0) return '0';
  const text = Math.abs(value) < MIN_FOUR_DECIMALS ? shortNumber(value) : value.toFixed(4).replace('-', '−');
  return value > 0 ? `+${text}` : text;
}

export function arrow(value: number): '▲' | '▼' | '=' {
  return value > 0 ? '▲' : value < 0 ? '▼' : '=';
}

/** A probability with four decimals. Below 0.001: two significant digits. */
export function probability(p: number): string {
  return p !== 0 && p < MIN_FOUR_DECIMALS ? shortNumber(p) : p.toFixed(4);
}

/** A share in per cent without “%”, for a column of numbers: two decimals, or “<0.01”. */
export function barePercent(share: number): string {
  return share > 0 && share < 5e-5 ? '<0.01' : (100 * share).toFixed(2);
}

/** Has its sign. Below half a point it has one decimal, because 0 would read as no difference. */
export function percentagePoints(share: number): string {
  const size = Math.abs(share * 100);
  const text = String(size < 0.5 ? Number((share * 100).toFixed(1)) : Math.round(share * 100)).replace('-', '−');
  return text.startsWith('−') || Number(text) === 0 ? text : `+${text}`;
}

/** Rewards that are smaller are rounding errors of float sums. */
export const ROUNDING_ERROR = 1e-6;
const withoutRoundingError = (reward: number) => (Math.abs(reward) > ROUNDING_ERROR ? reward : 0);

/** A reward: like `shortNumber`, but 0 for a rounding error. */
export function rewardNumber(reward: number): string {
  return shortNumber(withoutRoundingError(reward));
}

/** A reward with its sign, in two significant digits; 0 for a rounding error. */
export function signedReward(reward: number): string {
  return signedNumber(Number(withoutRoundingError(reward).toPrecision(2)));
}

/** A whole number with commas between thousands. */
export function wholeNumber(n: number): string {
  return n.toLocaleString('en');
}

export function percent(share: number | undefined): string {
  return share === undefined || !Number.isFinite(share) ? 'n/a' : `${Math.round(share * 100)} %`;
}

/** A duration in seconds as text: 8 s, 1:10, 2:05 h. */
export function duration(seconds: number | undefined): string {
  if (seconds === undefined || !Number.isFinite(seconds)) return 'n/a';
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const pad = (n: number) => String(n).padStart(2, '0');
  if (whole < 3600) return `${Math.floor(whole / 60)}:${pad(whole % 60)}`;
  return `${Math.floor(whole / 3600)}:${pad(Math.floor(whole / 60) % 60)} h`;
}

/** Bytes in the unit that leaves one to three digits. */
export function bytes(count: number): string {
  if (count < 1e3) return `${count} B`;
  if (count < 1e6) return `${shortNumber(count / 1e3)} kB`;
  return count < 1e9 ? `${shortNumber(count / 1e6)} MB` : `${shortNumber(count / 1e9)} GB`;
}

/** A count as text, with k and M from 10,000 on. */
export function count(value: number | undefined): string {
  if (value === undefined || !Number.isFinite(value)) return 'n/a';
  if (value >= 1e6) return `${shortNumber(value / 1e6)} M`;
  return value >= 1e4 ? `${shortNumber(value / 1e3)} k` : value.toLocaleString('en', { maximumFractionDigits: 0 });
}

/** A number with what it counts: `1 turn`, `2 turns`. */
export const counted = (n: number, one: string, several = `${one}s`): string => `${n} ${n === 1 ? one : several}`;
