import { checksumOf } from '../base/checksum.ts';
import { FIELDS, isFieldName, type RunConfig } from '../config/config.ts';

/** The identity of a run of an experiment or a sweep, with all its knobs. `seed` is also in `config`. */
export interface RunIdentity {
  readonly experiment: string; // `sweep` for the runs of a sweep
  readonly arm: string;
  readonly seed: number;
  readonly config: RunConfig;
}

const MAX_SLUG_LENGTH = 100;

/** The file's name without its ending. It depends only on arm, seed and knobs, so it is the same on every machine. */
export function runKey({
  arm,
  seed,
  config,
}: Pick<RunIdentity, 'arm' | 'seed'> & { readonly config: Partial<RunConfig> }): string {
  const slug = arm.replaceAll(/[^\w=.-]+/g, ',').slice(0, MAX_SLUG_LENGTH);
  // knobs at their defaults are left out, so that a knob added later doesn't change the names of old results
  const set = Object.entries(config).filter(([name, value]) => !isFieldName(name) || FIELDS[name].default !== value);
  return `${slug},seed=${seed}-${checksumOf(Object.fromEntries(set)).slice(0, 8)}`;
}
