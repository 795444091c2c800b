import { checksumOf } from '../base/checksum.ts';
import { FIELDS, isFieldName, type RunConfig } from '../config/config.ts';

/** Which run of an experiment or a sweep it is, and its knobs. `seed` is one of them. */
export interface RunIdentity {
  readonly experiment: string; // `sweep` for the runs of a sweep
  readonly arm: string;
  readonly seed: number;
  readonly config: RunConfig;
}

const MOST_SLUG = 100;

/** The name of a run's file without its ending: the same for the same arm, seed and knobs, on every machine. */
export function runKey({
  arm,
  seed,
  config,
}: Pick<RunIdentity, 'arm' | 'seed'> & { readonly config: Partial<RunConfig> }): string {
  const slug = arm.replaceAll(/[^\w=.-]+/g, ',').slice(0, MOST_SLUG);
  // knobs at their defaults are left out: one that comes later does not make old results strangers
  const set = Object.entries(config).filter(([name, value]) => !isFieldName(name) || FIELDS[name].default !== value);
  return `${slug},seed=${seed}-${checksumOf(Object.fromEntries(set)).slice(0, 8)}`;
}
