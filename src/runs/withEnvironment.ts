import { visible } from '../base/visible.ts';
import { type EnvironmentFile, environmentSum } from '../domain/environmentFile.ts';
import type { Run } from './run.ts';

/** A run that goes on with this file of its environment. Another text than it had is noted as a change. */
export function withEnvironment<R extends Pick<Run, 'environment' | 'changes' | 'update'>>(
  run: R,
  file: EnvironmentFile,
): R {
  const { environment, changes, update } = run;
  if (environment && environmentSum(environment) === environmentSum(file)) return run;
  return { ...run, environment: file, changes: [...changes, { update, text: `environment ${visible(file.name)}` }] };
}
