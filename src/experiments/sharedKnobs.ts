import { FIELDS, type Field, type FieldName } from '../config/config.ts';
import { EXPERIMENTS } from './experimentList.ts';
import type { Experiment } from './experimentDefinition.ts';
import type { Plan } from './experimentPlan.ts';

/** The knobs all arms share that are not at their defaults, as `name value`. */
export function knobsOf({ experiment: name, updates, backend }: Plan): string {
  const { shared }: Experiment = EXPERIMENTS[name];
  const set = { ...shared, ...(updates === null ? {} : { updates }), backend };
  const told = (Object.entries(FIELDS) as [FieldName, Field][]).flatMap(([knob, field]) => {
    const value = set[knob];
    return value === undefined || value === field.default ? [] : [`${knob} ${value}`];
  });
  return told.join(', ');
}
