import { visible } from '../base/visible.ts';
import { environmentFileName } from '../checkpoints/checkpointFolder.ts';
import { ConfigError } from '../config/configProblem.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { isServerAddress } from '../domain/serverAddress.ts';
import { withEnvironment } from '../runs/withEnvironment.ts';
import type { Run } from '../runs/run.ts';

/**
 * A saved run with the environment that was given for it. An environment is a program, so a saved one is never run by
 * itself: its file has to be named. Another text than the saved one is taken, and noted as a change of the run. Throws
 * ConfigError where a file is missing, or the run does not train on one. `place` is the run's folder or zip.
 */
export function withOwnEnvironment<R extends Pick<Run, 'config' | 'environment' | 'changes' | 'update'>>(
  run: R,
  given: EnvironmentFile | null,
  place: string,
): R {
  const { environment, config } = run;
  const where = visible(place, 4096);
  if (config.env !== YOUR_ENVIRONMENT) {
    if (given === null) return run;
    throw new ConfigError([
      {
        what: `--env-file and --env-server (${visible(given.name)}) can’t be used here: the run in ${where} trains on ${config.env}.`,
        remedy: 'Leave them out.',
      },
    ]);
  }
  if (given === null && environment && isServerAddress(environment.text)) {
    throw new ConfigError([
      {
        what: `The run in ${where} talks to a server, and nothing has been sent to it yet.`,
        remedy: `To go on, name its address: --env-server '${visible(environment.text.trim(), 4096)}'`,
      },
    ]);
  }
  if (given === null) {
    const saved = environmentFileName(environment ?? { name: '' });
    throw new ConfigError([
      {
        what: `The run in ${where} trains on a program that somebody wrote, ${visible(environment?.name ?? 'an environment')}. It was saved with the run as ${saved}.`,
        remedy: `Read it, then name it: --env-file ${where}/${saved}`,
      },
    ]);
  }
  return withEnvironment(run, given);
}
