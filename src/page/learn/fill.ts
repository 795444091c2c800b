import { percent, shortNumber, signedNumber, wholeNumber } from '../words/numberText.ts';
import type { NumberFormat } from './exercise.ts';

/** A placeholder in a sentence: `{name:format}`, where the format says how the value is written. */
const PLACEHOLDER = /\{(\w+):(number|signed|percent|count|text)\}/g;

/** A sentence with its placeholders filled. Missing values are “n/a”. */
export function fill(sentence: string, values: Readonly<Record<string, number | string>>): string {
  return sentence.replace(PLACEHOLDER, (_, name: string, format: NumberFormat | 'signed' | 'text') => {
    const value = values[name];
    if (format === 'text' || typeof value === 'string') return String(value ?? 'n/a');
    return formattedNumber(value, format);
  });
}

export function formattedNumber(value: number | undefined, format: NumberFormat | 'signed'): string {
  if (value === undefined || !Number.isFinite(value)) return 'n/a';
  if (format === 'percent') return percent(value);
  if (format === 'count') return wholeNumber(Math.round(value));
  return format === 'signed' ? signedNumber(value) : shortNumber(value);
}
