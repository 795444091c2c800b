import { ALGORITHM_FIELDS } from '../../config/algorithms.ts';
import type { FieldName, RunConfig } from '../../config/fields.ts';
import type { TermId } from '../../config/formulaTerms.ts';
import { idle } from '../../config/idle.ts';
import { CREDIT_KNOBS, OBJECTIVE_KNOBS } from '../../config/objectiveKnobs.ts';

/**
 * An element that the user can point at: a knob, a term of the formula, or the menu that sets all knobs of an
 * algorithm.
 */
export type Target = { readonly knob: FieldName } | { readonly term: TermId } | { readonly algorithm: true };

/** The knobs whose change can be previewed on a recorded batch. All others would need new rollouts. */
export const CAN_PREVIEW: ReadonlySet<FieldName> = new Set([...OBJECTIVE_KNOBS, ...CREDIT_KNOBS, 'groupSize']);

/** The current knobs, and the knobs with which the batch on screen was made. */
export interface Settings {
  readonly wanted: RunConfig;
  readonly config: RunConfig | null; // null: the batch came without a configuration
  /** A switch under the pointer that wasn't pressed; the preview shows its opposite state. */
  readonly flipped: FieldName | null;
}

/**
 * The changes to preview on the batch on screen for a target: its own change, together with all other changed knobs
 * that have an effect. Null if the target itself hasn't changed since the batch was made.
 */
export function previewKnobs(target: Target, settings: Settings): Partial<RunConfig> | null {
  if ('term' in target) return null;
  const targetKnobs = 'knob' in target ? [target.knob] : ALGORITHM_FIELDS.filter((name) => acts(name, settings));
  const own = changed(targetKnobs, settings);
  if (Object.keys(own).length === 0) return null;
  const all = [...CAN_PREVIEW].filter((name) => acts(name, settings));
  return { ...changed(all, settings), ...own };
}

const acts = (name: FieldName, { wanted }: Settings) => idle(name, wanted) === null;

function changed(names: readonly FieldName[], { wanted, config, flipped }: Settings): Partial<RunConfig> {
  const changes: [FieldName, RunConfig[FieldName]][] = [];
  for (const name of names.filter((each) => CAN_PREVIEW.has(each))) {
    const had = (config ?? wanted)[name];
    // without a configuration, the preview is refused elsewhere, with the reason
    if (config && wanted[name] !== had) changes.push([name, wanted[name]]);
    else if (name === flipped && (had === 'on' || had === 'off')) changes.push([name, had === 'on' ? 'off' : 'on']);
  }
  return Object.fromEntries(changes);
}
