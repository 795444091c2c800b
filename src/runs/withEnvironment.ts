import { visible } from '../base/visible.ts';
import { type EnvironmentFile, environmentSum } from '../domain/environmentFile.ts';
import type { Run } from './run.ts';

/** A text that differs from the previous one is recorded as a change. */
export function withEnvironment<R extends Pick<Run, 'environment' | 'changes' | 'update'>>(
  run: R,
  file: EnvironmentFile,
): R {
  const { environment, changes, update } = run;
  if (environment && environmentSum(environment) === environmentSum(file)) return run;
  return { ...run, environment: file, changes: [...changes, { update, text: `environment ${visible(file.name)}` }] };
}
