import { isCount, isRecord, isTextRecord, type JsonRecord, valueText } from '../base/jsonRecord.ts';
import { visible } from '../base/visible.ts';
import { parseConfig } from '../config/config.ts';
import type { RunConfig } from '../config/fields.ts';
import { type Change, isChange, withCurrentKnobs } from './change.ts';
import { CheckpointError } from './checkpoint.ts';
import { type Manifest, safeNames } from './run.ts';

/** Returns `value` if it is an object. Otherwise throws CheckpointError with its place in the manifest. */
export function recordAt(place: string, value: unknown): JsonRecord {
  if (isRecord(value)) return value;
  throw new CheckpointError({ place, got: valueText(value), want: 'an object' });
}

/** Returns the field `name` of `run` if `accepts` is true for it. Otherwise throws CheckpointError with `want`. */
export function fieldOf<T>(run: JsonRecord, name: string, accepts: (value: unknown) => value is T, want: string): T {
  const value = run[name];
  if (accepts(value)) return value;
  throw new CheckpointError({ place: `run.${name}`, got: valueText(value), want });
}

/** Anybody may have written it, so names are made safe to show. Throws CheckpointError with the field that can't be read. */
export function readManifest(value: unknown): Manifest {
  const run = recordAt('run', value);
  const { kernels, fork, arm, seconds, program } = run;
  return {
    id: fieldOf(run, 'id', isCount, 'a whole number of at least 0'),
    ...safeNames(
      fieldOf(run, 'name', isText, 'a text'),
      fieldOf(run, 'backend', isBackend, 'a kind, gpu or cpu, and an adapter'),
    ),
    started: fieldOf(run, 'started', isDate, 'a time as ISO 8601'),
    ...{ begun: readKnobs(run, 'begun'), config: readKnobs(run, 'config') },
    changes: fieldOf(run, 'changes', areChanges, 'updates with texts').map(withCurrentKnobs),
    update: fieldOf(run, 'update', isCount, 'a whole number of at least 0'),
    ...(kernels !== undefined && { kernels: fieldOf(run, 'kernels', isTextRecord, 'texts by name') }),
    ...(fork !== undefined && { fork: fieldOf(run, 'fork', isFork, 'a run and an update') }),
    ...(program !== undefined && { program: visible(fieldOf(run, 'program', isText, 'a text'), 60) }),
    ...(arm !== undefined && { arm: fieldOf(run, 'arm', isText, 'a text') }),
    ...(seconds !== undefined && { seconds: fieldOf(run, 'seconds', isSeconds, 'a number from 0') }),
  };
}

function readKnobs(run: JsonRecord, name: string): RunConfig {
  const knobs = fieldOf(run, name, isRecord, 'an object');
  try {
    return parseConfig(knobs);
  } catch (error) {
    const got = error instanceof Error ? error.message : String(error);
    const problem = { place: `run.${name}`, got, want: 'knobs this page has' };
    throw new CheckpointError({ ...problem, what: `these knobs can’t be read: ${got}` });
  }
}

const isSeconds = (x: unknown): x is number => typeof x === 'number' && x >= 0 && x < Infinity;
const isText = (x: unknown): x is string => typeof x === 'string';
const isDate = (x: unknown): x is string => isText(x) && Number.isFinite(Date.parse(x));
const areChanges = (x: unknown): x is Change[] => Array.isArray(x) && x.every(isChange);
const isFork = (x: unknown): x is NonNullable<Manifest['fork']> =>
  isRecord(x) && isCount(x['run']) && isCount(x['update']);
const isBackend = (x: unknown): x is Manifest['backend'] =>
  isRecord(x) && (x['kind'] === 'cpu' || x['kind'] === 'gpu') && isText(x['adapter']);
