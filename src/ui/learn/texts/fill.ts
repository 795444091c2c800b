import { percent, short, signed, whole } from '../../parts/numberText.ts';
import type { NumberFormat } from '../exercise.ts';

/** A place in a sentence: its name, and how what is put there is written. */
const PLACE = /\{(\w+):(number|signed|percent|count|text)\}/g;

/** The places of a sentence, in order of their names. */
export function placesOf(sentence: string): readonly string[] {
  return Array.from(sentence.matchAll(PLACE), ([place]) => place).toSorted();
}

/** A sentence with its places filled, numbers written as its language writes them; what is missing is “n/a”. */
export function fill(sentence: string, values: Readonly<Record<string, number | string>>, decimal = '.'): string {
  return sentence.replace(PLACE, (_, name: string, format: NumberFormat | 'signed' | 'text') => {
    const value = values[name];
    if (format === 'text' || typeof value === 'string') return String(value ?? 'n/a');
    return written(value, format, decimal);
  });
}

/** A number as its format has it, with the decimal sign of a language. */
export function written(value: number | undefined, format: NumberFormat | 'signed', decimal: string): string {
  if (value === undefined || !Number.isFinite(value)) return 'n/a';
  if (format === 'percent') return percent(value);
  const text = format === 'count' ? whole(Math.round(value)) : format === 'signed' ? signed(value) : short(value);
  // where the comma is the decimal sign, thousands are kept apart by the point
  return decimal === ',' ? text.replace(/[.,]/g, (sign) => (sign === '.' ? ',' : '.')) : text;
}
