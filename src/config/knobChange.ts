import { FIELDS, type FieldName, isFieldName, type RunConfig } from './fields.ts';

/** Knobs that change in the middle of a run. */
export interface KnobChange {
  readonly update: number; // that takes the change up
  readonly step: number; // of the optimizer in this update, counted from 1; 0: from the update's batch on
  readonly set: Partial<RunConfig>;
}

/** A configuration after changes, taken in order. */
export function afterChanges(config: RunConfig, changes: readonly Pick<KnobChange, 'set'>[]): RunConfig {
  return changes.reduce((before, { set }) => ({ ...before, ...set }), config);
}

/** Changes without those of some knobs. */
export function withoutKnobs(changes: readonly KnobChange[], names: readonly string[]): readonly KnobChange[] {
  return changes.flatMap((change) => {
    const left = Object.entries(change.set).filter(([name]) => !names.includes(name));
    return left.length > 0 ? [{ ...change, set: Object.fromEntries(left) as Partial<RunConfig> }] : [];
  });
}

/** Whether a change acts by this step of this update. */
export function isDue({ update, step }: KnobChange, at: Pick<KnobChange, 'update' | 'step'>): boolean {
  return update < at.update || (update === at.update && step <= at.step);
}

/** Those of the knobs chosen by `which` that differ between two configurations, with their new values. */
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

/** True for knobs that count from the next optimizer step. */
export function isLive(name: FieldName): boolean {
  return FIELDS[name].when === 'live';
}

/** Whether there is a change. */
export function isSome(set: Partial<RunConfig>): boolean {
  return Object.keys(set).length > 0;
}
