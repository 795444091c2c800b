import { parseDecimal } from '../../base/decimal.ts';
import { allowedText, validChoice, type Field, FIELDS, isFieldName } from '../../config/fields.ts';
import { knobText } from '../../config/knobText.ts';
import { addressExcerpt } from './addressText.ts';
import { writesExactly } from './digits.ts';

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
