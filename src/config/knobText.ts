import { warmStartRecipe } from './imitationRecipe.ts';
import { FIELDS, type Field, type FieldName, type RunConfig } from './fields.ts';

/** A knob's value as one would type it: with all digits, without digit grouping. */
export function knobText(value: string | number): string {
  if (typeof value === 'string') return value;
  return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential().replace('e-0', 'e-') : String(value);
}

/** The value of a knob, as text. A number of imitation steps that is left to the recipe is the recipe's: “600 (recipe)”. */
export function knobValueText(name: FieldName, config: RunConfig): string {
  const isRecipe = name === 'imitationSteps' && config.imitationSteps === 0 && config.warmStart !== 'none';
  if (isRecipe) return `${warmStartRecipe(config).steps} (recipe)`;
  return name === 'imitationHorizon' && config.imitationHorizon === 0 ? 'as steps' : knobText(config[name]);
}

/** The difference of two configurations in one knob, as text: “Entropy bonus 0.02 → 0.05”. */
export function changeText(name: FieldName, from: RunConfig, to: RunConfig): string {
  const { label }: Field = FIELDS[name];
  return `${label} ${knobText(from[name])} → ${knobText(to[name])}`;
}
