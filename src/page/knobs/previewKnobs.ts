import { ALGORITHM_FIELDS } from '../../config/algorithms.ts';
import type { FieldName, RunConfig } from '../../config/fields.ts';
import { CREDIT_KNOBS, OBJECTIVE_KNOBS } from '../../config/objectiveKnobs.ts';
import type { TermId } from '../../config/formulaTerms.ts';
import { whyIdle } from '../../config/idle.ts';

/** What the user can point at: a knob, a term of the formula, or the menu that sets all knobs of an algorithm. */
export type FormulaTarget = { readonly knob: FieldName } | { readonly term: TermId } | { readonly algorithm: true };

/** The knobs whose change can be previewed on a recorded batch. All others would need new rollouts. */
export const PREVIEWABLE_KNOBS: ReadonlySet<FieldName> = new Set([...OBJECTIVE_KNOBS, ...CREDIT_KNOBS, 'groupSize']);

/** The current knobs, and the knobs with which the batch on screen was made. */
export interface PreviewSettings {
  readonly wanted: RunConfig;
  readonly config: RunConfig | null; // null: the batch came without a configuration
  /** A switch under the pointer that wasn't pressed; the preview shows its opposite state. */
  readonly flipped: FieldName | null;
}

/** The target's change, with all other changed knobs that have an effect. Null if it hasn't changed since the batch was made. */
export function previewKnobs(target: FormulaTarget, settings: PreviewSettings): Partial<RunConfig> | null {
  if ('term' in target) return null;
  const targetKnobs = 'knob' in target ? [target.knob] : ALGORITHM_FIELDS.filter((name) => hasEffect(name, settings));
  const targetChanges = changesAmong(targetKnobs, settings);
  if (Object.keys(targetChanges).length === 0) return null;
  const all = [...PREVIEWABLE_KNOBS].filter((name) => hasEffect(name, settings));
  return { ...changesAmong(all, settings), ...targetChanges };
}

const hasEffect = (name: FieldName, { wanted }: PreviewSettings) => whyIdle(name, wanted) === null;

function changesAmong(names: readonly FieldName[], { wanted, config, flipped }: PreviewSettings): Partial<RunConfig> {
  const changes: [FieldName, RunConfig[FieldName]][] = [];
  for (const name of names.filter((each) => PREVIEWABLE_KNOBS.has(each))) {
    const batchValue = (config ?? wanted)[name];
    // without a configuration, the preview is refused elsewhere, with the reason
    if (config && wanted[name] !== batchValue) changes.push([name, wanted[name]]);
    else if (name === flipped && (batchValue === 'on' || batchValue === 'off'))
      changes.push([name, batchValue === 'on' ? 'off' : 'on']);
  }
  return Object.fromEntries(changes);
}
