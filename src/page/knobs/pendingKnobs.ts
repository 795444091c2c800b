import { contradictions } from '../../config/contradictions.ts';
import { FIELDS, type FieldName, type RunConfig } from '../../config/fields.ts';
import { knobDifferences } from './configStore.ts';

/** Knobs changed in the page that the run will only take after a restart. */
export function pendingRestart(wanted: RunConfig, applied: RunConfig | null): FieldName[] {
  return applied ? knobDifferences(wanted, applied).filter((name) => FIELDS[name].when === 'restart') : [];
}

/** Changed knobs that the run can take now; empty while the knobs contradict each other. */
export function pendingLive(wanted: RunConfig, applied: RunConfig | null): Partial<RunConfig> {
  if (!applied) return {};
  const names = knobDifferences(wanted, applied).filter((name) => FIELDS[name].when !== 'restart');
  const changes = Object.fromEntries(names.map((name) => [name, wanted[name]])) as Partial<RunConfig>;
  return contradictions({ ...applied, ...changes }).length > 0 ? {} : changes;
}
