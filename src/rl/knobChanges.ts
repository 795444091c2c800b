import { FIELDS, type FieldName, isFieldName, type RunConfig } from '../config/config.ts';

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
