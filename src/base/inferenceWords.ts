import { type Interval, SIGNIFICANCE_LEVEL } from './inference.ts';
import type { PairedComparison } from './statistics.ts';

/** A p value with two digits: “= .031”, “< .001”. It never rounds to the other side of .05. */
export function pValueText(p: number): string {
  if (p < 0.001) return '< .001';
  const text = p
    .toPrecision(2)
    .replace(/^0\./, '.')
    .replace(/^1\.0$/, '1');
  return p < SIGNIFICANCE_LEVEL && Number(text) >= SIGNIFICANCE_LEVEL ? '< .05' : `= ${text}`;
}

/** A 95 % interval: “95 %: 48 to 93 %”. */
export function intervalText({ low, high }: Interval, format: (value: number) => string, unit = ''): string {
  return `95 %: ${format(low)} to ${format(high)}${unit}`;
}

interface DifferenceForm {
  readonly format: (value: number) => string; // a number with its sign
  readonly unit?: string;
  readonly side?: string; // what a seed with a difference above 0 is
  readonly test?: string; // name of the p value
}

/**
 * A difference over seeds in words: mean, interval, the number of seeds above 0, the p value, and “cannot tell” if that
 * allows no claim.
 */
export function differenceText(
  { n, mean, interval, better, tied, p, corrected, claim, needed }: PairedComparison,
  { format, unit = '', side = 'better', test = 'p' }: DifferenceForm,
): string {
  const spread = interval ? ` (${intervalText(interval, format)})` : '';
  const ties = tied > 0 ? `, equal in ${tied}` : '';
  const numbers = `${format(mean)}${unit}${spread}, ${side} in ${better} of ${n} seeds${ties}`;
  if (n < 2) return `${numbers}: cannot tell from one seed`;
  const correctedText = corrected > p ? `, corrected ${pValueText(corrected).replace('= ', '')}` : '';
  const seeds =
    claim === 'unclear' && needed !== null && needed > n ? ` (about ${needed} seeds like these would be enough)` : '';
  return `${numbers}, ${test} ${pValueText(p)}${correctedText}${claim === 'unclear' ? `: cannot tell${seeds}` : ''}`;
}
