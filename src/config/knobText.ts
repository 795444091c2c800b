import { FIELDS, type Field, type FieldName, type RunConfig } from './fields.ts';

/** A knob's value as one would type it: with all digits, without digit grouping. */
export function knobText(value: string | number): string {
  if (typeof value === 'string') return value;
  return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential().replace('e-0', 'e-') : String(value);
}

export function knobLabel(name: FieldName): string {
  const { label }: Field = FIELDS[name];
  return label;
}

/** The difference of two configurations in one knob, as text: “Entropy bonus 0.02 → 0.05”. */
export function changeText(name: FieldName, from: RunConfig, to: RunConfig): string {
  return `${knobLabel(name)} ${knobText(from[name])} → ${knobText(to[name])}`;
}
