import { isCount } from '../base/jsonRecord.ts';
import { parseField } from '../config/config.ts';
import { FIELDS, isFieldName, type RunConfig, withCurrentNames, changeText } from '../config/fields.ts';
import { applyChanges, changedKnobs, isNonEmpty, type KnobChange } from '../config/knobChange.ts';

/** Has a description. Changes saved by older versions of the page have no step and no values. */
export interface Change extends Partial<KnobChange> {
  readonly update: number;
  readonly text: string;
}

interface KnobHistory {
  readonly begun: RunConfig; // its knobs when it began
  readonly config: RunConfig; // its knobs now
  readonly changes: readonly Change[];
  readonly fork?: unknown; // set if the run began with another run's weights
}

/** A run keeps at most this many changes, the newest ones. */
export const MAX_CHANGES = 40;

/**
 * Adds the description to a change of the knobs `before`. Null if the change does nothing. If it contains a knob that
 * only a new run can take, as in a run that began with a model from elsewhere, only the description is kept: replaying
 * the changes couldn't reproduce such a run.
 */
export function describedChange(before: RunConfig, { update, step, set }: KnobChange): Change | null {
  const after = applyChanges(before, [{ set }]);
  const names = Object.keys(changedKnobs(before, after)).filter(isFieldName);
  if (names.length === 0) return null;
  const text = names.map((name) => changeText(name, before, after)).join(', ');
  return names.some((name) => FIELDS[name].when === 'restart') ? { update, text } : { update, step, set, text };
}

/** Adds descriptions to the changes of a run that begins with `config`. */
export function describedChanges(config: RunConfig, changes: readonly KnobChange[]): readonly Change[] {
  return changes.flatMap((change, i) => describedChange(applyChanges(config, changes.slice(0, i)), change) ?? []);
}

/**
 * The changes that reproduce a run exactly when they are replayed in a new run with the same start. Null if they
 * don't suffice: a fork began with another run's weights, older versions of the page kept only descriptions, and a run
 * keeps only its last changes.
 */
export function replayableChanges({ begun, config, changes, fork }: KnobHistory): readonly KnobChange[] | null {
  const replayed = changes.filter(isExact);
  if (fork || changes.length >= MAX_CHANGES || replayed.length < changes.length) return null;
  const isComplete = !isNonEmpty(changedKnobs(applyChanges(begun, replayed), config));
  return !isComplete ? null : replayed.map(({ update, step, set }) => ({ update, step, set }));
}

/** Whether a change has its values and the step at which it took effect. */
export function isExact(change: Change): change is Change & KnobChange {
  return change.set !== undefined && change.step !== undefined;
}

export function isChange(value: unknown): value is Change {
  const { update, text, step, set } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!isCount(update) || typeof text !== 'string') return false;
  return (step === undefined && set === undefined) || (isCount(step) && areChangeableKnobs(set));
}

/** Replaces former knob names in a stored change by the current ones. */
export function withCurrentKnobs(change: Change): Change {
  return change.set ? { ...change, set: withCurrentNames(change.set) } : change;
}

/** Whether the value has valid values of knobs, all of which can change during a run. */
function areChangeableKnobs(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return Object.entries(withCurrentNames(value)).every(
      ([name, to]) => parseField(name, to) === to && isFieldName(name) && FIELDS[name].when !== 'restart',
    );
  } catch {
    return false;
  }
}
