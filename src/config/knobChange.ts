import { FIELDS, type FieldName, isFieldName, type RunConfig } from './fields.ts';

/** A change of knobs in the middle of a run. */
export interface KnobChange {
  readonly update: number; // the first update with the new values
  readonly step: number; // its first optimizer step with the new values, from 1; 0: before its batch is sampled
  readonly set: Partial<RunConfig>;
}

/** A configuration after some changes, applied in this order. */
export function afterChanges(config: RunConfig, changes: readonly Pick<KnobChange, 'set'>[]): RunConfig {
  return changes.reduce((before, { set }) => ({ ...before, ...set }), config);
}

/** The changes without the knobs in `names`. Changes that then change nothing are left out. */
export function withoutKnobs(changes: readonly KnobChange[], names: readonly string[]): readonly KnobChange[] {
  return changes.flatMap((change) => {
    const left = Object.entries(change.set).filter(([name]) => !names.includes(name));
    return left.length > 0 ? [{ ...change, set: Object.fromEntries(left) as Partial<RunConfig> }] : [];
  });
}

/** Whether a change takes effect at or before this step of this update. */
export function isDue({ update, step }: KnobChange, at: Pick<KnobChange, 'update' | 'step'>): boolean {
  return update < at.update || (update === at.update && step <= at.step);
}

/**
 * The knobs that differ between two configurations, with their new values. `which` selects the knobs to compare;
 * default: all.
 */
export function changedKnobs(
  from: RunConfig,
  to: RunConfig,
  which: (name: FieldName) => boolean = () => true,
): Partial<RunConfig> {
  const names = Object.keys(FIELDS).filter(isFieldName);
  return Object.fromEntries(
    names.filter((name) => which(name) && from[name] !== to[name]).map((name) => [name, to[name]]),
  );
}

/** Whether a change of this knob takes effect at the next optimizer step. */
export function isLive(name: FieldName): boolean {
  return FIELDS[name].when === 'live';
}

/** Whether a set of knobs isn't empty. */
export function isSome(set: Partial<RunConfig>): boolean {
  return Object.keys(set).length > 0;
}
