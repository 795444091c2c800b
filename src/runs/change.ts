import { isCount } from '../base/jsonRecord.ts';
import { parseField } from '../config/config.ts';
import { FIELDS, isFieldName, type RunConfig, withCurrentNames } from '../config/fields.ts';
import { afterChanges, changedKnobs, isSome, type KnobChange } from '../config/knobChange.ts';
import { differenceText } from '../config/knobText.ts';

/** Knobs that were changed on the way, in words, and the update that took them up. Runs of older pages have no step and no values. */
export interface Change extends Partial<KnobChange> {
  readonly update: number;
  readonly text: string;
}

/** A run as far as its knobs tell of it. */
interface Changed {
  readonly begun: RunConfig;
  readonly config: RunConfig; // as they are now
  readonly changes: readonly Change[];
  readonly fork?: unknown; // it began with another run's weights
}

/** Changes of knobs that a run keeps: its last ones. */
export const MOST_CHANGES = 40;

/**
 * A change of `before` with its words; null if it changes nothing. Where a knob differs that no run under way takes, such as in a run
 * that began with a model from elsewhere, only the words are kept: changes alone don't make such a run again.
 */
export function changeOf(before: RunConfig, { update, step, set }: KnobChange): Change | null {
  const after = afterChanges(before, [{ set }]);
  const names = Object.keys(changedKnobs(before, after)).filter(isFieldName);
  if (names.length === 0) return null;
  const text = names.map((name) => differenceText(name, before, after)).join(', ');
  return names.some((name) => FIELDS[name].when === 'restart') ? { update, text } : { update, step, set, text };
}

/** Changes with their words, for a run that begins with `config`. */
export function wordsOf(config: RunConfig, changes: readonly KnobChange[]): readonly Change[] {
  return changes.flatMap((change, i) => changeOf(afterChanges(config, changes.slice(0, i)), change) ?? []);
}

/**
 * The changes with which a new run that begins like this one trains to the same numbers; null if they are not enough: a fork
 * began with another run's weights, runs of older pages kept only words, and of too many changes the first are forgotten.
 */
export function replayable({ begun, config, changes, fork }: Changed): readonly KnobChange[] | null {
  const exact = changes.filter(isExact);
  if (fork || changes.length >= MOST_CHANGES || exact.length < changes.length) return null;
  const isWhole = !isSome(changedKnobs(afterChanges(begun, exact), config));
  return !isWhole ? null : exact.map(({ update, step, set }) => ({ update, step, set }));
}

/** Whether a change says which step took it up, and the values. */
export function isExact(change: Change): change is Change & KnobChange {
  return change.set !== undefined && change.step !== undefined;
}

/** Whether something that was read is a change of knobs. */
export function isChange(value: unknown): value is Change {
  const { update, text, step, set } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!isCount(update) || typeof text !== 'string') return false;
  return (step === undefined && set === undefined) || (isCount(step) && isSet(set));
}

/** A change that was read, with the present names of its knobs. */
export function withCurrentKnobs(change: Change): Change {
  return change.set ? { ...change, set: withCurrentNames(change.set) } : change;
}

/** Whether these are values of knobs that a run under way can take. */
function isSet(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  try {
    return Object.entries(withCurrentNames(value)).every(
      ([name, to]) => parseField(name, to) === to && isFieldName(name) && FIELDS[name].when !== 'restart',
    );
  } catch {
    return false;
  }
}
