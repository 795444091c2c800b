import { parseDecimal } from '../../base/decimal.ts';
import { allowedText, validChoice, type Field, FIELDS, isFieldName, knobText } from '../../config/fields.ts';
import { addressExcerpt } from './addressText.ts';

/** The nearest value that the knob accepts, or null. If that isn't what the text says, adds a sentence to `corrections`. */
export function readKnob(
  name: string,
  text: string,
  corrections: string[],
  fallbackText: (name: keyof typeof FIELDS) => string,
): string | number | null {
  if (!isFieldName(name)) {
    corrections.push(`${addressExcerpt(name)}: no such knob. Ignored.`);
    return null;
  }
  const field: Field = FIELDS[name];
  const value = nearestAllowed(field, text);
  if (value === null) {
    corrections.push(
      `${name}: ${addressExcerpt(text)} isn’t possible. Use ${allowedText(field)}. ${fallbackText(name)}.`,
    );
    return null;
  }
  if (typeof value === 'number' && !writesExactly(text, value)) {
    corrections.push(
      `${name}: ${addressExcerpt(text)} isn’t possible. Use ${allowedText(field)}. Set to ${knobText(value)}.`,
    );
  }
  return value;
}

/** The nearest value that a field accepts; null if there is none. */
function nearestAllowed(field: Field, text: string): string | number | null {
  if ('choices' in field) return validChoice(field, text) ?? null;
  const value = parseDecimal(text);
  if (value === null) return null;
  const clamped = Math.min(field.max, Math.max(field.min, value));
  return field.integer ? Math.round(clamped) : clamped;
}

/** Whether a decimal text has exactly this value. False if reading it had to round. */
export function writesExactly(text: string, value: number): boolean {
  return digitsOf(text) === digitsOf(String(value));
}

/** A number's sign, its digits without leading and trailing zeros, and the exponent of its last digit. */
function digitsOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const last = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${mantissa.startsWith('-') ? '-' : ''}${significant}e${last}`;
}
