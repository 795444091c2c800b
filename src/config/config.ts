import { parseDecimal } from '../base/decimal.ts';
import { contradictions } from './contradictions.ts';
import { FIELD_DOCS } from './fieldDocs.ts';
import {
  allowedText,
  validChoice,
  currentName,
  DEFAULTS,
  type Field,
  FIELDS,
  isFieldName,
  type RunConfig,
} from './fields.ts';
import { ConfigError } from './configProblem.ts';
import type { Problem } from '../base/problem.ts';
import type { KnobChange } from './knobChange.ts';
import { visible } from '../base/visible.ts';

export { type Field, type FieldName, FIELDS, isFieldName, type RunConfig } from './fields.ts';

/** Parses the value of a knob, given as text or number. Throws ConfigError that says which values the knob takes. */
export function parseField(name: string, input: unknown): string | number {
  if (!isFieldName(name)) {
    const what = `${inputText(name)}: there is no such knob.`;
    throw new ConfigError([{ what, remedy: `The knobs are ${Object.keys(FIELDS).join(', ')}.` }]);
  }
  const field: Field = FIELDS[name];
  const badValue = () =>
    new ConfigError([
      { place: name, what: `${inputText(input)} isn’t ${allowedText(field)}.`, remedy: FIELD_DOCS[name] },
    ]);
  if ('choices' in field) {
    const choice = typeof input === 'string' ? validChoice(field, input) : undefined;
    if (choice === undefined) throw badValue();
    return choice;
  }
  const value = typeof input === 'string' ? parseDecimal(input) : input;
  if (typeof value !== 'number' || !(value >= field.min && value <= field.max)) throw badValue();
  if (field.integer && !Number.isInteger(value)) throw badValue();
  return value + 0; // no negative zero
}

function inputText(input: unknown): string {
  if (typeof input === 'number' || typeof input === 'boolean' || input === null) return String(input);
  if (typeof input !== 'string')
    return input === undefined ? 'an empty value' : Array.isArray(input) ? 'a list' : `a ${typeof input}`;
  if (input.trim() === '') return input === '' ? 'an empty value' : 'a blank value';
  return visible(input);
}

/** The defaults with the values of `input`. Throws ConfigError with all problems, including contradictions between knobs. */
export function parseConfig(input: Readonly<Record<string, unknown>> = {}): RunConfig {
  const problems: Problem[] = [];
  const values: Record<string, string | number> = { ...DEFAULTS };
  for (const [writtenName, value] of Object.entries(input)) {
    const name = currentName(writtenName);
    try {
      values[name] = parseField(name, value);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      problems.push(...error.problems);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const config = values as RunConfig;
  const conflicts = contradictions(config);
  if (conflicts.length > 0) throw new ConfigError(conflicts);
  return config;
}

/** Throws ConfigError if only a new run can change one of the knobs. */
export function configAfterChanges(config: RunConfig, changes: Readonly<Record<string, unknown>>): RunConfig {
  const next = parseConfig({ ...config, ...changes });
  const fixedKnobs = Object.keys(changes)
    .filter(isFieldName)
    .filter((name) => FIELDS[name].when === 'restart' && next[name] !== config[name]);
  if (fixedKnobs.length === 0) return next;
  throw new ConfigError(
    fixedKnobs.map((place) => ({ place, what: 'can’t change during a run.', remedy: 'Reset to start a new one.' })),
  );
}

/** Throws ConfigError if a run that begins with `config` can't take one of the changes. */
export function checkChanges(config: RunConfig, changes: readonly KnobChange[]): void {
  changes.reduce((before, { set }) => configAfterChanges(before, set), config);
}
