import { percent, shortNumber, signedNumber, wholeNumber } from '../../parts/numberText.ts';
import type { NumberFormat } from '../exercise.ts';

/** A placeholder in a sentence: `{name:format}`, where the format says how the value is written. */
const PLACEHOLDER = /\{(\w+):(number|signed|percent|count|text)\}/g;

/** The placeholders of a sentence, sorted by name. */
export function placeholdersOf(sentence: string): readonly string[] {
  return Array.from(sentence.matchAll(PLACEHOLDER), ([place]) => place).toSorted();
}

/** A sentence with its placeholders filled. Numbers have the language’s decimal sign; missing values are “n/a”. */
export function fill(sentence: string, values: Readonly<Record<string, number | string>>, decimal = '.'): string {
  return sentence.replace(PLACEHOLDER, (_, name: string, format: NumberFormat | 'signed' | 'text') => {
    const value = values[name];
    if (format === 'text' || typeof value === 'string') return String(value ?? 'n/a');
    return formattedNumber(value, format, decimal);
  });
}

/** A number in a format, with the decimal sign of a language. */
export function formattedNumber(value: number | undefined, format: NumberFormat | 'signed', decimal: string): string {
  if (value === undefined || !Number.isFinite(value)) return 'n/a';
  if (format === 'percent') return percent(value);
  const text =
    format === 'count'
      ? wholeNumber(Math.round(value))
      : format === 'signed'
        ? signedNumber(value)
        : shortNumber(value);
  // if the comma is the decimal sign, the point separates thousands
  return decimal === ',' ? text.replace(/[.,]/g, (sign) => (sign === '.' ? ',' : '.')) : text;
}
