import { visible } from '../base/visible.ts';
import { environmentFileName } from '../checkpoints/checkpointFolder.ts';
import { ConfigError } from '../config/configProblem.ts';
import { YOUR_ENVIRONMENT } from '../config/environments.ts';
import type { EnvironmentFile } from '../domain/environmentFile.ts';
import { isServerAddress } from '../domain/serverAddress.ts';
import { withEnvironment } from '../runs/withEnvironment.ts';
import type { Run } from '../runs/run.ts';

/**
 * A saved run with the environment that a flag names. An environment is a program, so the one that was saved with a run
 * is never started by itself: the person has to name its file. A file with another text is accepted, and recorded as a
 * change of the run. Throws ConfigError if no file is named for a run that needs one, or one is named for a run that
 * has a built-in environment. `place` is the run's folder or zip.
 */
export function withOwnEnvironment<R extends Pick<Run, 'config' | 'environment' | 'changes' | 'update'>>(
  run: R,
  named: EnvironmentFile | null,
  place: string,
): R {
  const { environment, config } = run;
  const where = visible(place, 4096);
  if (config.env !== YOUR_ENVIRONMENT) {
    if (named === null) return run;
    throw new ConfigError([
      {
        what: `--env-file and --env-server (${visible(named.name)}) can’t be used here: the run in ${where} trains on ${config.env}.`,
        remedy: 'Leave them out.',
      },
    ]);
  }
  if (named === null && environment && isServerAddress(environment.text)) {
    throw new ConfigError([
      {
        what: `The run in ${where} talks to a server, and nothing has been sent to it yet.`,
        remedy: `To go on, name its address: --env-server '${visible(environment.text.trim(), 4096)}'`,
      },
    ]);
  }
  if (named === null) {
    const saved = environmentFileName(environment ?? { name: '' });
    throw new ConfigError([
      {
        what: `The run in ${where} trains on a program that somebody wrote, ${visible(environment?.name ?? 'an environment')}. It was saved with the run as ${saved}.`,
        remedy: `Read it, then name it: --env-file ${where}/${saved}`,
      },
    ]);
  }
  return withEnvironment(run, named);
}
