import { FIELDS, type Field, type FieldName, type RunConfig } from './fields.ts';

/** A knob's value as it is typed: every digit that matters, no grouping. */
export function knobText(value: string | number): string {
  if (typeof value === 'string') return value;
  return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential().replace('e-0', 'e-') : String(value);
}

/** How two configurations differ in a knob, in words: “Entropy bonus 0.02 → 0.05”. */
export function differenceText(name: FieldName, from: RunConfig, to: RunConfig): string {
  const { label }: Field = FIELDS[name];
  return `${label} ${knobText(from[name])} → ${knobText(to[name])}`;
}
