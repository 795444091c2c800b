import { FIELDS, type FieldName, isFieldName, type RunConfig, DEFAULTS } from './fields.ts';

export interface KnobChange {
  readonly update: number; // the first update with the new values
  readonly step: number; // the first optimizer step with the new values, from 1; 0: before the update's batch is drawn
  readonly set: Partial<RunConfig>;
}

/** A configuration after some changes, applied in this order. */
export function applyChanges(config: RunConfig, changes: readonly Pick<KnobChange, 'set'>[]): RunConfig {
  return changes.reduce((before, { set }) => ({ ...before, ...set }), config);
}

/** The changes without the knobs in `names`. A change that has no other knob is left out. */
export function withoutKnobs(changes: readonly KnobChange[], names: readonly string[]): readonly KnobChange[] {
  return changes.flatMap((change) => {
    const remainingKnobs = Object.entries(change.set).filter(([name]) => !names.includes(name));
    return remainingKnobs.length > 0
      ? [{ ...change, set: Object.fromEntries(remainingKnobs) as Partial<RunConfig> }]
      : [];
  });
}

/** Whether a change takes effect at or before this step of this update. */
export function isDue({ update, step }: KnobChange, now: Pick<KnobChange, 'update' | 'step'>): boolean {
  return update < now.update || (update === now.update && step <= now.step);
}

/** Gives the new values of the differing knobs for which `selects` is true; default: all. */
export function changedKnobs(
  from: RunConfig,
  to: RunConfig,
  selects: (name: FieldName) => boolean = () => true,
): Partial<RunConfig> {
  const names = Object.keys(FIELDS).filter(isFieldName);
  return Object.fromEntries(
    names.filter((name) => selects(name) && from[name] !== to[name]).map((name) => [name, to[name]]),
  );
}

/** Whether a change of this knob takes effect at the next optimizer step. */
export function isLive(name: FieldName): boolean {
  return FIELDS[name].when === 'live';
}

export function isNonEmpty(set: Partial<RunConfig>): boolean {
  return Object.keys(set).length > 0;
}

/** The default scale of adapters: alpha over the rank. */
const DEFAULT_SCALE = DEFAULTS.adapterAlpha / DEFAULTS.adapterRank;

/** If alpha is the default multiple of the adapter rank, it follows a new rank and keeps the scale alpha/rank. A chosen alpha stays. */
export function linkedKnobs(before: RunConfig, changes: Partial<RunConfig>): Partial<RunConfig> {
  const { adapterRank: rank, adapterAlpha: alpha } = changes;
  const hasDefaultScale = before.adapterAlpha === DEFAULT_SCALE * before.adapterRank;
  return rank !== undefined && alpha === undefined && hasDefaultScale ? { adapterAlpha: DEFAULT_SCALE * rank } : {};
}
