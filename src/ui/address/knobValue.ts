import { decimal } from '../../base/decimal.ts';
import { allowed, choiceOf, type Field, FIELDS, isFieldName } from '../../config/fields.ts';
import { knobText } from '../../config/knobText.ts';
import { visible } from './addressText.ts';
import { writesExactly } from './digits.ts';

/**
 * Reads a knob's value: the nearest value that the knob accepts, or null if there is none. Adds every change to
 * `corrections`.
 */
export function readKnob(
  name: string,
  text: string,
  corrections: string[],
  otherwise: (name: keyof typeof FIELDS) => string,
): string | number | null {
  if (!isFieldName(name)) {
    corrections.push(`${visible(name)}: no such knob. Ignored.`);
    return null;
  }
  const field: Field = FIELDS[name];
  const value = nearest(field, text);
  if (value === null) {
    corrections.push(`${name}: ${visible(text)} isn’t possible. Use ${allowed(field)}. ${otherwise(name)}.`);
    return null;
  }
  if (typeof value === 'number' && !writesExactly(text, value)) {
    corrections.push(`${name}: ${visible(text)} isn’t possible. Use ${allowed(field)}. Set to ${knobText(value)}.`);
  }
  return value;
}

/** The nearest value that a field accepts; null if there is none. */
function nearest(field: Field, text: string): string | number | null {
  if ('choices' in field) return choiceOf(field, text) ?? null;
  const value = decimal(text);
  if (value === null) return null;
  const clamped = Math.min(field.max, Math.max(field.min, value));
  return field.integer ? Math.round(clamped) : clamped;
}
