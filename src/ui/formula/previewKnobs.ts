import { ALGORITHM_FIELDS } from '../../config/algorithms.ts';
import type { FieldName, RunConfig } from '../../config/fields.ts';
import type { TermId } from '../../config/formulaTerms.ts';
import { idle } from '../../config/idle.ts';
import { CREDIT_KNOBS, OBJECTIVE_KNOBS } from '../../config/objectiveKnobs.ts';

/** What is pointed at: a knob, a term of the formula, or the menu that sets all knobs of an algorithm. */
export type Target = { readonly knob: FieldName } | { readonly term: TermId } | { readonly algorithm: true };

/** The knobs that can be tried on what was recorded; others take rollouts that were never drawn. */
export const CAN_PREVIEW: ReadonlySet<FieldName> = new Set([...OBJECTIVE_KNOBS, ...CREDIT_KNOBS, 'groupSize']);

/** The knobs as they stand, and those that the batch in view was made under. */
export interface Settings {
  readonly wanted: RunConfig;
  readonly config: RunConfig | null; // null: the batch came without any
  readonly flipped: FieldName | null; // a switch that is pointed at and not pressed: it is tried turned
}

/**
 * What is tried on the batch in view for a target: its own change together with every other changed knob that acts. Null where
 * the target itself stands as the batch had it.
 */
export function previewKnobs(target: Target, settings: Settings): Partial<RunConfig> | null {
  if ('term' in target) return null;
  const asked = 'knob' in target ? [target.knob] : ALGORITHM_FIELDS.filter((name) => acts(name, settings));
  const own = changed(asked, settings);
  if (Object.keys(own).length === 0) return null;
  const all = [...CAN_PREVIEW].filter((name) => acts(name, settings));
  return { ...changed(all, settings), ...own };
}

const acts = (name: FieldName, { wanted }: Settings) => idle(name, wanted) === null;

function changed(names: readonly FieldName[], { wanted, config, flipped }: Settings): Partial<RunConfig> {
  const changes: [FieldName, RunConfig[FieldName]][] = [];
  for (const name of names.filter((each) => CAN_PREVIEW.has(each))) {
    const had = (config ?? wanted)[name];
    // without a configuration what is asked is refused with the reason
    if (config && wanted[name] !== had) changes.push([name, wanted[name]]);
    else if (name === flipped && (had === 'on' || had === 'off')) changes.push([name, had === 'on' ? 'off' : 'on']);
  }
  return Object.fromEntries(changes);
}
